import type { Place } from '../../../storage/place.ts'
import type { FilePurpose } from '../file-row.ts'

type UploadStatus = 'pending' | 'completed' | 'cancelled' | 'expired'

/** A file that arrives in parts. */
export interface Upload {
  readonly id: string
  readonly place: Place
  readonly purpose: FilePurpose
  readonly filename: string
  readonly mimeType: string
  /** Of the whole file, as declared. */
  readonly bytes: number
  readonly fileExpiresAfterSeconds: number | null
  readonly status: UploadStatus
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly checksums: number
  /** In the order of the completed file. */
  readonly partIds: readonly string[]
  readonly fileId: string | null
}

export interface UploadPart {
  readonly id: string
  readonly uploadId: string
  readonly createdAtMs: number
}

export interface UploadRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly purpose: FilePurpose
  readonly filename: string
  readonly mime_type: string
  readonly bytes: bigint
  readonly file_expires_after_seconds: number | null
  readonly status: UploadStatus
  readonly created_at: Date
  readonly expires_at: Date
  readonly checksums: number
  readonly part_ids: readonly string[] | null
  readonly file_id: string | null
}

/** One that was not swept yet has expired too. */
export const UPLOAD_COLUMNS = `id, account_id, project_id, purpose, filename, mime_type, bytes, file_expires_after_seconds,
  CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END AS status, created_at, expires_at,
  checksums, part_ids, file_id`

export function uploadFromRow(row: UploadRow): Upload {
  return {
    id: row.id,
    place: { accountId: row.account_id, projectId: row.project_id },
    purpose: row.purpose,
    filename: row.filename,
    mimeType: row.mime_type,
    bytes: Number(row.bytes),
    fileExpiresAfterSeconds: row.file_expires_after_seconds,
    status: row.status,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    checksums: row.checksums,
    partIds: row.part_ids ?? [],
    fileId: row.file_id,
  }
}
