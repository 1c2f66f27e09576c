import type { NanoUsd } from '../../../kernel/money.ts'
import type { KeptConnection, Queryable } from '../../../storage/database.ts'
import { errorCodeOf, UNIQUE_VIOLATION } from '../../../storage/storage-error.ts'
import { badCharge } from './commit-failure.ts'
import { toJournalText, type PaidCharge } from './journal-text.ts'

export interface ChargeCommit {
  readonly borrowerId: string
  /** Higher than the number of every earlier commit of the borrower. */
  readonly sequence: number
  readonly charges: readonly PaidCharge[]
}

/** Makes many charges durable as one row, which is posted later. Returns false if its number is already taken. */
export async function journalCharges(connection: KeptConnection, commit: ChargeCommit): Promise<boolean> {
  for (const charge of commit.charges) requirePostable(charge)
  const { borrowerId, sequence, charges } = commit
  try {
    await connection.write(COMMIT, [borrowerId, String(sequence), toJournalText(charges)])
    return true
  } catch (error) {
    if (errorCodeOf(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** No ON CONFLICT: it makes PostgreSQL read the index twice and log a confirmation for each row. */
const COMMIT = 'INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ($1, $2, $3)'

/**
 * The outcome of the borrower's last commit, whose response was lost. If it was not written, this prevents that a late
 * statement still writes it. The charges can then be sent again under the next number, unless the borrower is closed.
 */
export async function findOutcome(
  queryable: Queryable,
  { borrowerId, sequence }: Pick<ChargeCommit, 'borrowerId' | 'sequence'>,
): Promise<'written' | 'ruled out' | 'closed'> {
  await queryable.query(RULE_OUT, [borrowerId, sequence])
  const [found] = await queryable.query<{ is_written: boolean; is_open: boolean }>(FIND, [
    borrowerId,
    sequence,
  ])
  if (found?.is_written) return 'written'
  return found?.is_open ? 'ruled out' : 'closed'
}

/**
 * Waits for a running statement with this number; a later one finds the number taken. Writes in any case, so that with synchronous
 * replication it waits for the standbys: a primary that crashed and started again shows commits that no standby has.
 */
const RULE_OUT = `
  INSERT INTO charge_journal (borrower_id, sequence) VALUES ($1, $2)
  ON CONFLICT (borrower_id, sequence) DO UPDATE SET sequence = excluded.sequence`

const FIND = `
  SELECT
    EXISTS (SELECT FROM charge_journal WHERE borrower_id = $1 AND sequence = $2 AND charges IS NOT NULL)
      OR EXISTS (SELECT FROM journal_positions WHERE borrower_id = $1 AND sequence >= $2) AS is_written,
    EXISTS (SELECT FROM borrowers WHERE id = $1 AND closed_at IS NULL) AS is_open`

/**
 * Part of the transaction that closes a borrower. Takes the number of its next commit, which stops all later commits too,
 * because a borrower sends none before it knows the outcome of the last. Waits for a running commit.
 */
export async function closeJournal(transaction: Queryable, borrowerId: string): Promise<void> {
  let closed: readonly unknown[] = []
  // A commit was written under that number meanwhile: try the next number.
  while (closed.length === 0) closed = await transaction.query(RULE_OUT_NEXT, [borrowerId])
}

const RULE_OUT_NEXT = `
  INSERT INTO charge_journal (borrower_id, sequence)
  SELECT $1::uuid, 1 + coalesce(max(sequence), 0)
  FROM (
    SELECT max(sequence) AS sequence FROM charge_journal WHERE borrower_id = $1
    UNION ALL SELECT sequence FROM journal_positions WHERE borrower_id = $1
  ) AS taken
  ON CONFLICT DO NOTHING RETURNING sequence`

const ID_DIGITS = 32

/** Refuses charges that could not be posted, because the database does not check the row before posting. */
function requirePostable({ record, costNanoUsd, parts }: PaidCharge): void {
  if (record.id.length !== ID_DIGITS) throw badCharge(`'${record.id}' is not the id of a request`)
  const isCounted =
    Number.isSafeInteger(record.promptTokens) &&
    Number.isSafeInteger(record.cachedTokens) &&
    Number.isSafeInteger(record.cacheWriteTokens ?? 0) &&
    Number.isSafeInteger(record.completionTokens) &&
    Number.isSafeInteger(record.units ?? 0) &&
    Number.isSafeInteger(record.reasoningTokens) &&
    Number.isSafeInteger(record.createdAtMs) &&
    isMilliseconds(record.latencyMs) &&
    (record.firstTokenMs === null || isMilliseconds(record.firstTokenMs))
  if (!isCounted) throw badCharge(`a count of request ${record.id} is not a whole number`)
  let paidNanoUsd: NanoUsd = 0n
  for (const { lease, amountNanoUsd } of parts) if (lease.class !== null) paidNanoUsd += amountNanoUsd
  if (paidNanoUsd !== costNanoUsd)
    throw badCharge(`leases pay ${paidNanoUsd} of the ${costNanoUsd} of request ${record.id}`)
}

const INTEGER_MAX = 2_147_483_647

/** Whether the value fits into its integer column. */
function isMilliseconds(value: number): boolean {
  return Number.isInteger(value) && value >= -INTEGER_MAX && value <= INTEGER_MAX
}
