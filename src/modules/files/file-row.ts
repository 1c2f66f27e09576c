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
  readonly bytes: number
  readonly createdAtMs: number
  /** Null: it is kept until somebody deletes it. */
  readonly expiresAtMs: number | null
}

export interface FileRow {
  readonly id: string
  readonly purpose: FilePurpose
  readonly filename: string
  readonly bytes: bigint
  readonly created_at: Date
  readonly expires_at: Date | null
}

export const COLUMNS = 'id, purpose, filename, bytes, created_at, expires_at'

/** SQL: the file was written to its end and was neither deleted nor has it expired. */
export const IS_READABLE =
  'bytes IS NOT NULL AND removing_at IS NULL AND (expires_at IS NULL OR expires_at > now())'

export function fileFromRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    purpose: row.purpose,
    filename: row.filename,
    bytes: Number(row.bytes),
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
  }
}
