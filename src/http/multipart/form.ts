/** What a route accepts as `multipart/form-data`. The fields are those of the route's body; the files are listed here. */
export interface FormDescription {
  /** Files by field name; `name[]` is the same field. Other files are skipped. */
  readonly files: Readonly<Record<string, FileRule>>
}

/** Room that was taken before the files of a form are read. */
export interface FormRoom {
  readonly id: string
  /** The files of the form may have so many bytes together. */
  readonly bytes: number
}

export interface FileRule {
  readonly countMax: number
  /** Limit for each file. */
  readonly bytesMax: number
  /** Whether it is required, as a file or as a member of the body. */
  readonly isRequired: boolean
  /** A member that may stand for it in a JSON body. */
  readonly otherName?: string
  /** Whether a JSON body has the file in base64 or as a data URI. It is then written to disk like an uploaded file. */
  readonly isBase64InJson?: true
  /** For the reference. */
  readonly description: string
}

/** An uploaded file, kept on disk until the request is answered. */
export interface UploadedFile {
  readonly field: string
  /** The client's file name without directories. Empty if it sent none. */
  readonly filename: string
  /** The type that the client declared. The real type is detected from the content. */
  readonly contentType: string
  readonly path: string
  readonly bytes: number
}

/** A completely read form. */
export interface Form {
  /** In the order of the request. */
  readonly fields: readonly FormField[]
  readonly files: readonly UploadedFile[]
  /** A hash of fields and files that does not depend on the boundary; empty if it was not requested. */
  readonly fingerprint: string
}

export interface FormField {
  readonly name: string
  readonly value: string
}

export const PARTS_MAX = 128
export const FIELD_BYTES_MAX = 128 * 1024
/** Limit for the headers and boundaries of all parts and for their text fields. */
const OVERHEAD_BYTES_MAX = 2 * 1024 * 1024

export function formBytesMax({ files }: FormDescription, room: FormRoom | null): number {
  const filesBytes = Object.values(files).reduce(
    (sum, { countMax, bytesMax }) => sum + countMax * bytesMax,
    0,
  )
  return Math.min(filesBytes, room?.bytes ?? Infinity) + OVERHEAD_BYTES_MAX
}
