/** What clients upload files for. */
export const UPLOAD_PURPOSES = ['batch', 'user_data', 'vision', 'assistants', 'fine-tune', 'evals'] as const

/** Also what the gateway writes itself: the results of batches. */
export const FILE_PURPOSES = [...UPLOAD_PURPOSES, 'batch_output'] as const
export type FilePurpose = (typeof FILE_PURPOSES)[number]

/** A file of an account. Its bytes are in the media store. */
export interface StoredFile {
  readonly id: string
  readonly purpose: FilePurpose
  readonly filename: string
  /** As the client said. Null for files of before it was kept, and for results. */
  readonly mimeType: string | null
  readonly bytes: number
  /** Whether its bytes are stored under the ids of its parts. */
  readonly isInParts: boolean
  readonly createdAtMs: number
  /** Null: it is kept until somebody deletes it. */
  readonly expiresAtMs: number | null
}

export interface FileRow {
  readonly id: string
  readonly purpose: FilePurpose
  readonly filename: string
  readonly mime_type: string | null
  readonly bytes: bigint
  readonly is_in_parts: boolean | null
  readonly created_at: Date
  readonly expires_at: Date | null
}

export const COLUMNS = 'id, purpose, filename, mime_type, bytes, is_in_parts, created_at, expires_at'

/** SQL: the file was written to its end and was neither deleted nor has it expired. */
export const IS_READABLE =
  'bytes IS NOT NULL AND removing_at IS NULL AND (expires_at IS NULL OR expires_at > now())'

export function fileFromRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    purpose: row.purpose,
    filename: row.filename,
    mimeType: row.mime_type,
    bytes: Number(row.bytes),
    isInParts: row.is_in_parts === true,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
  }
}
