/** The part of a file that a `Range` header asks for; `end` is the last byte. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

const SINGLE_RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i

/**
 * Returns null for the whole file: the header is missing, asks for several ranges, or is not understood, which RFC 9110 allows to
 * ignore. Returns `unsatisfiable` if the range is outside of the file.
 */
export function parseByteRange(
  header: string | undefined,
  bytes: number,
): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') {
    const length = Math.min(Number(last), bytes)
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (last !== '' && Number(last) < start) return null
  return start < bytes ? { start, end } : 'unsatisfiable'
}
