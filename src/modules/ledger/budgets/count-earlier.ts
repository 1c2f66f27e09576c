import type { Database, Queryable } from '../../../storage/database.ts'
import { postCharges } from '../journal/post-charges.ts'
import { bumpBudgetsVersion } from './budgets-version.ts'

/** Its own rows of sums beside those of postings and of processes. */
const RECOUNT_WRITER = -2

/**
 * Adds up what was spent before a new budget existed, in the window in which it was made, and lets requests see it. The budget must be
 * committed: from then on, every statement that records charges adds to its sums, except those that had begun before. So this waits for
 * them, and then adds the difference between the recorded charges and the sums, both as of one snapshot.
 */
export async function countEarlierSpending(database: Database, budgetId: string): Promise<void> {
  await postCharges(database)
  await database.transaction(waitForWriters)
  await database.transaction(async (transaction) => {
    const [budget] = await transaction.query<{ account_id: string; is_counted: boolean }>(
      'SELECT account_id, is_counted FROM budgets WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
      [budgetId],
    )
    if (budget === undefined || budget.is_counted) return
    await transaction.query(ADD_DIFFERENCE, [budgetId, RECOUNT_WRITER])
    const version = await bumpBudgetsVersion(transaction, budget.account_id)
    await transaction.query('UPDATE budgets SET is_counted = true, version = $2 WHERE id = $1', [
      budgetId,
      version,
    ])
  })
}

/**
 * Waits for all statements that may not see a budget that was just committed. They hold a lock on the table until their end, and take it
 * before they take their snapshot: whoever comes after this sees the budget.
 */
async function waitForWriters(transaction: Queryable): Promise<void> {
  await transaction.query("SET LOCAL lock_timeout = '20s'")
  await transaction.query('LOCK TABLE budget_spending IN SHARE MODE')
}

// Days are enough for all models, and far fewer than the sums by model and hour.
const ADD_DIFFERENCE = `
  WITH budget AS (
    SELECT *, split_part(subject, ':', 1) AS kind, split_part(subject, ':', 2) AS owner,
      budget_window(period, created_at)::timestamp AT TIME ZONE 'UTC' AS begins
    FROM budgets WHERE id = $1
  ), charged AS (
    SELECT account_id, key_id, day::timestamp AT TIME ZONE 'UTC' AS hour, spent_nano_usd AS cost_nano_usd
    FROM budget JOIN spend_by_day USING (account_id) WHERE models IS NULL AND day >= budget_window(period, budget.created_at)
    UNION ALL
    SELECT account_id, key_id, hour, cost_nano_usd
    FROM budget JOIN usage_rollups USING (account_id) WHERE model = ANY (models) AND hour >= begins
  ), spent AS (
    SELECT budget_window(period, hour) AS window_start, cost_nano_usd
    FROM charged CROSS JOIN budget LEFT JOIN api_keys key ON key.id = key_id
    WHERE CASE kind
        WHEN 'account' THEN true
        WHEN 'project' THEN coalesce(key.project_id, budget.account_id)::text = owner
        WHEN 'user' THEN key.user_id::text = owner
        WHEN 'service_account' THEN key.service_account_id::text = owner
        WHEN 'key' THEN owner IN (key_id::text, coalesce(key.parent_id, key.origin_key_id)::text)
        ELSE false END
    UNION ALL
    SELECT budget_window(period, hour), cost_nano_usd
    FROM budget JOIN usage_by_label USING (account_id)
    WHERE label = subject AND (models IS NULL OR model = ANY (models)) AND hour >= begins
  ), difference AS (
    SELECT window_start, sum(amount) AS amount FROM (
      SELECT window_start, cost_nano_usd AS amount FROM spent
      UNION ALL SELECT window_start, -spent_nano_usd FROM budget_spending WHERE budget_id = $1
    ) AS parts GROUP BY window_start HAVING sum(amount) <> 0
  )
  INSERT INTO budget_spending (budget_id, window_start, writer, spent_nano_usd)
  SELECT $1, window_start, $2, amount FROM difference
  ON CONFLICT (budget_id, window_start, writer) DO UPDATE SET
    spent_nano_usd = budget_spending.spent_nano_usd + excluded.spent_nano_usd`
