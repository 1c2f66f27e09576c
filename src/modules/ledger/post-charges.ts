import type { Queryable } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { isBadData } from './commit-failure.ts'
import { POST_ALL, POST_NEW } from './posting-statement.ts'

/** A commit that the books do not take. It stays where it is, for somebody to look at. */
export interface RefusedCommit {
  readonly id: bigint
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
  const pieces = await queryable.query<CommitRange>(DIVIDE, [borrowerId, BYTES_AT_ONCE])
  for (const piece of pieces) {
    await postPiece(queryable, { piece, borrowerId, restSeconds: restSeconds() }).catch(
      async (error: unknown) => {
        if (!isBadData(error)) throw error
        await postEach(queryable, { piece, borrowerId }, refused)
      },
    )
  }
  return refused
}

interface CommitRange {
  readonly first: bigint
  readonly last: bigint
}

interface Piece {
  readonly piece: CommitRange
  readonly borrowerId: string | null
}

async function postPiece(
  queryable: Queryable,
  { piece, borrowerId, restSeconds = 0 }: Piece & { restSeconds?: number },
  statement = POST_ALL,
): Promise<void> {
  await queryable.query(statement, [piece.first, piece.last, borrowerId, restSeconds])
}

/** One of them was charged before or is refused: each is posted by itself, and without what was charged before. */
async function postEach(
  queryable: Queryable,
  { piece, borrowerId }: Piece,
  refused: RefusedCommit[],
): Promise<void> {
  const rows = await queryable.query<{ id: bigint }>(LIST, [piece.first, piece.last, borrowerId])
  for (const { id } of rows) {
    try {
      await postPiece(queryable, { piece: { first: id, last: id }, borrowerId }, POST_NEW)
    } catch (error) {
      if (!isBadData(error)) throw error
      await queryable.query(REFUSE, [id, messageOf(error)])
      refused.push({ id, reason: messageOf(error) })
    }
  }
}

/** What waits, in pieces of about the same size. */
const DIVIDE = `
  SELECT min(id) AS first, max(id) AS last
  FROM (
    SELECT id, sum(octet_length(charges)) OVER (ORDER BY id) / $2 AS piece
    FROM charge_journal WHERE refusal IS NULL AND ($1::uuid IS NULL OR borrower_id = $1)
  ) AS waiting
  GROUP BY piece ORDER BY piece`

const LIST = `
  SELECT id FROM charge_journal
  WHERE id BETWEEN $1 AND $2 AND refusal IS NULL AND ($3::uuid IS NULL OR borrower_id = $3) ORDER BY id`

const REFUSE = 'UPDATE charge_journal SET refusal = $2 WHERE id = $1'
