export interface PixelSize {
  readonly width: number
  readonly height: number
}

/**
 * The size of a picture from the first bytes of its data URI, or null where they do not tell it. Only a few dozen
 * characters are looked at, however large the picture is.
 */
export function readImageSize(dataUri: string): PixelSize | null {
  const start = findPayload(dataUri)
  if (start === -1) return null
  const head = readBytes(dataUri, start, 0, HEAD_BYTES)
  if (head.length < HEAD_BYTES) return null
  const size = readPng(head) ?? readWebp(head) ?? readJpeg(dataUri, start, head)
  return size !== null && size.width > 0 && size.height > 0 ? size : null
}

/** Where the base64 begins, or -1 when the URI holds none. */
export function findPayload(dataUri: string): number {
  const head = dataUri.slice(0, URI_HEAD_LENGTH_MAX)
  const comma = head.indexOf(',')
  return comma !== -1 && head.slice(0, comma).toLowerCase().endsWith(';base64') ? comma + 1 : -1
}

/** Some bytes out of the middle of base64 text, without decoding what is before them. */
export function readBytes(text: string, start: number, offset: number, count: number): Buffer {
  const skipped = offset % 3
  const from = start + ((offset - skipped) / 3) * 4
  const length = Math.ceil((skipped + count) / 3) * 4
  return Buffer.from(text.slice(from, from + length), 'base64').subarray(skipped, skipped + count)
}

const URI_HEAD_LENGTH_MAX = 256
/** As far as the last field of the longest header, that of a lossy WebP. */
const HEAD_BYTES = 30

const PNG_SIGNATURE = 0x89504e47
const PNG_HEADER_CHUNK = 0x49484452

function readPng(head: Buffer): PixelSize | null {
  if (head.readUInt32BE(0) !== PNG_SIGNATURE || head.readUInt32BE(12) !== PNG_HEADER_CHUNK) return null
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

function readWebp(head: Buffer): PixelSize | null {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WEBP') return null
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) }
    case 'VP8L': {
      const packed = head.readUInt32LE(21)
      return { width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) }
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    default:
      return null
  }
}

/** A camera writes a preview and a colour profile before the frame; each segment says how long it is. */
const JPEG_SEGMENTS_MAX = 64
const JPEG_SEGMENT_BYTES = 9
/** Decoded at once, so that many short segments are not decoded one by one. */
const JPEG_WINDOW_BYTES = 768

function readJpeg(dataUri: string, start: number, head: Buffer): PixelSize | null {
  if (head.readUInt16BE(0) !== 0xffd8) return null
  let position = 2
  let window = head
  let windowStart = 0
  for (let segments = 0; segments < JPEG_SEGMENTS_MAX; segments += 1) {
    if (position + JPEG_SEGMENT_BYTES > windowStart + window.length) {
      windowStart = position
      window = readBytes(dataUri, start, position, JPEG_WINDOW_BYTES)
    }
    const from = position - windowStart
    const segment = window.subarray(from, from + JPEG_SEGMENT_BYTES)
    if (segment.length < JPEG_SEGMENT_BYTES || segment[0] !== 0xff) return null
    const marker = segment.readUInt8(1)
    if (isFrame(marker)) return { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) }
    if (marker === 0xda || marker === 0xd9) return null
    position += 2 + segment.readUInt16BE(2)
  }
  return null
}

// The other markers of this range are tables and an extension.
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
