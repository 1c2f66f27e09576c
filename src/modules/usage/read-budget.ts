import { createHash } from 'node:crypto'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { readTotals } from './read-totals.ts'
import { readSpent } from './read-spent.ts'
import { lastHourAt, type UsageRange } from './usage-range.ts'

/** What a budget is drawn from, and what writes the usage: the ledger. */
export interface CreditReader {
  readBalance(accountId: string): Promise<{
    readonly balanceNanoUsd: NanoUsd
    readonly heldNanoUsd: NanoUsd
  }>
  readBudgets(accountId: string): Promise<readonly SpendBudget[]>
  /** Resolves when everything that was charged before can be read. */
  postCharges(): Promise<void>
}

interface SpendBudget {
  readonly period: 'day' | 'month'
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
}

/** How far an account is through what it may spend this month of UTC. */
export interface Budget {
  /** The month's budget; without one, all that was there to be spent. */
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
  /** What can be spent from now on: neither more than a budget leaves nor more than the balance. */
  readonly remainingNanoUsd: NanoUsd
  /** Set aside for work in progress; still a part of what remains. */
  readonly heldNanoUsd: NanoUsd
  readonly balanceNanoUsd: NanoUsd
  /** Spent in the last sixty minutes. */
  readonly burnRateNanoUsdPerHour: NanoUsd
  readonly month: UsageRange
  readonly readAtMs: number
  readonly budgets: readonly SpendBudget[]
  /** A number that differs whenever any amount but the burn rate does, which follows the clock. */
  readonly version: number
}

export async function readBudget(
  { database, ledger }: { database: Queryable; ledger: CreditReader },
  accountId: string,
  nowMs: number,
): Promise<Budget> {
  const month = monthAt(nowMs)
  const scope = `month:${accountId}:${new Date(month.fromMs).toISOString().slice(0, 7)}`
  const [{ balanceNanoUsd, heldNanoUsd }, budgets, spentTotals, lastHour] = await Promise.all([
    ledger.readBalance(accountId),
    ledger.readBudgets(accountId),
    readSpent(database, [scope]),
    readTotals(database, { accountId, range: lastHourAt(nowMs) }),
  ])
  const spentNanoUsd = spentTotals.get(scope) ?? 0n
  const spendableNanoUsd = largest(0n, balanceNanoUsd)
  const monthly = budgets.find(({ period }) => period === 'month')
  const amounts = {
    limitNanoUsd: monthly?.limitNanoUsd ?? spentNanoUsd + spendableNanoUsd,
    spentNanoUsd,
    remainingNanoUsd: budgets.reduce(
      (least, { limitNanoUsd, spentNanoUsd: spent }) => smallest(least, largest(0n, limitNanoUsd - spent)),
      spendableNanoUsd,
    ),
    heldNanoUsd,
    balanceNanoUsd,
  }
  return {
    ...amounts,
    burnRateNanoUsdPerHour: lastHour.costNanoUsd,
    month,
    readAtMs: nowMs,
    budgets,
    version: hashAmounts([
      scope,
      ...Object.values(amounts),
      ...budgets.flatMap(({ period, limitNanoUsd, spentNanoUsd: spent }) => [period, limitNanoUsd, spent]),
    ]),
  }
}

function monthAt(nowMs: number): UsageRange {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { fromMs: Date.UTC(year, month), toMs: Date.UTC(year, month + 1) }
}

function smallest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a < b ? a : b
}

function largest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a > b ? a : b
}

// 48 bits, which a number holds exactly and which two states hardly ever share.
function hashAmounts(amounts: readonly (string | bigint)[]): number {
  return createHash('sha256').update(amounts.join(' ')).digest().readUIntBE(0, 6)
}
