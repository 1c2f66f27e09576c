import type { Queryable } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { isBadData } from './commit-failure.ts'
import { POST_ALL, POST_NEW } from './posting-statement.ts'

/** A commit that the books do not take. It stays where it is, for somebody to look at. */
export interface RefusedCommit {
  readonly id: bigint
  readonly reason: string
}

const COMMITS_AT_ONCE_MAX = 100

/**
 * Posts all charges that were committed before, or those of one borrower, and says which commits could not be. Nobody may do
 * it who holds the lock of an account.
 */
export async function postCharges(
  queryable: Queryable,
  { borrowerId = null }: { borrowerId?: string | null } = {},
): Promise<RefusedCommit[]> {
  const [row] = await queryable.query<{ last: bigint | null }>(LAST, [borrowerId])
  const lastId = row?.last ?? null
  const refused: RefusedCommit[] = []
  if (lastId === null) return refused
  for (let posted = COMMITS_AT_ONCE_MAX; posted === COMMITS_AT_ONCE_MAX;) {
    posted = await postSome(queryable, { firstId: 0n, lastId, borrowerId }).catch(async (error: unknown) => {
      if (!isBadData(error)) throw error
      return postEach(queryable, { firstId: 0n, lastId, borrowerId }, refused)
    })
  }
  return refused
}

interface CommitRange {
  readonly firstId: bigint
  readonly lastId: bigint
  readonly borrowerId: string | null
}

async function postSome(queryable: Queryable, range: CommitRange, statement = POST_ALL): Promise<number> {
  const { firstId, lastId, borrowerId } = range
  const [row] = await queryable.query<{ posted: number }>(statement, [
    firstId,
    lastId,
    borrowerId,
    COMMITS_AT_ONCE_MAX,
  ])
  return row?.posted ?? 0
}

/** One of them was charged before or is refused: each is posted by itself, and without what was charged before. */
async function postEach(queryable: Queryable, range: CommitRange, refused: RefusedCommit[]): Promise<number> {
  const { firstId, lastId, borrowerId } = range
  const rows = await queryable.query<{ id: bigint }>(LIST, [firstId, lastId, borrowerId, COMMITS_AT_ONCE_MAX])
  for (const { id } of rows) {
    try {
      await postSome(queryable, { firstId: id, lastId: id, borrowerId }, POST_NEW)
    } catch (error) {
      if (!isBadData(error)) throw error
      await queryable.query(REFUSE, [id, messageOf(error)])
      refused.push({ id, reason: messageOf(error) })
    }
  }
  return rows.length
}

const WAITING = 'refusal IS NULL AND ($1::uuid IS NULL OR borrower_id = $1)'
const LAST = `SELECT max(id) AS last FROM charge_journal WHERE ${WAITING}`

const LIST = `
  SELECT id FROM charge_journal
  WHERE id BETWEEN $1 AND $2 AND refusal IS NULL AND ($3::uuid IS NULL OR borrower_id = $3) ORDER BY id LIMIT $4`

const REFUSE = 'UPDATE charge_journal SET refusal = $2 WHERE id = $1'
