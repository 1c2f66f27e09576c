import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { countEarlierSpending, type Ledger } from '../ledger/ledger.ts'
import { raiseWarnings, type RaiseOptions } from './raise-warnings.ts'

const SWEEP_MS = 3_000
/** Whoever made a budget counts what was spent before within this time, or has died. */
const COUNTED_WITHIN_SECONDS = 30
const UNCOUNTED_AT_ONCE = 10

interface SweepOptions extends RaiseOptions {
  readonly logger: Logger
  readonly ledger: Pick<Ledger, 'announceChange'>
  readonly sweepMs?: number
}

/** Every process warns of budgets that were charged, and finishes new budgets whose maker died. */
export function startBudgetSweep(options: SweepOptions): () => void {
  const { logger, sweepMs = SWEEP_MS } = options
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  const schedule = (): void => {
    if (isStopped) return
    // Random, so that processes that started together do not sweep together.
    timer = setTimeout(run, sweepMs * (0.5 + Math.random())).unref()
  }
  const run = (): void => {
    raiseWarnings(options)
      .then(() => countForgotten(options))
      .catch((error: unknown) =>
        logger.warn({ reason: messageOf(error) }, 'budgets could not be compared with their thresholds yet'),
      )
      .finally(schedule)
  }
  schedule()
  return () => {
    isStopped = true
    if (timer) clearTimeout(timer)
  }
}

async function countForgotten({ database, ledger }: SweepOptions): Promise<void> {
  const rows = await database.query<{ id: string; account_id: string }>(
    `SELECT id, account_id FROM budgets
     WHERE NOT is_counted AND deleted_at IS NULL AND created_at < now() - $1 * interval '1 second' LIMIT $2`,
    [COUNTED_WITHIN_SECONDS, UNCOUNTED_AT_ONCE],
  )
  for (const { id, account_id: accountId } of rows) {
    await countEarlierSpending(database, id)
    await ledger.announceChange(accountId)
  }
}

/** More than a year, so that months can be compared. */
const KEPT_DAYS = 400
/** Every process has read long before that a budget was deleted. */
const DELETED_KEPT_DAYS = 2
const DELETED_AT_ONCE = 10_000

/** Deletes old warnings, budgets that were deleted, and sums of windows that are long over. */
export async function sweepOldBudgets(queryable: Queryable): Promise<void> {
  await queryable.query(
    `DELETE FROM budget_warnings WHERE id IN (
       SELECT id FROM budget_warnings WHERE created_at < now() - $1 * interval '1 day' LIMIT $2)`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  )
  await queryable.query(
    `WITH gone AS (
       DELETE FROM budgets WHERE id IN (
         SELECT id FROM budgets WHERE deleted_at < now() - $1 * interval '1 day' LIMIT $2)
       RETURNING id
     ) DELETE FROM budget_spending USING gone WHERE budget_id = gone.id`,
    [DELETED_KEPT_DAYS, DELETED_AT_ONCE],
  )
  await queryable.query(
    `DELETE FROM budget_spending WHERE (budget_id, window_start, writer) IN (
       SELECT budget_id, window_start, writer FROM budget_spending
       WHERE window_start < now() - $1 * interval '1 day' AND window_start > date '1970-01-01' LIMIT $2)`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  )
}
