import type { Queryable } from '../../../storage/database.ts'
import { postCharges } from '../journal/post-charges.ts'
import { BUDGETS_COUNT_THE_USAGE } from '../budgets/budgets-rule.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { TOKENS } from './carry-usage.ts'

/** A rule of the ledger and the rows that break it. */
export interface LedgerCheck {
  readonly rule: string
  readonly differences: readonly string[]
}

const DIFFERENCES_SHOWN_MAX = 20

/** Posts all charges, then checks every rule. Each rule is one statement, so it sees one snapshot. */
export async function verifyLedger(queryable: Queryable): Promise<LedgerCheck[]> {
  await postCharges(queryable)
  const checks: LedgerCheck[] = []
  for (const [rule, sql] of Object.entries(RULES)) {
    const rows = await queryable.query<{ difference: string }>(`${sql} LIMIT ${DIFFERENCES_SHOWN_MAX}`)
    checks.push({ rule, differences: rows.map(({ difference }) => difference) })
  }
  return checks
}

/** A record may be of the day after that of its id, and a part of it. */
const DAYS_OF_LATE_RECORDS = 2

/** Each statement selects the rows that break the rule. */
const RULES = lookupTable<string>({
  'both sides of every movement add up to nothing': `
    SELECT format('%s: %s', key, sum(amount_nano_usd)) AS difference FROM ledger_entries
    GROUP BY key HAVING sum(amount_nano_usd) <> 0 OR count(*) FILTER (WHERE book <> 'credit') <> 1`,

  'every balance is the sum of its entries': `
    SELECT format('account %s: entries %s, balance %s', account_id, entries, balance) AS difference
    FROM (
      SELECT account.account_id,
        coalesce((SELECT sum(amount_nano_usd) FROM ledger_entries entry
          WHERE entry.account_id = account.account_id AND book = 'credit'), 0) AS entries,
        coalesce((SELECT sum(remaining_nano_usd) FROM credit_lots lot
          WHERE lot.account_id = account.account_id AND remaining_nano_usd > 0), 0)
        + coalesce((SELECT sum(amount_nano_usd - spent_nano_usd) FROM credit_leases lease
          WHERE lease.account_id = account.account_id AND lot_id IS NOT NULL), 0)
        - account.debt_nano_usd AS balance
      FROM credit_accounts account
    ) sums WHERE entries <> balance`,

  'every charge is a request, and every request is charged': `
    SELECT format('account %s: entries %s, requests %s', account_id, entries, requests) AS difference
    FROM (
      SELECT account_id, sum(charged) AS entries, sum(used) AS requests FROM (
        SELECT account_id, -amount_nano_usd AS charged, 0 AS used FROM ledger_entries
        WHERE kind = 'charge' AND book = 'credit'
        UNION ALL SELECT account_id, 0, cost_nano_usd FROM usage_records
        UNION ALL SELECT account_id, 0, cost_nano_usd FROM usage_carried
      ) movements GROUP BY account_id
    ) sums WHERE entries <> requests`,

  'rollups are the sum of the requests': `
    SELECT format('account %s: %s requests with %s tokens for %s, rollups %s with %s for %s',
      account_id, requests, tokens, cost, rolled, rolled_tokens, rolled_cost) AS difference
    FROM (
      SELECT account_id, sum(requests) FILTER (WHERE is_record) AS requests, sum(requests) FILTER (WHERE NOT is_record) AS rolled,
        sum(tokens) FILTER (WHERE is_record) AS tokens, sum(tokens) FILTER (WHERE NOT is_record) AS rolled_tokens,
        sum(cost_nano_usd) FILTER (WHERE is_record) AS cost, sum(cost_nano_usd) FILTER (WHERE NOT is_record) AS rolled_cost
      FROM (
        SELECT account_id, true AS is_record, 1 AS requests, ${TOKENS} AS tokens, cost_nano_usd FROM usage_records
        UNION ALL SELECT account_id, true, requests, tokens, cost_nano_usd FROM usage_carried
        UNION ALL SELECT account_id, false, requests, ${TOKENS}, cost_nano_usd FROM usage_rollups
      ) parts GROUP BY account_id
    ) sums WHERE (requests, tokens, cost) IS DISTINCT FROM (rolled, rolled_tokens, rolled_cost)`,

  // In the accounts that have them, and on the days that were added up and not changed since.
  'sums of days are the sum of the rollups': `
    WITH hours AS (
      SELECT account_id, false AS is_labelled, hour, requests, cost_nano_usd FROM usage_rollups
      UNION ALL SELECT account_id, true, hour, requests, cost_nano_usd FROM usage_by_label
    ), rolled AS (
      SELECT account_id, is_labelled, (hour AT TIME ZONE 'UTC')::date AS day, sum(requests) AS requests, sum(cost_nano_usd) AS cost
      FROM hours WHERE account_id IN (SELECT account_id FROM usage_sum_progress) GROUP BY account_id, is_labelled, day
    ), summed AS (
      SELECT account_id, starts_with(grain, 'day:label') AS is_labelled, grain, (begins AT TIME ZONE 'UTC')::date AS day,
        sum(requests) AS requests, sum(cost_nano_usd) AS cost
      FROM usage_sums GROUP BY account_id, grain, day
    ), grains AS (SELECT DISTINCT grain, is_labelled FROM summed)
    SELECT format('account %s on %s by %s: requests %s for %s, summed %s for %s', account_id, day, grain, rolled.requests, rolled.cost,
      summed.requests, summed.cost) AS difference
    FROM (rolled JOIN grains USING (is_labelled)) FULL JOIN summed USING (account_id, is_labelled, grain, day)
      JOIN usage_sum_progress USING (account_id)
    WHERE day < summed_until AND (rolled.requests, rolled.cost) IS DISTINCT FROM (summed.requests, summed.cost)
      AND NOT EXISTS (
        SELECT FROM usage_stale_days stale WHERE stale.account_id = usage_sum_progress.account_id AND stale.day = coalesce(rolled.day, summed.day))`,

  'sums of days of all accounts are the sum of the rollups': `
    WITH rolled AS (
      SELECT (hour AT TIME ZONE 'UTC')::date AS day, sum(requests) AS requests, sum(cost_nano_usd) AS cost,
        sum(vendor_cost_nano_usd) AS vendor_cost FROM usage_rollups GROUP BY day
    ), summed AS (
      SELECT grain, (day AT TIME ZONE 'UTC')::date AS day, sum(requests) AS requests, sum(cost_nano_usd) AS cost,
        sum(vendor_cost_nano_usd) AS vendor_cost FROM gateway_usage_days GROUP BY 1, 2
    ), grains AS (SELECT DISTINCT grain FROM summed)
    SELECT format('%s by %s: requests %s for %s, summed %s for %s', day, grain, rolled.requests, rolled.cost, summed.requests,
      summed.cost) AS difference
    FROM (rolled CROSS JOIN grains) FULL JOIN summed USING (grain, day)
    WHERE day < (SELECT summed_until FROM gateway_sum_progress) AND day <> ALL (ARRAY(SELECT gateway_stale_days.day FROM gateway_stale_days))
      AND (rolled.requests, rolled.cost, rolled.vendor_cost) IS DISTINCT FROM (summed.requests, summed.cost, summed.vendor_cost)`,

  'sums of days are the sum of the entries': `
    SELECT format('account %s on %s: entries %s, sum %s', account_id, day, entries, summed) AS difference
    FROM (
      SELECT account_id, day, sum(entered) AS entries, sum(counted) AS summed FROM (
        SELECT account_id, (created_at AT TIME ZONE 'UTC')::date AS day, amount_nano_usd AS entered, 0 AS counted
        FROM ledger_entries WHERE book = 'credit'
        UNION ALL SELECT account_id, day, 0, amount_nano_usd FROM ledger_by_day
      ) parts GROUP BY account_id, day
    ) sums WHERE entries <> summed`,

  'a closed statement is the sum of its month': `
    SELECT format('account %s in %s: entries %s, statement %s', account_id, month, entries, closing_nano_usd - opening_nano_usd)
      AS difference
    FROM statements CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount_nano_usd), 0) AS entries FROM ledger_by_day counted
      WHERE counted.account_id = statements.account_id AND day >= month AND day < month + interval '1 month'
    ) sums WHERE entries <> closing_nano_usd - opening_nano_usd`,

  'what is archived of the ledger is the sum of its days': `
    SELECT format('account %s in %s: archive %s, days %s', account_id, month, archived, counted) AS difference
    FROM (
      SELECT account_id, month, sum(archived) AS archived, sum(counted) AS counted FROM (
        SELECT account_id, month, amount_nano_usd AS archived, 0 AS counted
        FROM archived_sums JOIN archives ON archives.id = archive_id WHERE source = 'ledger_entries' AND status = 'complete'
        UNION ALL SELECT account_id, month, 0, amount_nano_usd FROM archives JOIN ledger_by_day
          ON day >= month AND day < month + interval '1 month' WHERE source = 'ledger_entries' AND status = 'complete'
      ) parts GROUP BY account_id, month
    ) sums WHERE archived <> counted`,

  'the requests that are in archives only are those that were dropped': `
    SELECT format('account %s: archives %s requests for %s, dropped %s for %s', account_id, archived, archived_cost, dropped, dropped_cost)
      AS difference
    FROM (
      SELECT account_id, sum(archived) AS archived, sum(archived_cost) AS archived_cost, sum(dropped) AS dropped,
        sum(dropped_cost) AS dropped_cost
      FROM (
        SELECT account_id, archived_sums.rows AS archived, amount_nano_usd AS archived_cost, 0 AS dropped, 0 AS dropped_cost
        FROM archived_sums JOIN archives ON archives.id = archive_id WHERE source = 'usage_records' AND dropped_at IS NOT NULL
        UNION ALL SELECT account_id, 0, 0, archived_requests, archived_nano_usd FROM usage_carried
      ) parts GROUP BY account_id
    ) sums WHERE (archived, archived_cost) IS DISTINCT FROM (dropped, dropped_cost)`,

  // From the first day on of which no record is dropped.
  'what counts against caps is the sum of the requests': `
    SELECT format('key %s of account %s on %s: requests %s, total %s', key_id, account_id, day, cost, total) AS difference
    FROM (
      SELECT account_id, day, key_id, sum(cost) AS cost, sum(total) AS total FROM (
        SELECT account_id, (created_at AT TIME ZONE 'UTC')::date AS day, key_id, cost_nano_usd AS cost, 0 AS total
        FROM usage_records
        UNION ALL SELECT account_id, day, key_id, 0, spent_nano_usd FROM spend_by_day
      ) parts GROUP BY account_id, day, key_id
    ) sums WHERE cost <> total
      AND day >= coalesce((SELECT (max(until) AT TIME ZONE 'UTC')::date + ${DAYS_OF_LATE_RECORDS} FROM usage_carried), '-infinity')`,

  'what counts against budgets is the sum of the requests': BUDGETS_COUNT_THE_USAGE,

  'every charge could be posted': `
    SELECT format('commit %s of %s: %s', sequence, borrower_id, refusal) AS difference FROM charge_journal WHERE refusal IS NOT NULL`,

  'nothing is lent to the dead': `
    SELECT format('lease %s of borrower %s', lease.id, borrower_id) AS difference
    FROM credit_leases lease JOIN borrowers ON borrowers.id = borrower_id WHERE closed_at IS NOT NULL`,

  'every open hold has what it holds, and no other has anything': `
    SELECT format('hold %s: %s held, %s lent', key, held, lent) AS difference
    FROM (
      SELECT key, CASE status WHEN 'open' THEN amount_nano_usd ELSE 0 END AS held,
        coalesce((SELECT sum(amount_nano_usd) FROM credit_leases WHERE hold_key = key AND lot_id IS NOT NULL), 0) AS lent
      FROM credit_holds
    ) holds WHERE held <> lent`,
})
