/** What a route takes as `multipart/form-data`. Its fields are those of the route's body, its files are named here. */
export interface FormDescription {
  /** Files by field name; `name[]` is the same field. Other files are skipped. */
  readonly files: Readonly<Record<string, FileRule>>
}

export interface FileRule {
  readonly countMax: number
  /** Of each. */
  readonly bytesMax: number
  /** Whether it is required, as a file or as a member of the body. */
  readonly isRequired: boolean
  /** In a JSON body the member is the file in base64, or as a data URI, and is written to the disk like an uploaded one. */
  readonly isBase64InJson?: true
  /** For the reference. */
  readonly description: string
}

/** A file as it came, on disk until the request is answered. */
export interface UploadedFile {
  readonly field: string
  /** Of the client, without its folders; empty where it gave none. */
  readonly filename: string
  /** The type that the client claims; the content decides. */
  readonly contentType: string
  readonly path: string
  readonly bytes: number
}

/** A form that was read to its end. */
export interface Form {
  /** In the order they came. */
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
/** Headers and boundaries of the parts, and their text fields. */
const OVERHEAD_BYTES_MAX = 2 * 1024 * 1024

export function formBytesMax({ files }: FormDescription): number {
  return Object.values(files).reduce(
    (sum, { countMax, bytesMax }) => sum + countMax * bytesMax,
    OVERHEAD_BYTES_MAX,
  )
}
