import { Batches } from '../../kernel/batches.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { MediaKind } from './media-order.ts'

export interface MediaRecord {
  readonly id: string
  readonly accountId: string
  readonly projectId: string | null
  readonly contentType: string
  readonly storeKey: string
  readonly bytes: number
  readonly expiresAt: Date
}

interface MediaRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly content_type: string
  readonly store_key: string
  readonly bytes: string
  readonly expires_at: Date
}

/** A file that is about to be written. It expires soon unless it is completed. */
export interface NewMedia {
  readonly id: string
  readonly place: Place
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly contentType: string
  readonly storeKey: string
  readonly unfinishedMs: number
}

/** A file that has been written. */
export interface WrittenMedia {
  readonly id: string
  readonly bytes: number
  readonly retentionMs: number
}

const BATCH_MAX = 50

/** Writes the rows of files. Concurrent writes share their statements and commits. */
export class MediaRows {
  readonly #inserts: Batches<NewMedia, true>
  readonly #completions: Batches<WrittenMedia, MediaRecord | null>

  constructor(database: Queryable) {
    this.#inserts = new Batches((batch) => insertMedia(database, batch), BATCH_MAX)
    this.#completions = new Batches((batch) => completeMedia(database, batch), BATCH_MAX)
  }

  async insert(media: NewMedia): Promise<void> {
    await this.#inserts.add(media)
  }

  /** Returns null if it took so long that the row is already being deleted. */
  complete(media: WrittenMedia): Promise<MediaRecord | null> {
    return this.#completions.add(media)
  }
}

async function insertMedia(database: Queryable, batch: readonly NewMedia[]): Promise<true[]> {
  await database.query(
    `INSERT INTO media (id, account_id, project_id, purpose, kind, content_type, store_key, created_at, expires_at)
     SELECT id, account_id, project_id, purpose, kind, content_type, store_key, now(), now() + unfinished_ms * interval '1 ms'
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::uuid[])
       AS media (id, account_id, purpose, kind, content_type, store_key, unfinished_ms, project_id)`,
    [
      batch.map(({ id }) => id),
      batch.map(({ place }) => place.accountId),
      batch.map(({ purpose }) => purpose),
      batch.map(({ kind }) => kind),
      batch.map(({ contentType }) => contentType),
      batch.map(({ storeKey }) => storeKey),
      batch.map(({ unfinishedMs }) => unfinishedMs),
      batch.map(({ place }) => place.projectId),
    ],
  )
  return batch.map(() => true)
}

export async function completeMedia(
  database: Queryable,
  batch: readonly WrittenMedia[],
): Promise<(MediaRecord | null)[]> {
  const rows = await database.query<MediaRow>(
    `UPDATE media SET bytes = written.bytes, expires_at = created_at + retention_ms * interval '1 ms'
     FROM unnest($1::uuid[], $2::bigint[], $3::float8[]) AS written (written_id, bytes, retention_ms)
     WHERE id = written_id AND removing_at IS NULL
     RETURNING id, account_id, project_id, content_type, store_key, media.bytes, expires_at`,
    [batch.map(({ id }) => id), batch.map(({ bytes }) => bytes), batch.map(({ retentionMs }) => retentionMs)],
  )
  const records = new Map(rows.map((row) => [row.id, toRecord(row)]))
  return batch.map(({ id }) => records.get(id) ?? null)
}

/** Returns null if the file is missing, incomplete or expired. */
export async function findMedia(database: Queryable, id: string): Promise<MediaRecord | null> {
  const [row] = await database.query<MediaRow>(
    `SELECT id, account_id, project_id, content_type, store_key, bytes, expires_at FROM media
     WHERE id = $1 AND bytes IS NOT NULL AND expires_at > now() AND removing_at IS NULL`,
    [id],
  )
  return row ? toRecord(row) : null
}

function toRecord(row: MediaRow): MediaRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    contentType: row.content_type,
    storeKey: row.store_key,
    bytes: Number(row.bytes),
    expiresAt: row.expires_at,
  }
}
