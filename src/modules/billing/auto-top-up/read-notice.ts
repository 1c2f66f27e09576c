import { notFound } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'

/** What an account was told. */
export interface Notice {
  readonly id: string
  /** `auto_top_up.charged` */
  readonly type: string
  readonly data: object
  /** The same for people. */
  readonly subject: string
  readonly text: string
  readonly createdAtMs: number
}

export async function readNotice(queryable: Queryable, accountId: string, id: string): Promise<Notice> {
  const [row] = await queryable.query<Omit<Notice, 'createdAtMs'> & { created_at: Date }>(
    'SELECT id, type, data, subject, text, created_at FROM account_notices WHERE id = $1 AND account_id = $2',
    [id, accountId],
  )
  if (row === undefined) throw notFound('notice')
  const { created_at: createdAt, ...notice } = row
  return { ...notice, createdAtMs: createdAt.getTime() }
}

/** As long as budget alerts. */
const KEPT_DAYS = 400
const DELETED_AT_ONCE = 10_000

/** Deletes old notices, with the deliveries that told of them. */
export async function sweepNotices(queryable: Queryable): Promise<void> {
  await queryable.query(
    `DELETE FROM account_notices WHERE id IN (
       SELECT id FROM account_notices WHERE created_at < now() - $1 * interval '1 day' LIMIT $2)`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  )
}
