/** A data URI, taken apart. */
export interface DataUri {
  /** In lower case; empty if the URI states none. */
  readonly mediaType: string
  readonly isBase64: boolean
  /** Where the data begins. */
  readonly start: number
}

export function isDataUri(text: string): boolean {
  return SCHEME.test(text)
}

/**
 * Returns null for a URI that two readers could take for different things: one with an odd type, or with characters before its
 * data that belong to no header.
 */
export function parseDataUri(text: string): DataUri | null {
  const beginning = text.slice(0, HEAD_LENGTH_MAX)
  const head = HEAD.exec(beginning)
  if (head === null) return null
  const [whole, mediaType = '', parameters = ''] = head
  const isBase64 = parameters
    .toLowerCase()
    .split(';')
    .some((parameter) => parameter.trim() === 'base64')
  // Some readers look for this mark, others for the first comma.
  if (!isBase64 && BASE64_MARK.test(beginning)) return null
  return { mediaType: mediaType.toLowerCase(), isBase64, start: whole.length }
}

/** Decodes the beginning of the data. Returns null if it is not in the encoding that the URI states. */
export function readDataHead(text: string, { isBase64, start }: DataUri, bytes: number): Buffer | null {
  if (isBase64) return readBase64Head(text, start, bytes)
  const encoded = text.slice(start, start + bytes * PERCENT_LENGTH)
  const decoded = encoded.replace(/%([0-9a-f]{2})/gi, (_whole, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  )
  return Buffer.from(decoded, 'latin1').subarray(0, bytes)
}

/** The same for base64 without a header. */
export function readBase64Head(text: string, start: number, bytes: number): Buffer | null {
  const encoded = text.slice(start, start + Math.ceil(bytes / 3) * 4)
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64').subarray(0, bytes) : null
}

const SCHEME = /^data:/i
const HEAD_LENGTH_MAX = 256
const HEAD = /^data:([\w.+-]+\/[\w.+*-]+)?((?:;[^;,"]*)*),/i
const BASE64_MARK = /;\s*base64\s*,/i
/** Line breaks are common in base64, and decoders skip them. */
const BASE64 = /^[A-Za-z0-9+/_\s-]*=*\s*$/
/** `%41` is one byte. */
const PERCENT_LENGTH = 3
