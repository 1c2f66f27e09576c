import { parseDataUri } from './data-uri.ts'
import { readImageSize, type ImageSize } from './read-image-size.ts'

/** Reads the size of an image from its data URI. Decodes only a few parts, however large the image is. */
export function readInlineImageSize(dataUri: string): ImageSize | null {
  const start = findPayload(dataUri)
  if (start === -1) return null
  let endBytes = 0
  const size = readImageSize((offset, count) => {
    endBytes = Math.max(endBytes, offset + count)
    return readBytes(dataUri, start, offset, count)
  })
  // Decoders skip other characters, which would shift what was read.
  const read = dataUri.slice(start, start + Math.ceil(endBytes / 3) * 4)
  return size !== null && PLAIN_BASE64.test(read) ? size : null
}

/** Returns where the base64 of a data URI begins, or -1 if it has none. */
export function findPayload(dataUri: string): number {
  const parsed = parseDataUri(dataUri)
  return parsed?.isBase64 === true ? parsed.start : -1
}

/** Decodes some bytes from the middle of base64 text, without decoding what is before them. */
export function readBytes(text: string, start: number, offset: number, count: number): Buffer {
  const skipped = offset % 3
  const from = start + ((offset - skipped) / 3) * 4
  const length = Math.ceil((skipped + count) / 3) * 4
  return Buffer.from(text.slice(from, from + length), 'base64').subarray(skipped, skipped + count)
}

const PLAIN_BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/
