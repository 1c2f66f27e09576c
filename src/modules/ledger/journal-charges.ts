import type { NanoUsd } from '../../kernel/money.ts'
import type { KeptConnection, Queryable } from '../../storage/database.ts'
import { badCharge } from './commit-failure.ts'
import { toJournalText, type PaidCharge } from './journal-text.ts'

export interface ChargeCommit {
  readonly borrowerId: string
  /** One more than that of the borrower's last commit: a commit that is sent twice happens once. */
  readonly sequence: number
  readonly leaseMs: number
  readonly charges: readonly PaidCharge[]
}

/**
 * Makes many charges durable at once, as one row, which is posted later. False when nothing was written, because the
 * borrower was closed or this sequence number was committed before.
 */
export async function journalCharges(connection: KeptConnection, commit: ChargeCommit): Promise<boolean> {
  const { borrowerId, sequence, leaseMs } = commit
  for (const charge of commit.charges) requirePostable(charge)
  const { labels, charges, parts } = toJournalText(commit.charges)
  const numbers = [String(sequence), String(leaseMs)]
  const written = await connection.write(COMMIT, [borrowerId, ...numbers, labels, charges, parts])
  return written > 0
}

const COMMIT = `
  WITH writer AS (
    UPDATE borrowers SET commit_sequence = $2, expires_at = now() + $3 * interval '1 millisecond'
    WHERE id = $1 AND commit_sequence = $2::bigint - 1 AND closed_at IS NULL
    RETURNING id
  )
  INSERT INTO charge_journal (borrower_id, labels, charges, parts) SELECT id, $4, $5, $6 FROM writer`

/** Whether an earlier sending of the same commit arrived after all. */
export async function wasCommitted(
  queryable: Queryable,
  { borrowerId, sequence }: ChargeCommit,
): Promise<boolean> {
  const [row] = await queryable.query<{ commit_sequence: bigint }>(
    'SELECT commit_sequence FROM borrowers WHERE id = $1',
    [borrowerId],
  )
  return row?.commit_sequence === BigInt(sequence)
}

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
