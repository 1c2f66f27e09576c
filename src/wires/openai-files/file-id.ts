const FILE_ID = /^file[-_]([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** The id of a file for clients, such as `file-01a1f453a9a9711e9615a634c727deac`. */
export function fileIdOf(uuid: string): string {
  return `file-${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of a file of this gateway. */
export function uuidOfFile(fileId: string): string | null {
  const parts = FILE_ID.exec(fileId)
  return parts === null ? null : parts.slice(1).join('-')
}
