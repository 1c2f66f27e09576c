import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import type { Place } from '../../storage/place.ts'
import { requireRoom, takeRoom, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import { refuseZeroRetention } from '../request-log/request-log.ts'
import { COLUMNS, fileFromRow, type FilePurpose, type FileRow, type StoredFile } from './file-row.ts'

export interface StoreParts {
  readonly database: Database
  readonly store: Pick<MediaStore, 'put' | 'delete'>
  readonly clock: Clock
  readonly quotaOf: QuotaOf
}

export interface FileOrder {
  /** Where it belongs. */
  readonly place: Place
  /** Whose key asks. */
  readonly keyId: string
  /** Results that have been paid for are stored even beyond the quotas. */
  readonly isResult?: true
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
/** Of an account. A project other than `Default` may have half of the files, and of the bytes. */
const FILES_MAX = 10_000
const FILENAME_LENGTH_MAX = 255
/** How long writing a file may take before the file counts as abandoned. */
const UNFINISHED_HOURS = 24

/** Inserts the row, writes the file, then completes the row. If the process dies in between, the sweep finds the incomplete row. */
export async function storeFile(parts: StoreParts, order: FileOrder): Promise<StoredFile> {
  const { database, store, clock, quotaOf } = parts
  const { accountId, projectId } = order.place
  const isUpload = order.isResult !== true
  if (isUpload) await requireRoom(database, { quotaOf, kind: 'file', accountId })
  const nowMs = clock.nowMs()
  const id = createId(nowMs)
  await database.query(
    `INSERT INTO files (id, account_id, project_id, purpose, filename, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 hour')`,
    [id, accountId, projectId, order.purpose, nameOf(order.filename), new Date(nowMs), UNFINISHED_HOURS],
  )
  try {
    const { bytes } = await store.put(id, order.source, 'application/octet-stream')
    if (bytes === 0 && isUpload) throw invalidValue('file', 'The file is empty.')
    const bytesMax = isUpload ? await quotaOf(accountId, 'file') : null
    return await database.transaction(async (transaction) => {
      if (isUpload) await requireQuotas(transaction, order, { bytes, bytesMax })
      await refuseZeroRetention(transaction, accountId, order.keyId)
      const file = await complete(transaction, { id, bytes, order })
      await order.onStored?.(transaction, file)
      return file
    })
  } catch (error) {
    // If the deletion fails, the sweep repeats it.
    await clear(parts, id).catch(() => {})
    throw error
  }
}

interface NewBytes {
  readonly bytes: number
  readonly bytesMax: number | null
}

async function requireQuotas(
  transaction: Queryable,
  { place: { accountId, projectId } }: FileOrder,
  { bytes, bytesMax }: NewBytes,
): Promise<void> {
  // Always, because its lock also makes the number of files exact.
  await takeRoom(transaction, {
    kind: 'file',
    accountId,
    bytesMax: bytesMax ?? Number.MAX_SAFE_INTEGER,
    bytes,
    param: 'file',
  })
  const [kept] = await transaction.query<{ total: bigint; own: bigint; own_bytes: bigint }>(
    `SELECT count(*) AS total, count(*) FILTER (WHERE coalesce(project_id, account_id) = $2) AS own,
       coalesce(sum(bytes) FILTER (WHERE coalesce(project_id, account_id) = $2), 0)::bigint AS own_bytes
     FROM files WHERE account_id = $1 AND bytes IS NOT NULL AND removing_at IS NULL`,
    [accountId, projectId ?? accountId],
  )
  const { total = 0n, own = 0n, own_bytes: ownBytes = 0n } = kept ?? {}
  if (Number(total) >= FILES_MAX) throw tooMany('account', FILES_MAX)
  if (projectId === null || projectId === accountId) return
  if (Number(own) >= FILES_MAX / 2) throw tooMany('project', FILES_MAX / 2)
  if (bytesMax !== null && Number(ownBytes) + bytes > bytesMax / 2) {
    const message = `The files of this project take ${ownBytes} bytes of the ${Math.floor(bytesMax / 2)} that they may take, which is half of the account's. ${bytes} bytes more do not fit. Delete files to make room.`
    throw new AppError('request_too_large', message, { param: 'file' })
  }
}

function tooMany(owner: string, count: number): AppError {
  return new AppError('conflict', `This ${owner} may have ${count} files. Delete some first.`)
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

/** Cut between characters, because half of one cannot be stored. */
function nameOf(filename: string): string {
  const name = filename.slice(0, FILENAME_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
  return name === '' ? 'file' : name
}
