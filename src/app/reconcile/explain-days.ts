import type { NanoUsd } from '../../kernel/money.ts'
import { addDays, type BilledDay } from '../../providers/vendor-account/vendor-account.ts'
import type { OwnDay } from './read-own-costs.ts'

/** Why a vendor billed another amount than our records expect. Positive: it billed more. */
interface Explanation {
  /** Projects or workspaces that are not ours, if the operator named ours. */
  readonly otherProjects: NanoUsd
  /** Requests of ours without a known cost, by what they were charged and the margin of the others: an estimate. */
  readonly unpriced: NanoUsd
  /** Requests around midnight that the vendor counts to the day beside. */
  readonly dayBoundary: NanoUsd
  /** Below what either side can say. */
  readonly rounding: NanoUsd
  /** The rest: other keys of the same project, calls that failed here, a price that is wrong, credits of the vendor. */
  readonly unexplained: NanoUsd
}

export interface ReconciledDay extends Explanation {
  readonly day: string
  readonly requests: number
  readonly unpricedRequests: number
  readonly expectedNanoUsd: NanoUsd
  readonly billedNanoUsd: NanoUsd
  readonly differenceNanoUsd: NanoUsd
}

/** Vendors print cents, and we round each request up to a nano-dollar. */
const ROUNDING_NANO_USD = 5_000_000n
const NONE: Omit<OwnDay, 'day'> = {
  requests: 0,
  costedRequests: 0,
  costNanoUsd: 0n,
  chargedNanoUsd: 0n,
  costedChargedNanoUsd: 0n,
  firstHourNanoUsd: 0n,
  lastHourNanoUsd: 0n,
}

interface Compared {
  readonly from: string
  readonly days: number
  readonly own: readonly OwnDay[]
  readonly billed: readonly BilledDay[]
  /** Null: the whole organisation is ours. */
  readonly projects: readonly string[] | null
}

/** Explains the difference of each day by kind. The kinds of a day add up to its difference. */
export function explainDays({ from, days, own, billed, projects }: Compared): ReconciledDay[] {
  const ownByDay = new Map(own.map((one) => [one.day, one]))
  const found = Array.from({ length: days }, (_none, index) => {
    const day = addDays(from, index)
    const ours = ownByDay.get(day) ?? { ...NONE, day }
    const items = billed.filter((one) => one.day === day).flatMap((one) => one.items)
    const isOurs = (project: string | null) => projects === null || projects.includes(project ?? 'default')
    const sum = (of: typeof items) => of.reduce((total, { billedNanoUsd }) => total + billedNanoUsd, 0n)
    const billedNanoUsd = sum(items)
    const otherProjects = sum(items.filter(({ project }) => !isOurs(project)))
    const differenceNanoUsd = billedNanoUsd - ours.costNanoUsd
    const unpriced = clamp(estimateUnpriced(ours), differenceNanoUsd - otherProjects)
    return {
      ours,
      day,
      billedNanoUsd,
      otherProjects,
      unpriced,
      differenceNanoUsd,
      left: differenceNanoUsd - otherProjects - unpriced,
    }
  })
  const moved = moveOverMidnight(found.map(({ ours, left }) => ({ ours, left })))
  return found.map(({ ours, left, ...day }, index) => {
    const dayBoundary = moved[index] ?? 0n
    const rest = left - dayBoundary
    const isRounding = magnitude(rest) <= ROUNDING_NANO_USD + BigInt(ours.requests)
    return {
      ...day,
      requests: ours.requests,
      unpricedRequests: ours.requests - ours.costedRequests,
      expectedNanoUsd: ours.costNanoUsd,
      dayBoundary,
      rounding: isRounding ? rest : 0n,
      unexplained: isRounding ? 0n : rest,
    }
  })
}

/** What the vendor would bill for requests without a known cost, if their margin were that of the others. */
function estimateUnpriced({
  chargedNanoUsd,
  costedChargedNanoUsd,
  costNanoUsd,
}: Omit<OwnDay, 'day'>): NanoUsd {
  const charged = chargedNanoUsd - costedChargedNanoUsd
  return costedChargedNanoUsd === 0n ? charged : (charged * costNanoUsd) / costedChargedNanoUsd
}

/** At most what is left to explain: an estimate makes no difference of its own. */
function clamp(estimate: NanoUsd, left: NanoUsd): NanoUsd {
  if (left <= 0n || estimate <= 0n) return 0n
  return estimate < left ? estimate : left
}

/** What one day has too much and the day beside lacks, up to the cost of the two hours between them. */
function moveOverMidnight(
  days: readonly { readonly ours: Omit<OwnDay, 'day'>; readonly left: NanoUsd }[],
): NanoUsd[] {
  const moved = days.map(() => 0n)
  for (let index = 0; index + 1 < days.length; index += 1) {
    const [day, next] = [days[index], days[index + 1]]
    if (day === undefined || next === undefined) continue
    const left = day.left - (moved[index] ?? 0n)
    if (left === 0n || left > 0n === next.left > 0n) continue
    // Ours counts the beginning of a request: what the vendor counts later lay in the last hour, what it counts earlier in the first.
    const room = left < 0n ? day.ours.lastHourNanoUsd : next.ours.firstHourNanoUsd
    const amount = [magnitude(left), magnitude(next.left), room].reduce((one, other) =>
      one < other ? one : other,
    )
    const signed = left < 0n ? -amount : amount
    moved[index] = (moved[index] ?? 0n) + signed
    moved[index + 1] = (moved[index + 1] ?? 0n) - signed
  }
  return moved
}

function magnitude(amount: NanoUsd): NanoUsd {
  return amount < 0n ? -amount : amount
}
