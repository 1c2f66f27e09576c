import { AppError, notFound } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { MediaStore } from '../../../storage/media-store/media-store.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'
import type { ReserveParts } from '../reserve-room.ts'
import { uploadFromRow, UPLOAD_COLUMNS, type Upload, type UploadRow } from './upload-row.ts'

export interface UploadParts extends ReserveParts {
  readonly store: Pick<MediaStore, 'put' | 'open' | 'delete'>
}

/** Others wait for what is done with the upload until the transaction ends. */
export async function lockUpload(transaction: Queryable, place: Place, uploadId: string): Promise<Upload> {
  const [row] = await transaction.query<UploadRow>(
    `SELECT ${UPLOAD_COLUMNS} FROM uploads WHERE id = $1 AND ${isWithin(place, '$2')} FOR UPDATE`,
    [uploadId, idsOf(place)],
  )
  if (row === undefined) throw notFound('upload')
  return uploadFromRow(row)
}

export function requirePending({ status }: Upload): void {
  if (status !== 'pending') throw new AppError('invalid_request', `This upload is ${status}.`)
}

/** The sweep removes parts that belong to no file. */
export async function leaveParts(queryable: Queryable, uploadIds: readonly string[]): Promise<void> {
  await queryable.query(
    `UPDATE upload_parts SET removing_at = now() - interval '1 day'
     WHERE upload_id = ANY ($1::uuid[]) AND file_id IS NULL AND removing_at IS NULL`,
    [uploadIds],
  )
}
