import type { Queryable } from '../../storage/database.ts'
import type { MediaKind } from './media-order.ts'

export interface MediaRecord {
  readonly id: string
  readonly accountId: string
  readonly contentType: string
  readonly storeKey: string
  readonly bytes: number
  readonly expiresAt: Date
}

interface MediaRow {
  readonly id: string
  readonly account_id: string
  readonly content_type: string
  readonly store_key: string
  readonly bytes: string
  readonly expires_at: Date
}

/** A file that is about to be written; it expires soon unless it is completed. */
export interface NewMedia {
  readonly id: string
  readonly accountId: string
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly contentType: string
  readonly storeKey: string
  readonly unfinishedMs: number
}

export async function insertMedia(database: Queryable, media: NewMedia): Promise<void> {
  await database.query(
    `INSERT INTO media (id, account_id, purpose, kind, content_type, store_key, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now(), now() + $7 * interval '1 ms')`,
    [
      media.id,
      media.accountId,
      media.purpose,
      media.kind,
      media.contentType,
      media.storeKey,
      media.unfinishedMs,
    ],
  )
}

/** Null when it took so long that the row is being removed. */
export async function completeMedia(
  database: Queryable,
  { id, bytes, retentionMs }: { id: string; bytes: number; retentionMs: number },
): Promise<MediaRecord | null> {
  const [row] = await database.query<MediaRow>(
    `UPDATE media SET bytes = $2, expires_at = created_at + $3 * interval '1 ms'
     WHERE id = $1 AND removing_at IS NULL RETURNING ${COLUMNS}`,
    [id, bytes, retentionMs],
  )
  return row ? toRecord(row) : null
}

/** Null for what is not there, not whole, or past its time. */
export async function findMedia(database: Queryable, id: string): Promise<MediaRecord | null> {
  const [row] = await database.query<MediaRow>(
    `SELECT ${COLUMNS} FROM media
     WHERE id = $1 AND bytes IS NOT NULL AND expires_at > now() AND removing_at IS NULL`,
    [id],
  )
  return row ? toRecord(row) : null
}

const COLUMNS = 'id, account_id, content_type, store_key, bytes, expires_at'

function toRecord(row: MediaRow): MediaRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    contentType: row.content_type,
    storeKey: row.store_key,
    bytes: Number(row.bytes),
    expiresAt: row.expires_at,
  }
}
