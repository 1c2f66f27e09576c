import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Place } from '../../../storage/place.ts'
import { refuseZeroRetention } from '../../request-log/request-log.ts'
import type { FilePurpose } from '../file-row.ts'
import { insertReservation, releaseRoom } from '../reserve-room.ts'
import { BATCH_FILE_BYTES_MAX, nameOf } from '../store-file.ts'
import { completeUpload, type CompletedUpload, type Completion } from './complete-upload.ts'
import { leaveParts, lockUpload, requirePending, type UploadParts } from './lock-upload.ts'
import { sweepParts } from './sweep-uploads.ts'
import { reservePart, storePart, type PartOrder, type PartReservation } from './store-part.ts'
import { uploadFromRow, UPLOAD_COLUMNS, type Upload, type UploadPart, type UploadRow } from './upload-row.ts'

/** The largest file that comes in parts. */
export const UPLOAD_BYTES_MAX = 8 * 1024 * 1024 * 1024
export { PART_BYTES_MAX } from './store-part.ts'
export type { Upload } from './upload-row.ts'

/** Files that arrive in parts, within an hour. */
export interface Uploads {
  /** Takes room for the whole file. */
  create(order: UploadOrder): Promise<Upload>
  /** Takes room for a part before its bytes come. */
  reservePart(place: Place, uploadId: string, bytes: number | null): Promise<PartReservation>
  /** Forgets a part that was not stored. */
  releasePart(partId: string): Promise<void>
  storePart(place: Place, uploadId: string, order: PartOrder): Promise<UploadPart>
  /** The same parts again give the same file. Null: the file was deleted since. */
  complete(place: Place, uploadId: string, completion: Completion): Promise<CompletedUpload>
  cancel(place: Place, uploadId: string): Promise<Upload>
}

interface UploadOrder {
  readonly place: Place
  readonly keyId: string
  readonly purpose: FilePurpose
  readonly filename: string
  readonly mimeType: string
  readonly bytes: number
  readonly fileExpiresAfterSeconds: number | null
}

export function createUploads(parts: UploadParts): Uploads {
  const { database } = parts
  return {
    create: (order) => createUpload(parts, order),
    reservePart: (...order) => reservePart(parts, ...order),
    releasePart: async (partId) => {
      await database.query(
        'DELETE FROM upload_parts WHERE id = $1 AND NOT is_stored AND removing_at IS NULL',
        [partId],
      )
    },
    storePart: (...order) => storePart(parts, ...order),
    complete: async (...order) => {
      const completed = await completeUpload(parts, ...order)
      await removeLeft(parts)
      return completed
    },
    cancel: async (place, uploadId) => {
      const cancelled = await database.transaction((transaction) => cancel(transaction, place, uploadId))
      await removeLeft(parts)
      return cancelled
    },
  }
}

/** At once, because their room is free already: uploads that begin and end all the time would fill the store. The sweep removes the rest. */
async function removeLeft(parts: UploadParts): Promise<void> {
  await sweepParts(parts).catch(() => {})
}

async function createUpload(
  { database, clock, quotaOf }: UploadParts,
  { place, keyId, bytes, purpose, ...order }: UploadOrder,
): Promise<Upload> {
  const bytesMax = purpose === 'batch' ? BATCH_FILE_BYTES_MAX : UPLOAD_BYTES_MAX
  if (bytes > bytesMax) {
    const message = `A file for ${purpose} has ${bytesMax / 1024 / 1024} MB at most.`
    throw new AppError('request_too_large', message, { param: 'bytes' })
  }
  const quotaBytes = await quotaOf(place.accountId, 'file')
  const nowMs = clock.nowMs()
  const id = createId(nowMs)
  return database.transaction(async (transaction) => {
    await insertReservation(transaction, id, { place, bytes, bytesMax, quotaBytes })
    await refuseZeroRetention(transaction, place.accountId, keyId)
    const [row] = await transaction.query<UploadRow>(
      `INSERT INTO uploads (id, account_id, project_id, purpose, filename, mime_type, bytes, file_expires_after_seconds,
         created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
         (SELECT expires_at FROM file_reservations WHERE id = $1))
       RETURNING ${UPLOAD_COLUMNS}`,
      [
        id,
        place.accountId,
        place.projectId,
        purpose,
        nameOf(order.filename),
        order.mimeType,
        bytes,
        order.fileExpiresAfterSeconds,
        new Date(nowMs),
      ],
    )
    if (row === undefined) throw new Error('an upload was not inserted')
    return uploadFromRow(row)
  })
}

async function cancel(transaction: Queryable, place: Place, uploadId: string): Promise<Upload> {
  const upload = await lockUpload(transaction, place, uploadId)
  if (upload.status === 'cancelled') return upload
  requirePending(upload)
  await transaction.query(`UPDATE uploads SET status = 'cancelled' WHERE id = $1`, [uploadId])
  await leaveParts(transaction, [uploadId])
  await releaseRoom(transaction, uploadId)
  return { ...upload, status: 'cancelled' }
}
