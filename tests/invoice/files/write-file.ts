import { deflateSync } from 'node:zlib'
import { writePdf, type PdfShape } from './write-pdf.ts'

/** What a file really is. Its bytes are made from this, and a vendor reads it from the bytes again. */
export type FileShape =
  | { readonly is: 'picture'; readonly width: number; readonly height: number }
  | ({ readonly is: 'pdf' } & PdfShape)
  | { readonly is: 'audio'; readonly format: 'wav' | 'mp3'; readonly seconds: number }
  | { readonly is: 'video'; readonly seconds: number }
  | { readonly is: 'text'; readonly words: number }

/** Returns the smallest valid bytes of such a file: what costs much need not be large. */
export function writeFile(shape: FileShape): Buffer {
  const name = JSON.stringify(shape)
  const known = written.get(name)
  if (known !== undefined) return known
  const bytes = write(shape)
  if (written.size >= WRITTEN_MAX) written.clear()
  written.set(name, bytes)
  return bytes
}

const WRITTEN_MAX = 256
const written = new Map<string, Buffer>()

function write(shape: FileShape): Buffer {
  switch (shape.is) {
    case 'picture':
      return writePng(shape.width, shape.height)
    case 'pdf':
      return writePdf(shape)
    case 'audio':
      return shape.format === 'wav' ? writeWav(shape.seconds) : writeMp3(shape.seconds)
    case 'video':
      return writeMp4(shape.seconds)
    case 'text':
      return Buffer.from('word '.repeat(shape.words))
  }
}

/** One bit a pixel, all black. */
function writePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(1, 8)
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([head, body, check])
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/** The slowest rate at which speech is understood, one byte a sample. */
const WAV_HERTZ = 8_000

function writeWav(seconds: number): Buffer {
  const bytes = Buffer.alloc(44 + Math.round(seconds * WAV_HERTZ), 0x80)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(WAV_HERTZ, 24)
  bytes.writeUInt32LE(WAV_HERTZ, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(bytes.length - 44, 40)
  return bytes
}

/** MPEG-2 Layer III at 8 kbit/s and 24 kHz: a frame of 24 bytes lasts 24 ms. */
const MP3_FRAME = Buffer.concat([Buffer.from([0xff, 0xf3, 0x14, 0xc4]), Buffer.alloc(20)])
const MP3_FRAME_SECONDS = 0.024

function writeMp3(seconds: number): Buffer {
  return Buffer.concat(Array<Buffer>(Math.ceil(seconds / MP3_FRAME_SECONDS)).fill(MP3_FRAME))
}

/** A picture that stands still: a frame a second of a few bytes each. */
const MP4_SECOND_BYTES = 64

function writeMp4(seconds: number): Buffer {
  const movie = Buffer.alloc(100)
  movie.writeUInt32BE(1_000, 12)
  movie.writeUInt32BE(Math.round(seconds * 1_000), 16)
  return Buffer.concat([
    mp4Box('ftyp', Buffer.from('isom\0\0\0\0isommp42')),
    mp4Box('moov', mp4Box('mvhd', movie)),
    mp4Box('mdat', Buffer.alloc(Math.ceil(seconds) * MP4_SECOND_BYTES)),
  ])
}

function mp4Box(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, data])
}
