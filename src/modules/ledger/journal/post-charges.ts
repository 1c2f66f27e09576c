import type { Queryable } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { isBadData } from './commit-failure.ts'
import { IS_WAITING, POST_ALL, POST_NEW } from './posting-statement.ts'

/** A commit that the books do not take. It stays where it is, for somebody to look at. */
export interface RefusedCommit {
  readonly borrowerId: string
  readonly sequence: bigint
  readonly reason: string
}

/** About two thousand charges: what a posting costs beside its charges is that of a hundred. */
const BYTES_AT_ONCE = 240_000

interface PostingOptions {
  readonly borrowerId?: string | null
  /** How long the next piece rests each time, so that others who want the database's cores get them. */
  readonly restSeconds?: () => number
}

/**
 * Posts all charges that were committed before, or those of one borrower, and says which commits could not be. Nobody may do
 * it who holds the lock of an account.
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

/** Commits that one borrower made one after the other. */
interface Piece {
  readonly borrower_id: string
  readonly first: bigint
  readonly last: bigint
}

async function post(queryable: Queryable, statement: string, piece: Piece, restSeconds = 0): Promise<void> {
  await queryable.query(statement, [piece.borrower_id, piece.first, piece.last, restSeconds])
}

/** One of them was charged before or is refused: each is posted by itself, and without what was charged before. */
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

/** What waits, in pieces of about the same size. */
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
