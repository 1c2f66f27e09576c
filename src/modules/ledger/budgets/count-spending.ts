/**
 * CTEs of a statement that records charges: adds them to the windows of the account's budgets, in the same snapshot in which they are
 * recorded. `grouped` has the charges by account, hour, key and model, `by_label` the same by label.
 */
export function countSpending(writer: string): string {
  return `budgeted AS (
    SELECT grouped.account_id, hour, model, subject.text AS subject, cost_nano_usd
    FROM grouped LEFT JOIN api_keys key ON key.id = grouped.key_id
      CROSS JOIN LATERAL (VALUES
        ('account'), ('project:' || coalesce(key.project_id, grouped.account_id)), ('user:' || key.user_id),
        ('service_account:' || key.service_account_id), ('key:' || grouped.key_id), ('key:' || coalesce(key.parent_id, key.origin_key_id))
      ) AS subject (text)
    WHERE cost_nano_usd > 0 AND EXISTS (SELECT FROM budgets WHERE budgets.account_id = grouped.account_id)
    UNION ALL
    SELECT account_id, hour, model, label, cost_nano_usd FROM by_label WHERE cost_nano_usd > 0
  ), counted AS (
    INSERT INTO budget_spending (budget_id, window_start, writer, spent_nano_usd)
    SELECT budgets.id, budget_window(period, hour) AS window_start, ${writer}, sum(cost_nano_usd)
    FROM budgeted JOIN budgets USING (account_id, subject)
    WHERE deleted_at IS NULL AND (models IS NULL OR model = ANY (models))
    GROUP BY budgets.id, window_start ORDER BY budgets.id, window_start
    ON CONFLICT (budget_id, window_start, writer) DO UPDATE SET
      spent_nano_usd = budget_spending.spent_nano_usd + excluded.spent_nano_usd
    RETURNING budget_id, window_start
  ), noted_windows AS (
    -- Compared with thresholds later, outside of the charge.
    INSERT INTO budget_window_checks (budget_id, window_start) SELECT budget_id, window_start FROM counted
  )`
}
