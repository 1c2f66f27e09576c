-- Counts what was entered before statements existed, so that they begin with the first entry of an account.
-- Breaks nothing: rows are added. The charges of that time are told by the hour of their requests, because their entries do not name keys and models.

INSERT INTO ledger_by_day AS counted (account_id, day, kind, book, amount_nano_usd)
SELECT account_id, (created_at AT TIME ZONE 'UTC')::date AS day, kind,
  CASE kind WHEN 'charge' THEN 'revenue' ELSE book END AS other,
  sum(CASE kind WHEN 'charge' THEN amount_nano_usd ELSE -amount_nano_usd END)
FROM ledger_entries
WHERE id <= (SELECT until_id FROM uncounted_entries) AND account_id IS NOT NULL AND (book = 'credit') = (kind = 'charge')
GROUP BY account_id, day, kind, other ORDER BY account_id, day, kind, other
ON CONFLICT (account_id, day, kind, book) DO UPDATE SET amount_nano_usd = counted.amount_nano_usd + excluded.amount_nano_usd;

-- A writer number that nobody has, because processes of the release before do not write this table.
INSERT INTO charges_by_day (account_id, day, key_id, model, writer, requests, amount_nano_usd)
SELECT account_id, (hour AT TIME ZONE 'UTC')::date, key_id, model, -2, sum(requests), sum(cost_nano_usd)
FROM usage_rollups WHERE cost_nano_usd > 0 GROUP BY 1, 2, 3, 4;
