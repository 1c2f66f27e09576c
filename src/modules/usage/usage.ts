import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { listRecords, type RecordsQuery, type UsageRecord } from './list-records.ts'
import { readBudget, type Budget, type CreditReader } from './read-budget.ts'
import { readSpending, readSpendingOfAccounts, type Spending, type SpendingQuery } from './read-spending.ts'
import { readTimeseries, type Timeseries, type TimeseriesQuery } from './read-timeseries.ts'
import { readTotals, type TotalsQuery } from './read-totals.ts'
import { readSpent } from './read-spent.ts'
import { lastHourAt, type UsageRange } from './usage-range.ts'
import type { UsageTotals } from './usage-totals.ts'

export { OUTCOMES, type UsageRecord } from './list-records.ts'
export type { Budget, CreditReader } from './read-budget.ts'
export type { Spending } from './read-spending.ts'
export { BUCKETS_MAX, GRANULARITIES, SERIES_MAX } from './read-timeseries.ts'
export type { Granularity, Timeseries, UsageBucket } from './read-timeseries.ts'
export type { UsageFilter } from './select-usage.ts'
export { DAY_MS, floorDay, HOUR_MS, type UsageRange } from './usage-range.ts'
export type { UsageTotals } from './usage-totals.ts'

export interface UsageComparison {
  readonly totals: UsageTotals
  readonly previous: UsageTotals
}

/** What was used and what it cost, as the ledger wrote it down. Reads only. */
export interface Usage {
  readBudget(accountId: string): Promise<Budget>
  /** The range, and another to compare it with. */
  compareTotals(query: TotalsQuery, previous: UsageRange): Promise<UsageComparison>
  readTimeseries(query: TimeseriesQuery): Promise<Timeseries>
  readSpending(query: SpendingQuery): Promise<Spending>
  readSpendingOfAccounts(query: Omit<SpendingQuery, 'accountId' | 'by'>): Promise<Spending>
  readGpuBilling(query: { accountId: string; range: UsageRange }): Promise<GpuBilling>
  listRecords(query: RecordsQuery): Promise<Page<UsageRecord>>
  /** What each of these keys has ever spent; a key that has spent nothing is left out. */
  spentByKeys(keyIds: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
}

export function createUsage({
  database,
  clock,
  ledger,
}: {
  database: Queryable
  clock: Clock
  ledger: CreditReader
}): Usage {
  const afterPosting = async <Result>(read: () => Promise<Result>): Promise<Result> => {
    await ledger.postCharges()
    return read()
  }
  return {
    readBudget: (accountId) => afterPosting(() => readBudget({ database, ledger }, accountId, clock.nowMs())),
    compareTotals: (query, previousRange) =>
      afterPosting(async () => {
        const [totals, previous] = await Promise.all([
          readTotals(database, query),
          readTotals(database, { ...query, range: previousRange }),
        ])
        return { totals, previous }
      }),
    readTimeseries: (query) => afterPosting(() => readTimeseries(database, query)),
    readSpending: (query) => afterPosting(() => readSpending(database, query)),
    readSpendingOfAccounts: (query) => afterPosting(() => readSpendingOfAccounts(database, query)),
    readGpuBilling: (query) => afterPosting(() => readGpuBilling(database, query, lastHourAt(clock.nowMs()))),
    listRecords: (query) => afterPosting(() => listRecords(database, query)),
    spentByKeys: (keyIds) =>
      afterPosting(async () => {
        const scopes = keyIds.map((keyId) => KEY_SCOPE + keyId)
        const spent = await readSpent(database, scopes)
        return new Map([...spent].map(([scope, amount]) => [scope.slice(KEY_SCOPE.length), amount]))
      }),
  }
}

const KEY_SCOPE = 'key:'

interface GpuBilling {
  /** By the model that each deployment serves. */
  readonly spending: Spending
  readonly burnRateNanoUsdPerHour: NanoUsd
}

const DEPLOYMENTS_MAX = 100

/** What an account paid for GPUs: usage whose operation is `gpu`, time and not requests. */
async function readGpuBilling(
  queryable: Queryable,
  { accountId, range }: { readonly accountId: string; readonly range: UsageRange },
  lastHour: UsageRange,
): Promise<GpuBilling> {
  const filter = { operation: 'gpu' }
  const [spending, recent] = await Promise.all([
    readSpending(queryable, { accountId, range, by: 'model', filter, limit: DEPLOYMENTS_MAX }),
    readTotals(queryable, { accountId, range: lastHour, filter }),
  ])
  return { spending, burnRateNanoUsdPerHour: recent.costNanoUsd }
}
