import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { recordUsageFrom, toArray, usageColumns } from './record-usage.ts'
import type { Charge } from './usage-record.ts'

export interface ChargeCommit {
  readonly borrowerId: string
  /** One more than that of the borrower's last commit: a commit that is sent twice happens once. */
  readonly sequence: number
  readonly leaseMs: number
  readonly charges: readonly Charge[]
  /** What each lease pays of them. */
  readonly spentByLease: ReadonlyMap<string, NanoUsd>
}

/**
 * Writes many charges at once: the requests, what the leases paid, both sides of each account's sum, and the totals, in
 * one statement, which is one commit. False when nothing was written, because the borrower was closed or this sequence
 * number was committed before.
 */
export async function commitCharges(queryable: Queryable, commit: ChargeCommit): Promise<boolean> {
  const { charges, spentByLease } = commit
  const committed = await queryable.query(COMMIT, [
    commit.borrowerId,
    commit.sequence,
    commit.leaseMs,
    ...usageColumns(charges),
    toArray([...spentByLease.keys()], (id) => id),
    toArray([...spentByLease.values()], (amount) => amount),
  ])
  return committed.length > 0
}

const COMMIT = `
  WITH writer AS (
    UPDATE borrowers SET commit_sequence = $2, expires_at = now() + $3 * interval '1 millisecond'
    WHERE id = $1 AND commit_sequence = $2::bigint - 1 AND closed_at IS NULL
    RETURNING id, writer
  ), ${recordUsageFrom(4)}, spent AS (
    UPDATE credit_leases SET spent_nano_usd = spent_nano_usd + part.amount
    FROM writer, unnest($21::bigint[], $22::bigint[]) AS part (id, amount)
    WHERE credit_leases.id = part.id AND credit_leases.borrower_id = writer.id
    RETURNING credit_leases.id
  ), entered AS (
    INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd)
    SELECT 'charge:' || $1::uuid || ':' || $2::bigint || ':' || account_id, account_id, book, 'charge',
      sign * sum(cost_nano_usd)
    FROM grouped CROSS JOIN (VALUES ('credit', -1), ('revenue', 1)) AS sides (book, sign)
    WHERE cost_nano_usd > 0
    GROUP BY account_id, book, sign
  )
  -- Divides by zero, and so undoes everything, when a lease is not there any more.
  SELECT 1 / ((SELECT count(*) FROM spent) = cardinality($21::bigint[]))::int FROM writer`
