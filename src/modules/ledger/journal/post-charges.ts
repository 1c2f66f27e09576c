import type { Queryable } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { isBadData } from './commit-failure.ts'
import { IS_WAITING, POST_ALL, POST_NEW } from './posting-statement.ts'

/** A commit that cannot be posted. It stays in the journal for the operator to inspect. */
export interface RefusedCommit {
  readonly borrowerId: string
  readonly sequence: bigint
  readonly reason: string
}

/** About two thousand charges. The fixed cost of a posting equals that of about a hundred charges. */
const BYTES_AT_ONCE = 240_000

interface PostingOptions {
  readonly borrowerId?: string | null
  /** How long the next piece sleeps between charges, so that other statements get CPU time. */
  readonly restSeconds?: () => number
}

/**
 * Posts all committed charges, or those of one borrower, and returns the commits that could not be posted. The caller must
 * not hold an account lock.
 */
export async function postCharges(
  queryable: Queryable,
  { borrowerId = null, restSeconds = () => 0 }: PostingOptions = {},
): Promise<RefusedCommit[]> {
  const refused: RefusedCommit[] = []
  const pieces = await queryable.query<Piece>(DIVIDE, [borrowerId, BYTES_AT_ONCE])
  for (const piece of pieces) {
    await post(queryable, POST_ALL, piece, restSeconds()).catch(async (error: unknown) => {
      if (!isBadData(error)) throw error
      await postEach(queryable, piece, refused)
    })
  }
  return refused
}

/** Consecutive commits of one borrower. */
interface Piece {
  readonly borrower_id: string
  readonly first: bigint
  readonly last: bigint
}

async function post(queryable: Queryable, statement: string, piece: Piece, restSeconds = 0): Promise<void> {
  await queryable.query(statement, [piece.borrower_id, piece.first, piece.last, restSeconds])
}

/** One commit repeats a charge or is invalid: posts each commit by itself, without charges that were posted before. */
async function postEach(queryable: Queryable, piece: Piece, refused: RefusedCommit[]): Promise<void> {
  const { borrower_id: borrowerId, first, last } = piece
  const rows = await queryable.query<{ sequence: bigint }>(LIST, [borrowerId, first, last])
  for (const { sequence } of rows) {
    try {
      await post(queryable, POST_NEW, { ...piece, first: sequence, last: sequence })
    } catch (error) {
      if (!isBadData(error)) throw error
      await queryable.query(REFUSE, [borrowerId, sequence, messageOf(error)])
      refused.push({ borrowerId, sequence, reason: messageOf(error) })
    }
  }
}

/** Splits the waiting commits into pieces of about the same size. */
const DIVIDE = `
  SELECT borrower_id, min(sequence) AS first, max(sequence) AS last
  FROM (
    SELECT borrower_id, sequence,
      sum(octet_length(charges)) OVER (PARTITION BY borrower_id ORDER BY sequence) / $2 AS piece
    FROM charge_journal WHERE ${IS_WAITING} AND ($1::uuid IS NULL OR borrower_id = $1)
  ) AS waiting
  GROUP BY borrower_id, piece ORDER BY borrower_id, piece`

const LIST = `
  SELECT sequence FROM charge_journal
  WHERE borrower_id = $1 AND sequence BETWEEN $2 AND $3 AND ${IS_WAITING} ORDER BY sequence`

const REFUSE = 'UPDATE charge_journal SET refusal = $3 WHERE borrower_id = $1 AND sequence = $2'
