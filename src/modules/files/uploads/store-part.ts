import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Place } from '../../../storage/place.ts'
import { lockRoom, type Room } from '../reserve-room.ts'
import type { Upload, UploadPart } from './upload-row.ts'
import { lockUpload, requirePending, type UploadParts } from './lock-upload.ts'

export const PART_BYTES_MAX = 64 * 1024 * 1024
const PARTS_MAX = 1_000
/** What a form has around its file. It is not part of the file. */
const FORM_OVERHEAD_BYTES = 4096
/** A client that lost an answer sends a part again: both are kept until the upload ends. */
const AGAIN_BYTES_MAX = 2 * PART_BYTES_MAX

/** A part whose bytes are still to come. */
export interface PartReservation {
  readonly id: string
  readonly bytes: number
}

export interface PartOrder {
  readonly source: AsyncIterable<Uint8Array>
  readonly bytes: number
  /** Room that was taken before. */
  readonly reservation?: PartReservation
}

/** Takes room for a part before its bytes are stored. */
export async function reservePart(
  parts: UploadParts,
  place: Place,
  uploadId: string,
  bytes: number | null,
): Promise<PartReservation> {
  const nowMs = parts.clock.nowMs()
  const id = createId(nowMs)
  return withUpload(parts, place, uploadId, async (transaction, upload, room) => {
    // What a form says that is longer than any is refused when it is read.
    const taken = Math.min(bytes ?? upload.bytes, PART_BYTES_MAX + FORM_OVERHEAD_BYTES)
    const [counted] = await transaction.query<{ count: bigint }>(
      'SELECT count(*) AS count FROM upload_parts WHERE upload_id = $1',
      [uploadId],
    )
    if (Number(counted?.count ?? 0) >= PARTS_MAX)
      throw new AppError('invalid_request', `An upload has ${PARTS_MAX} parts at most.`)
    await transaction.query(
      'INSERT INTO upload_parts (id, upload_id, bytes, created_at) VALUES ($1, $2, $3, $4)',
      [id, uploadId, taken, new Date(nowMs)],
    )
    await fitParts(transaction, upload, room)
    return { id, bytes: taken }
  })
}

export async function storePart(
  parts: UploadParts,
  place: Place,
  uploadId: string,
  { source, bytes, reservation }: PartOrder,
): Promise<UploadPart> {
  if (bytes === 0) throw invalidValue('data', 'The part is empty.')
  const { database, store } = parts
  const { id } = reservation ?? (await reservePart(parts, place, uploadId, bytes))
  try {
    const stored = await store.put(id, source, 'application/octet-stream')
    return await withUpload(parts, place, uploadId, async (transaction, upload, room) => {
      const [row] = await transaction.query<{ created_at: Date }>(
        `UPDATE upload_parts SET bytes = $2, is_stored = true WHERE id = $1 AND removing_at IS NULL RETURNING created_at`,
        [id, stored.bytes],
      )
      if (row === undefined) throw new Error('a part was removed while it was stored')
      await fitParts(transaction, upload, room)
      return { id, uploadId, createdAtMs: row.created_at.getTime() }
    })
  } catch (error) {
    // What is in the store must not be forgotten before it is removed there. If that fails, the sweep does it.
    await database
      .query('UPDATE upload_parts SET removing_at = now() WHERE id = $1', [id])
      .then(() => store.delete(id))
      .then(() => database.query('DELETE FROM upload_parts WHERE id = $1', [id]))
      .catch(() => {})
    throw error
  }
}

async function withUpload<Result>(
  { database, quotaOf }: UploadParts,
  place: Place,
  uploadId: string,
  work: (transaction: Queryable, upload: Upload, room: Room) => Promise<Result>,
): Promise<Result> {
  const quotaBytes = await quotaOf(place.accountId, 'file')
  return database.transaction(async (transaction) => {
    const room = await lockRoom(transaction, { place, quotaBytes })
    const upload = await lockUpload(transaction, place, uploadId)
    requirePending(upload)
    return work(transaction, upload, room)
  })
}

/** Takes more room if the parts are longer together than the file, because some were sent again. */
async function fitParts(transaction: Queryable, upload: Upload, room: Room): Promise<void> {
  const [row] = await transaction.query<{ parts: bigint; reserved: bigint }>(
    `SELECT (SELECT bytes FROM file_reservations WHERE id = $1) AS reserved,
       sum(CASE WHEN is_stored THEN bytes ELSE greatest(bytes - $2, 0) END)::bigint AS parts
     FROM upload_parts WHERE upload_id = $1`,
    [upload.id, FORM_OVERHEAD_BYTES],
  )
  const bytes = Number(row?.parts ?? 0)
  const moreBytes = bytes - Number(row?.reserved ?? 0)
  if (moreBytes <= 0) return
  if (bytes > 2 * upload.bytes + AGAIN_BYTES_MAX) {
    const message = `The parts have ${bytes} bytes together, and the file was declared with ${upload.bytes}.`
    throw new AppError('request_too_large', message, { param: 'data' })
  }
  room.require({ bytes: moreBytes, files: 0 })
  await transaction.query('UPDATE file_reservations SET bytes = bytes + $2 WHERE id = $1', [
    upload.id,
    moreBytes,
  ])
}
