/** The sums of windows that began before are deleted some days later (`budgets/sweep-budgets.ts`). */
const CHECKED_DAYS = 390

/**
 * A rule of `verifyLedger`: selects the windows of budgets whose sums are not what the usage says, from the window in which the budget
 * was made. The usage is added up by day first, and read once however many budgets there are. Budgets of keys are left out,
 * because the key that limits another one may change.
 */
export const BUDGETS_COUNT_THE_USAGE = `
  WITH checked AS MATERIALIZED (
    SELECT id, account_id, subject, models, period, CASE period WHEN 'total' THEN date '1970-01-01'
      ELSE greatest(budget_window(period, created_at), (now() AT TIME ZONE 'UTC')::date - ${CHECKED_DAYS}) END AS since
    FROM budgets WHERE is_counted AND deleted_at IS NULL AND NOT starts_with(subject, 'key:')
  ), by_key AS MATERIALIZED (
    -- A null model is all of them: days are enough for most budgets, and far fewer than the sums by model and hour.
    SELECT account_id, day, key_id, NULL AS model, sum(spent_nano_usd) AS cost
    FROM spend_by_day WHERE account_id IN (SELECT account_id FROM checked WHERE models IS NULL)
    GROUP BY account_id, day, key_id
    UNION ALL
    SELECT account_id, (hour AT TIME ZONE 'UTC')::date AS day, key_id, model, sum(cost_nano_usd)
    FROM usage_rollups WHERE (account_id, model) IN (SELECT account_id, unnest(models) FROM checked)
    GROUP BY account_id, day, key_id, model
  ), by_subject AS MATERIALIZED (
    SELECT by_key.account_id, day, model, owner.subject, sum(cost) AS cost
    FROM by_key LEFT JOIN api_keys key ON key.id = key_id CROSS JOIN LATERAL (VALUES
      ('account'), ('project:' || coalesce(key.project_id, by_key.account_id)), ('user:' || key.user_id),
      ('service_account:' || key.service_account_id)
    ) AS owner (subject)
    WHERE owner.subject IS NOT NULL GROUP BY by_key.account_id, day, model, owner.subject
    UNION ALL
    SELECT account_id, day, model, label, sum(cost_nano_usd)
    FROM usage_by_label CROSS JOIN LATERAL (SELECT (hour AT TIME ZONE 'UTC')::date AS day) AS days
    WHERE (account_id, label) IN (SELECT account_id, subject FROM checked)
    GROUP BY GROUPING SETS ((account_id, day, label, model), (account_id, day, label))
  ), parts AS (
    SELECT id, window_start, cost, 0 AS counted
    FROM checked JOIN by_subject USING (account_id, subject)
      CROSS JOIN LATERAL budget_window(period, day::timestamp AT TIME ZONE 'UTC') AS window_start
    WHERE window_start >= since AND CASE WHEN models IS NULL THEN model IS NULL ELSE model = ANY (models) END
    UNION ALL
    SELECT id, window_start, 0, spent_nano_usd
    FROM checked JOIN budget_spending ON budget_id = id WHERE window_start >= since
  )
  SELECT format('budget %s from %s: requests %s, counted %s', id, window_start, sum(cost), sum(counted)) AS difference
  FROM parts GROUP BY id, window_start HAVING sum(cost) <> sum(counted)`
