import type { NanoUsd } from '../../kernel/money.ts'
import type { KeptConnection, Queryable } from '../../storage/database.ts'
import { badCharge } from './commit-failure.ts'
import { toJournalText, type PaidCharge } from './journal-text.ts'

export interface ChargeCommit {
  readonly borrowerId: string
  /** Above that of every commit the borrower has sent before. */
  readonly sequence: number
  readonly charges: readonly PaidCharge[]
}

/** Makes many charges durable at once, as one row, which is posted later. False when the borrower was closed. */
export async function journalCharges(connection: KeptConnection, commit: ChargeCommit): Promise<boolean> {
  for (const charge of commit.charges) requirePostable(charge)
  const { borrowerId, sequence, charges } = commit
  const written = await connection.write(COMMIT, [borrowerId, String(sequence), toJournalText(charges)])
  return written > 0
}

// The borrower's row is locked for as long as this takes: it is not closed, and nothing is ruled out, meanwhile.
const COMMIT = `
  INSERT INTO charge_journal (borrower_id, sequence, charges)
  SELECT id, $2, $3 FROM borrowers WHERE id = $1 AND commit_sequence < $2 AND closed_at IS NULL FOR SHARE`

/**
 * Whether a commit was written whose answer was lost. If it was not, it never will be, though its statement may still be
 * on its way: the charges can be sent again under the next number.
 */
export async function hasArrived(
  queryable: Queryable,
  { borrowerId, sequence }: Pick<ChargeCommit, 'borrowerId' | 'sequence'>,
): Promise<boolean> {
  await queryable.query(RULE_OUT, [borrowerId, sequence])
  const found = await queryable.query(FIND, [borrowerId, sequence])
  return found.length > 0
}

/** Waits for a statement that is under way; one that comes later does nothing. */
const RULE_OUT = 'UPDATE borrowers SET commit_sequence = $2 WHERE id = $1 AND commit_sequence < $2'

const FIND = `
  SELECT FROM charge_journal WHERE borrower_id = $1 AND sequence = $2
  UNION ALL SELECT FROM journal_positions WHERE borrower_id = $1 AND sequence >= $2`

const ID_DIGITS = 32

/** Nobody looks into the row before it is posted, so what could not be posted is refused here. */
function requirePostable({ record, costNanoUsd, parts }: PaidCharge): void {
  if (record.id.length !== ID_DIGITS) throw badCharge(`'${record.id}' is not the id of a request`)
  const isCounted =
    Number.isSafeInteger(record.promptTokens) &&
    Number.isSafeInteger(record.cachedTokens) &&
    Number.isSafeInteger(record.completionTokens) &&
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

/** As its column holds them. */
function isMilliseconds(value: number): boolean {
  return Number.isInteger(value) && value >= -INTEGER_MAX && value <= INTEGER_MAX
}
