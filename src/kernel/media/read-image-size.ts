export interface ImageSize {
  readonly format: 'PNG' | 'JPEG' | 'WebP' | 'GIF'
  readonly width: number
  readonly height: number
}

/** Returns a part of an image, or less at its end. Lets callers decode only the parts that are needed. */
export type ReadBytes = (offset: number, count: number) => Buffer

/** Reads the format and pixel size from the headers of an image. Null for other formats, and for sizes of zero. */
export function readImageSize(read: ReadBytes): ImageSize | null {
  const head = read(0, HEAD_BYTES)
  const size = readPng(head) ?? readGif(head) ?? readWebp(head) ?? readJpeg(head, read)
  return size !== null && size.width > 0 && size.height > 0 ? size : null
}

/** Up to the last field of the longest header, which is that of a lossy WebP. */
const HEAD_BYTES = 30

const PNG_SIGNATURE = 0x89504e47
const PNG_HEADER_CHUNK = 0x49484452

function readPng(head: Buffer): ImageSize | null {
  if (head.length < 24 || head.readUInt32BE(0) !== PNG_SIGNATURE) return null
  if (head.readUInt32BE(12) !== PNG_HEADER_CHUNK) return null
  return { format: 'PNG', width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

function readGif(head: Buffer): ImageSize | null {
  if (head.length < 10 || !/^GIF8[79]a$/.test(head.toString('latin1', 0, 6))) return null
  return { format: 'GIF', width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
}

// Three encodings share the container. Each stores its size at a different place.
function readWebp(head: Buffer): ImageSize | null {
  if (head.length < HEAD_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return null
  if (head.toString('latin1', 8, 12) !== 'WEBP') return null
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { format: 'WebP', width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) }
    case 'VP8L': {
      const packed = head.readUInt32LE(21)
      return { format: 'WebP', width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) }
    }
    case 'VP8 ':
      return { format: 'WebP', width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    default:
      return null
  }
}

/** Cameras write a preview and a colour profile before the frame, in segments that state their length. */
const JPEG_SEGMENTS_MAX = 256
const JPEG_SEGMENT_BYTES = 9
/** Reads many short segments at once. */
const JPEG_WINDOW_BYTES = 768

function readJpeg(head: Buffer, read: ReadBytes): ImageSize | null {
  if (head.length < 2 || head.readUInt16BE(0) !== 0xffd8) return null
  let position = 2
  let window = head
  let windowStart = 0
  for (let segments = 0; segments < JPEG_SEGMENTS_MAX; segments += 1) {
    if (position + JPEG_SEGMENT_BYTES > windowStart + window.length) {
      windowStart = position
      window = read(position, JPEG_WINDOW_BYTES)
    }
    const from = position - windowStart
    const segment = window.subarray(from, from + JPEG_SEGMENT_BYTES)
    if (segment.length < JPEG_SEGMENT_BYTES || segment[0] !== 0xff) return null
    const marker = segment.readUInt8(1)
    if (isFrame(marker))
      return { format: 'JPEG', width: segment.readUInt16BE(7), height: segment.readUInt16BE(5) }
    if (marker === 0xda || marker === 0xd9) return null
    position += lengthOf(segment, marker)
  }
  return null
}

// The other markers of this range are tables and an extension.
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** Fill bytes and some markers have no length. */
function lengthOf(segment: Buffer, marker: number): number {
  if (marker === 0xff) return 1
  if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) return 2
  return 2 + segment.readUInt16BE(2)
}
