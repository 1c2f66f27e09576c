export interface ImageSize {
  readonly format: 'PNG' | 'JPEG' | 'WebP' | 'GIF'
  readonly width: number
  readonly height: number
}

/** Reads the format and pixel size from the first bytes of an image. Null for other formats, or if there are too few bytes. */
export function readImageSize(bytes: Buffer): ImageSize | null {
  return readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
}

const PNG_SIGNATURE = '89504e470d0a1a0a'

function readPng(bytes: Buffer): ImageSize | null {
  if (bytes.length < 24 || bytes.toString('hex', 0, 8) !== PNG_SIGNATURE) return null
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return null
  return { format: 'PNG', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer): ImageSize | null {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return null
  return { format: 'GIF', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

// Three encodings share the container. Each stores its size at a different place.
function readWebp(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF') return null
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return null
  const encoding = bytes.toString('latin1', 12, 16)
  if (encoding === 'VP8X') {
    return { format: 'WebP', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  }
  if (encoding === 'VP8L') {
    const packed = bytes.readUInt32LE(21)
    return { format: 'WebP', width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
  }
  if (encoding === 'VP8 ') {
    return { format: 'WebP', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  return null
}

const JPEG_SEGMENTS_MAX = 1000
// Markers in the range of the frame headers that are not frame headers.
const JPEG_NOT_FRAME = new Set([0xc4, 0xc8, 0xcc])

function readJpeg(bytes: Buffer): ImageSize | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  let offset = 2
  for (let count = 0; count < JPEG_SEGMENTS_MAX && offset + 9 <= bytes.length; count += 1) {
    if (bytes[offset] !== 0xff) return null
    const marker = bytes.readUInt8(offset + 1)
    if (marker >= 0xc0 && marker <= 0xcf && !JPEG_NOT_FRAME.has(marker)) {
      return { format: 'JPEG', width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) }
    }
    // Skip a fill byte or a marker without a length.
    if (marker === 0xff) offset += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) offset += 2
    else offset += 2 + bytes.readUInt16BE(offset + 2)
  }
  return null
}
