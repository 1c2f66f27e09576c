const DIGITS = '([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})'
const FILE_ID = new RegExp(`^file[-_]${DIGITS}$`)
const UPLOAD_ID = new RegExp(`^upload_${DIGITS}$`)
const PART_ID = new RegExp(`^part_${DIGITS}$`)

/** The id of a file for clients, such as `file-01a1f453a9a9711e9615a634c727deac`. */
export function fileIdOf(uuid: string): string {
  return `file-${uuid.replaceAll('-', '')}`
}

/** The id of a file in Anthropic's form: the same digits, so that each of both names the file for every client. */
export function messageFileIdOf(uuid: string): string {
  return `file_${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of a file of this gateway, in either form. */
export function uuidOfFile(fileId: string): string | null {
  return joinDigits(FILE_ID.exec(fileId))
}

export function uploadIdOf(uuid: string): string {
  return `upload_${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of an upload of this gateway. */
export function uuidOfUpload(uploadId: string): string | null {
  return joinDigits(UPLOAD_ID.exec(uploadId))
}

export function partIdOf(uuid: string): string {
  return `part_${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of a part of this gateway. */
export function uuidOfPart(partId: string): string | null {
  return joinDigits(PART_ID.exec(partId))
}

function joinDigits(parts: RegExpExecArray | null): string | null {
  return parts === null ? null : parts.slice(1).join('-')
}
