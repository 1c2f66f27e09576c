import type { NanoUsd } from '../../../kernel/money.ts'

const CAUSE_DIMENSIONS = ['key', 'model', 'project'] as const
export type CauseDimension = (typeof CAUSE_DIMENSIONS)[number]

/** What the same hours of a weekday cost, in nano-dollars. */
export interface ComparedCosts {
  readonly spent: number
  /** Of the same weekdays before, also those without spending. */
  readonly before: readonly number[]
}

/** Why a day costs more: a key, a model or a project whose cost rose. */
export interface AnomalyCause {
  readonly dimension: CauseDimension
  readonly id: string
  readonly name: string | null
  readonly spentNanoUsd: NanoUsd
  readonly usualNanoUsd: NanoUsd
  /** Of what the day costs more than usual. May be above 1 where something else costs less. */
  readonly share: number
}

export interface SpendingAnomaly {
  /** How many times what is usual; null if nothing is. */
  readonly factor: number | null
  /** Those that rose most, at most three of each dimension. */
  readonly causes: readonly AnomalyCause[]
}

/** A difference that nobody would look into. */
const EXCESS_NANO_USD_MIN = 1_000_000_000
const FACTOR_MIN = 3
/** So many same weekdays have to be known. */
const WEEKS_MIN = 4
export const WEEKS_MAX = 8
/** Of the usual deviation. The second number makes a median deviation comparable with a standard one. */
const DEVIATIONS_MIN = 5 * 1.4826
const CAUSES_MAX = 3
const CAUSE_SHARE_MIN = 0.1

/** Medians, so that one extraordinary day neither is usual nor hides the next one. */
export function isUnusual({ spent, before }: ComparedCosts): boolean {
  if (before.length < WEEKS_MIN) return false
  const usual = medianOf(before)
  const deviation = medianOf(before.map((cost) => Math.abs(cost - usual)))
  const excess = spent - usual
  return excess >= EXCESS_NANO_USD_MIN && spent >= FACTOR_MIN * usual && excess >= DEVIATIONS_MIN * deviation
}

export interface NamedCosts extends ComparedCosts {
  readonly dimension: CauseDimension
  readonly id: string
  readonly name: string | null
}

/** Explains a day that costs more than usual. */
export function explainAnomaly(whole: ComparedCosts, parts: readonly NamedCosts[]): SpendingAnomaly {
  const usual = medianOf(whole.before)
  const excess = whole.spent - usual
  const risen = parts
    .map((part) => ({ part, usual: medianOf(part.before) }))
    .map(({ part, usual: usualOfPart }): AnomalyCause => ({
      dimension: part.dimension,
      id: part.id,
      name: part.name,
      spentNanoUsd: BigInt(Math.round(part.spent)),
      usualNanoUsd: BigInt(Math.round(usualOfPart)),
      share: Math.round(((part.spent - usualOfPart) / excess) * 1_000) / 1_000,
    }))
    .filter(({ share }) => share >= CAUSE_SHARE_MIN)
    .toSorted((a, b) => b.share - a.share || (a.id < b.id ? -1 : 1))
  const causes = CAUSE_DIMENSIONS.flatMap((dimension) =>
    risen.filter((cause) => cause.dimension === dimension).slice(0, CAUSES_MAX),
  )
  return {
    factor: usual === 0 ? null : Math.round((whole.spent / usual) * 10) / 10,
    causes,
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}
