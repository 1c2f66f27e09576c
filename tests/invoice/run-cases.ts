import type { NanoUsd } from '../../src/kernel/money.ts'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { findUnexplainedCharges } from '../support/unexplained-charges.ts'
import type { Case } from './case.ts'
import { makeCase } from './generate/make-case.ts'
import { shrinkCase } from './generate/shrink-case.ts'
import { runCase, type CaseOutcome } from './run-case.ts'
import type { Stage } from './start-stage.ts'

export interface Totals {
  cases: number
  calls: number
  invoicedNanoUsd: NanoUsd
  chargedNanoUsd: NanoUsd
  /** How many cases had work, by wire, end and vendor. */
  readonly worked: Map<string, number>
}

export interface RunOptions {
  readonly seed: number
  readonly from: number
  readonly count: number
  readonly concurrency: number
  readonly totals: Totals
  /** No further cases are begun after this many with problems. */
  readonly failuresMax?: number
}

export function noTotals(): Totals {
  return { cases: 0, calls: 0, invoicedNanoUsd: 0n, chargedNanoUsd: 0n, worked: new Map() }
}

/** Runs cases side by side and returns those with problems. */
export async function runCases(stage: Stage, options: RunOptions): Promise<CaseOutcome[]> {
  const { seed, from, count, concurrency, totals, failuresMax = Infinity } = options
  const wrong: CaseOutcome[] = []
  let next = from
  const work = async () => {
    while (next < from + count && wrong.length < failuresMax) {
      const made = makeCase(seed, next++)
      const outcome = await runCase(stage, made).catch((error: unknown) => failedOutcome(made, error))
      noteOutcome(totals, outcome)
      if (outcome.problems.length > 0) wrong.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return wrong
}

/** Returns the outcome of the smallest case that fails like this one. */
export async function shrinkOutcome(stage: Stage, outcome: CaseOutcome): Promise<CaseOutcome> {
  let smallest = outcome
  let number = SHRUNK_FROM
  await shrinkCase(outcome.made, async (smaller) => {
    const made = { ...smaller, number: (number += 1) }
    const found = await runCase(stage, made).catch((error: unknown) => failedOutcome(made, error))
    if (found.problems.length === 0) return false
    smallest = found
    return true
  })
  return smallest
}

/** Shrunk cases get numbers of their own, because vendors tell cases apart by them. */
const SHRUNK_FROM = 900_000_000

/** Returns every violation of the rules of the ledger, and every charge that its price list does not explain. */
export async function findDifferences({ database }: Stage): Promise<string[]> {
  const checks = await verifyLedger(database)
  const { unexplained } = await findUnexplainedCharges(database)
  return [
    ...checks.flatMap(({ rule, differences }) => differences.map((difference) => `${rule}: ${difference}`)),
    ...unexplained,
  ]
}

function failedOutcome(made: Case, error: unknown): CaseOutcome {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    made,
    request: { path: '', text: '' },
    statuses: [],
    lines: [],
    invoicedNanoUsd: 0n,
    chargedNanoUsd: 0n,
    uncoveredNanoUsd: 0n,
    problems: [problem],
  }
}

/** Adds a case to the totals. */
export function noteOutcome(
  totals: Totals,
  { made, lines, invoicedNanoUsd, chargedNanoUsd }: CaseOutcome,
): void {
  totals.cases += 1
  totals.calls += lines.length
  totals.invoicedNanoUsd += invoicedNanoUsd
  totals.chargedNanoUsd += chargedNanoUsd
  if (lines.length === 0) return
  const vendors = new Set(lines.map(({ vendor }) => vendor))
  for (const name of [`wire ${made.wire}`, `end ${made.end.name}`, ...vendors])
    totals.worked.set(name, (totals.worked.get(name) ?? 0) + 1)
}
