import { createHash } from 'node:crypto'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Place } from '../../../storage/place.ts'
import { refuseZeroRetention } from '../../request-log/request-log.ts'
import { COLUMNS, fileFromRow, IS_READABLE, type FileRow, type StoredFile } from '../file-row.ts'
import { releaseRoom } from '../reserve-room.ts'
import { openParts, type PartInStore } from './open-parts.ts'
import type { Upload } from './upload-row.ts'
import { leaveParts, lockUpload, requirePending, type UploadParts } from './lock-upload.ts'

export interface Completion {
  readonly keyId: string
  /** In the order of the file. */
  readonly partIds: readonly string[]
  /** What the client computed of the whole file, as 32 hexadecimal digits. */
  readonly md5: string | null
}

export interface CompletedUpload {
  readonly upload: Upload
  readonly file: StoredFile | null
}

/** Each reads the whole file. */
const CHECKSUMS_MAX = 5

/** The parts become a file where they lie: nothing is copied. */
export async function completeUpload(
  parts: UploadParts,
  place: Place,
  uploadId: string,
  completion: Completion,
): Promise<CompletedUpload> {
  const { database } = parts
  if (new Set(completion.partIds).size !== completion.partIds.length)
    throw invalidValue('part_ids', 'part_ids names a part twice.')
  if (completion.md5 !== null) await checkSum(parts, place, uploadId, completion)
  return database.transaction(async (transaction) => {
    const upload = await lockUpload(transaction, place, uploadId)
    if (upload.status === 'completed') return readCompleted(transaction, upload, completion)
    const found = await requireParts(transaction, upload, completion)
    await refuseZeroRetention(transaction, upload.place.accountId, completion.keyId)
    const file = await insertFile(transaction, upload, createId(parts.clock.nowMs()))
    await transaction.query(
      `UPDATE upload_parts SET file_id = $2, position = array_position($3::uuid[], id) WHERE id = ANY ($3::uuid[]) AND upload_id = $1`,
      [uploadId, file.id, found.map(({ id }) => id)],
    )
    await transaction.query(
      `UPDATE uploads SET status = 'completed', part_ids = $2, file_id = $3 WHERE id = $1`,
      [uploadId, completion.partIds, file.id],
    )
    await leaveParts(transaction, [uploadId])
    await releaseRoom(transaction, uploadId)
    return { upload: { ...upload, status: 'completed', partIds: completion.partIds, fileId: file.id }, file }
  })
}

/** Before the parts become a file, because it takes long. Parts do not change. */
async function checkSum(
  { database, store }: UploadParts,
  place: Place,
  uploadId: string,
  completion: Completion,
): Promise<void> {
  const found = await database.transaction(async (transaction) => {
    const upload = await lockUpload(transaction, place, uploadId)
    if (upload.status === 'completed') return null
    const inStore = await requireParts(transaction, upload, completion)
    if (upload.checksums >= CHECKSUMS_MAX)
      throw new AppError('invalid_request', `The md5 of an upload is checked ${CHECKSUMS_MAX} times at most.`)
    await transaction.query('UPDATE uploads SET checksums = checksums + 1 WHERE id = $1', [uploadId])
    return inStore
  })
  if (found === null) return
  const source = await openParts(store, found)
  if (source === null) throw new AppError('invalid_request', 'This upload has ended.')
  const hash = createHash('md5')
  for await (const chunk of source as AsyncIterable<Uint8Array>) hash.update(chunk)
  if (hash.digest('hex') !== completion.md5?.toLowerCase())
    throw invalidValue('md5', 'The parts have another md5. Send them again, or in another order.')
}

function readCompleted(
  transaction: Queryable,
  upload: Upload,
  { partIds }: Completion,
): Promise<CompletedUpload> {
  const isSame =
    partIds.length === upload.partIds.length && partIds.every((id, index) => id === upload.partIds[index])
  if (!isSame) throw new AppError('invalid_request', 'This upload was completed with other parts.')
  return transaction
    .query<FileRow>(`SELECT ${COLUMNS} FROM files WHERE id = $1 AND ${IS_READABLE}`, [upload.fileId])
    .then(([row]) => ({ upload, file: row === undefined ? null : fileFromRow(row) }))
}

/** Throws unless the named parts are the whole file. */
async function requireParts(
  transaction: Queryable,
  upload: Upload,
  { partIds }: Completion,
): Promise<PartInStore[]> {
  requirePending(upload)
  const rows = await transaction.query<{ id: string; bytes: bigint }>(
    'SELECT id, bytes FROM upload_parts WHERE upload_id = $1 AND id = ANY ($2::uuid[]) AND is_stored AND removing_at IS NULL',
    [upload.id, partIds],
  )
  const bytesOf = new Map(rows.map(({ id, bytes }) => [id, Number(bytes)]))
  const found = partIds.map((id, index) => {
    const bytes = bytesOf.get(id)
    if (bytes === undefined)
      throw invalidValue(`part_ids.${index}`, 'This is not a part of the upload that was stored.')
    return { id, bytes }
  })
  const bytes = found.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes === upload.bytes) return found
  const message = `The parts have ${bytes} bytes together, and the file was declared with ${upload.bytes}.`
  throw invalidValue('part_ids', message)
}

async function insertFile(transaction: Queryable, upload: Upload, id: string): Promise<StoredFile> {
  const { accountId, projectId } = upload.place
  const [row] = await transaction.query<FileRow>(
    `INSERT INTO files (id, account_id, project_id, purpose, filename, mime_type, bytes, is_in_parts, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, true, now(), now() + $8 * interval '1 second')
     RETURNING ${COLUMNS}`,
    [
      id,
      accountId,
      projectId,
      upload.purpose,
      upload.filename,
      upload.mimeType,
      upload.bytes,
      upload.fileExpiresAfterSeconds,
    ],
  )
  if (row === undefined) throw new Error('a file was not inserted')
  return fileFromRow(row)
}
