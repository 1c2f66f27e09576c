import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { readSpending, type Spending } from './read-spending.ts'
import { readTotals } from './read-totals.ts'
import type { UsageRange } from './usage-range.ts'

export interface GpuBilling {
  /** By the model that each deployment serves. */
  readonly spending: Spending
  readonly burnRateNanoUsdPerHour: NanoUsd
}

const DEPLOYMENTS_MAX = 100

/** What an account paid for GPUs: usage whose operation is `gpu`, time and not requests. */
export async function readGpuBilling(
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
