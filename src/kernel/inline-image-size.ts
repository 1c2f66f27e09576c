import { readImageSize, type ImageSize } from './read-image-size.ts'

/** Reads the size of an image from its data URI. Decodes only a few parts, however large the image is. */
export function readInlineImageSize(dataUri: string): ImageSize | null {
  const start = findPayload(dataUri)
  return start === -1 ? null : readImageSize((offset, count) => readBytes(dataUri, start, offset, count))
}

/** Returns where the base64 of a data URI begins, or -1 if it has none. */
export function findPayload(dataUri: string): number {
  const head = dataUri.slice(0, URI_HEAD_LENGTH_MAX)
  const comma = head.indexOf(',')
  return comma !== -1 && head.slice(0, comma).toLowerCase().endsWith(';base64') ? comma + 1 : -1
}

/** Decodes some bytes from the middle of base64 text, without decoding what is before them. */
export function readBytes(text: string, start: number, offset: number, count: number): Buffer {
  const skipped = offset % 3
  const from = start + ((offset - skipped) / 3) * 4
  const length = Math.ceil((skipped + count) / 3) * 4
  return Buffer.from(text.slice(from, from + length), 'base64').subarray(skipped, skipped + count)
}

const URI_HEAD_LENGTH_MAX = 256
