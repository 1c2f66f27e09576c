import { invalidValue } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import type { Place } from '../../storage/place.ts'
import { refuseZeroRetention } from '../request-log/request-log.ts'
import { COLUMNS, fileFromRow, type FilePurpose, type FileRow, type StoredFile } from './file-row.ts'
import {
  growReservation,
  lockRoom,
  releaseRoom,
  reserveRoom,
  type ReserveParts,
  type Reservation,
} from './reserve-room.ts'

export interface StoreParts extends ReserveParts {
  readonly store: Pick<MediaStore, 'put' | 'delete'>
}

export interface FileOrder {
  /** Where it belongs. */
  readonly place: Place
  /** Whose key asks. */
  readonly keyId: string
  /** Results that have been paid for are stored even beyond the quotas. */
  readonly isResult?: true
  /** Room that was taken for it. Without one, room is taken while the bytes come. What is not used is given back. */
  readonly reservation?: Reservation
  /** How many bytes the source has, if that is known. */
  readonly bytes?: number
  readonly mimeType?: string
  readonly purpose: FilePurpose
  readonly filename: string
  readonly source: AsyncIterable<Uint8Array>
  readonly expiresAfterSeconds: number | null
  /** Called in the transaction that completes the file. Nothing remains of the file if it throws. */
  readonly onStored?: (transaction: Queryable, file: StoredFile) => Promise<void>
}

/** The largest file, and the largest one of requests for a batch. */
export const FILE_BYTES_MAX = 512 * 1024 * 1024
export const BATCH_FILE_BYTES_MAX = 200 * 1024 * 1024
const FILENAME_LENGTH_MAX = 255
/** How long writing a file may take before the file counts as abandoned. */
const UNFINISHED_HOURS = 24

/** Inserts the row, writes the file, then completes the row. If the process dies in between, the sweep finds the incomplete row. */
export async function storeFile(parts: StoreParts, order: FileOrder): Promise<StoredFile> {
  const { database, store, clock, quotaOf } = parts
  const { place } = order
  const { accountId, projectId } = place
  const reservation = await reservationOf(parts, order)
  const nowMs = clock.nowMs()
  const id = createId(nowMs)
  try {
    await database.query(
      `INSERT INTO files (id, account_id, project_id, purpose, filename, mime_type, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 hour')`,
      [
        id,
        accountId,
        projectId,
        order.purpose,
        nameOf(order.filename),
        mimeTypeOf(order.mimeType),
        new Date(nowMs),
        UNFINISHED_HOURS,
      ],
    )
    const source = reservation === null ? order.source : takeRoomFor(parts, order, reservation)
    const { bytes } = await store.put(id, source, 'application/octet-stream')
    if (bytes === 0 && reservation !== null) throw invalidValue('file', 'The file is empty.')
    const quotaBytes = reservation === null ? null : await quotaOf(accountId, 'file')
    return await database.transaction(async (transaction) => {
      if (reservation !== null) {
        // Before the room is counted, which then has what was reserved.
        await releaseRoom(transaction, reservation.id)
        const left = await lockRoom(transaction, { place, quotaBytes })
        left.require({ bytes, files: 1 })
      }
      await refuseZeroRetention(transaction, accountId, order.keyId)
      const file = await complete(transaction, { id, bytes, order })
      await order.onStored?.(transaction, file)
      return file
    })
  } catch (error) {
    // If the deletion fails, the sweep repeats it.
    await clear(parts, id).catch(() => {})
    if (reservation !== null) await releaseRoom(database, reservation.id).catch(() => {})
    throw error
  }
}

async function reservationOf(parts: StoreParts, order: FileOrder): Promise<Reservation | null> {
  if (order.isResult === true) return null
  const { place, reservation, bytes = 0 } = order
  if (reservation === undefined) return reserveRoom(parts, { place, bytes, bytesMax: FILE_BYTES_MAX })
  if (reservation.bytes >= bytes) return reservation
  const neededBytes = bytes - reservation.bytes
  await growReservation(parts, { place, id: reservation.id, neededBytes, stepBytes: 0 })
  return { ...reservation, bytes }
}

/** More is taken at once than is needed, so that not every chunk waits for the database. */
const GROWTH_BYTES = 16 * 1024 * 1024

/** Takes more room before bytes that were not expected are stored. */
async function* takeRoomFor(
  parts: StoreParts,
  { place, source }: FileOrder,
  reservation: Reservation,
): AsyncGenerator<Uint8Array, void> {
  let reservedBytes = reservation.bytes
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.byteLength
    if (bytes > reservedBytes)
      reservedBytes += await growReservation(parts, {
        place,
        id: reservation.id,
        neededBytes: bytes - reservedBytes,
        stepBytes: GROWTH_BYTES,
      })
    yield chunk
  }
}

interface WrittenFile {
  readonly id: string
  readonly bytes: number
  readonly order: FileOrder
}

async function complete(transaction: Queryable, { id, bytes, order }: WrittenFile): Promise<StoredFile> {
  const [row] = await transaction.query<FileRow>(
    `UPDATE files SET bytes = $2, expires_at = created_at + $3 * interval '1 second'
     WHERE id = $1 AND removing_at IS NULL RETURNING ${COLUMNS}`,
    [id, bytes, order.expiresAfterSeconds],
  )
  if (row === undefined) throw new Error('a file took too long to be written')
  return fileFromRow(row)
}

async function clear({ database, store }: StoreParts, id: string): Promise<void> {
  await store.delete(id)
  await database.query('DELETE FROM files WHERE id = $1', [id])
}

/** Without directories. Cut between characters, because half of one cannot be stored. */
export function nameOf(filename: string): string {
  const base = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
  const name = base.slice(0, FILENAME_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
  return name === '' ? 'file' : name
}

const MIME_TYPE = /^[a-z0-9.+-]{1,100}\/[a-z0-9.+-]{1,100}$/
/** What clients send that do not know. */
const VAGUE_TYPE = 'application/octet-stream'

/** What a client says of the type, if it says something. */
function mimeTypeOf(given: string | undefined): string | null {
  return given === undefined || given === VAGUE_TYPE || !MIME_TYPE.test(given) ? null : given
}
