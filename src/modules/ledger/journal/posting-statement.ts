import { HOUR_MS } from './journal-text.ts'
import { recordCharges } from '../books/record-usage.ts'
import { CHARGES_OF_ENTRY } from '../books/write-entries.ts'
import { openJournal, unfoldCharges, unfoldPayments, unfoldSums } from './journal-sql.ts'

/** The writer number of all postings, which run one after another. No process has this number. */
const POSTING_WRITER = -1

/** SQL condition for journal rows that can be posted. */
export const IS_WAITING = 'charges IS NOT NULL AND refusal IS NULL'

interface PostedCharges {
  /** First CTEs of the statement, each followed by a comma. */
  readonly prepared: string
  /** The charges, as a FROM item. */
  readonly charge: string
  /** The sums of the charges, as a FROM item. */
  readonly sums: string
  /** Those of them that have labels, as a FROM item. */
  readonly labelled: string
  /** The amount each lease pays, and the part of it for charges that were posted before. */
  readonly paid: string
  /** The charges of which the account owes a part, as a FROM item. */
  readonly owing: string
}

/** All charges. The statement fails if one was posted before. */
const ALL_CHARGES: PostedCharges = {
  prepared: '',
  charge: unfoldCharges('opened'),
  sums: unfoldSums('opened'),
  labelled: unfoldSums('(SELECT * FROM opened WHERE cardinality(labels) > 0) AS labelled'),
  paid: `SELECT lease_id, sum(paid_nano_usd)::bigint AS amount, 0 AS repeated FROM ${unfoldPayments('opened')}
    GROUP BY lease_id`,
  owing: unfoldCharges('(SELECT * FROM opened WHERE cardinality(owed) > 0) AS indebting'),
}

/** Each charge as a sum of its own. */
const NEW_SUMS = `(
  SELECT *, 1 AS requests, created_at_ms - created_at_ms % ${HOUR_MS} AS hour_ms,
    (vendor_cost_nano_usd IS NOT NULL)::integer AS costed_requests,
    CASE WHEN vendor_cost_nano_usd IS NULL THEN 0 ELSE cost_nano_usd END AS costed_revenue_nano_usd
  FROM charge) AS added`

/** Each request once, without those that were posted before. */
const NEW_CHARGES: PostedCharges = {
  prepared: `charge AS MATERIALIZED (
    SELECT DISTINCT ON (account_id, id) *
    FROM ${unfoldCharges('opened')}
    WHERE NOT EXISTS (
      SELECT FROM usage_records record WHERE record.account_id = charge.account_id AND record.id = charge.id)
    ORDER BY account_id, id, sequence, number
  ),`,
  charge: 'charge',
  sums: NEW_SUMS,
  labelled: NEW_SUMS,
  paid: `SELECT lease_id, sum(paid_nano_usd)::bigint AS amount,
      coalesce(sum(paid_nano_usd) FILTER (WHERE charge.id IS NULL), 0)::bigint AS repeated
    FROM ${unfoldPayments('opened')} LEFT JOIN charge USING (sequence, number)
    GROUP BY lease_id`,
  owing: 'charge',
}

/** Average number of bytes between two sleeps: about forty charges, or a third of a millisecond. */
const BYTES_BETWEEN_RESTS = 5_000

/**
 * Deletes rows from the journal, records their position, and writes their content: usage rows, spent amounts of leases, one
 * entry for each account and one for revenue, what accounts owe, and the totals. Payments for charges that were posted before return to the lot
 * at once, because the process counts them as spent. A concurrent posting of the same rows waits and then finds them gone.
 * `$1` is the borrower, `$2` to `$3` are its rows, `$4` is the length of each sleep in seconds.
 */
function postStatement({ prepared, charge, sums, labelled, paid, owing }: PostedCharges): string {
  return `
  WITH taken AS MATERIALIZED (
    DELETE FROM charge_journal
    WHERE borrower_id = $1::uuid AND sequence BETWEEN $2::bigint AND $3::bigint AND ${IS_WAITING}
    RETURNING sequence, charges
  ), noted AS (
    -- Before accounts are locked.
    INSERT INTO journal_positions AS position (borrower_id, sequence)
    SELECT $1::uuid, max(sequence) FROM taken HAVING count(*) > 0
    ON CONFLICT (borrower_id) DO UPDATE SET sequence = greatest(position.sequence, excluded.sequence)
    RETURNING position.borrower_id
  ), opened AS MATERIALIZED (
    -- Row by row as the requests are written, so that the rests are between them.
    SELECT *, CASE WHEN random() * ${BYTES_BETWEEN_RESTS} < bytes THEN pg_sleep($4::double precision) END
    FROM ${openJournal('taken')}
  ), ${prepared} ${recordCharges({ charge, sums, labelled, writer: String(POSTING_WRITER) })}, paid AS MATERIALIZED (${paid}), owed AS MATERIALIZED (
    SELECT account_id, id, owed_nano_usd FROM ${owing} WHERE owed_nano_usd > 0
  ), locked AS MATERIALIZED (
    -- As everybody does who changes leases, and in the same order.
    SELECT FROM credit_accounts
    WHERE account_id IN (SELECT account_id FROM credit_leases JOIN paid ON lease_id = credit_leases.id
        UNION ALL SELECT account_id FROM owed)
      AND (SELECT count(*) FROM noted) >= 0 AND (SELECT count(*) FROM charged) >= 0
    ORDER BY account_id FOR UPDATE
  ), spent AS (
    UPDATE credit_leases SET spent_nano_usd = spent_nano_usd + paid.amount
    FROM (SELECT count(*) FROM locked) AS locks, paid WHERE credit_leases.id = paid.lease_id
    RETURNING lot_id, repeated
  ), given_back AS (
    UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd + back.amount
    FROM (SELECT lot_id, sum(repeated)::bigint AS amount FROM spent WHERE repeated > 0 GROUP BY lot_id) AS back
    WHERE credit_lots.id = back.lot_id
  ), entered AS (
    INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, charges)
    SELECT concat_ws(':', 'charge', $1::uuid, (SELECT max(sequence) FROM taken)), side.*
    FROM (
      SELECT account_id, 'credit', 'charge', -sum(amount_nano_usd)::bigint, ${CHARGES_OF_ENTRY} FROM charge_parts GROUP BY account_id
      UNION ALL
      -- The side of revenue is one entry for all accounts.
      SELECT NULL, 'revenue', 'charge', sum(amount_nano_usd)::bigint, NULL FROM charge_parts HAVING count(*) > 0
    ) AS side
  ), owed_entries AS (
    INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason)
    SELECT 'uncovered:' || id, account_id, book, 'reverse', sign * owed_nano_usd, 'Cost that the balance did not cover'
    FROM owed CROSS JOIN (VALUES ('credit', -1), ('revenue', 1)) AS sides (book, sign)
  ), indebted AS (
    UPDATE credit_accounts SET debt_nano_usd = debt_nano_usd + debt.amount
    FROM (SELECT count(*) FROM locked) AS locks,
      (SELECT account_id, sum(owed_nano_usd)::bigint AS amount FROM owed GROUP BY account_id) AS debt
    WHERE credit_accounts.account_id = debt.account_id
  )
  -- Divides by zero, and so undoes everything, when a lease is not there any more.
  SELECT 1 / ((SELECT count(*) FROM spent) = (SELECT count(*) FROM paid))::integer`
}

export const POST_ALL = postStatement(ALL_CHARGES)
export const POST_NEW = postStatement(NEW_CHARGES)
