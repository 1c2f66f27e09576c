import * as fc from 'fast-check'
import { deflateSync } from 'node:zlib'

/** What a vendor needs to know to bill a file. */
export type BilledContent =
  | { readonly kind: 'image'; readonly width: number; readonly height: number }
  | { readonly kind: 'document'; readonly pages: number }
  | { readonly kind: 'recording' | 'silence' | 'video'; readonly seconds: number }
  | { readonly kind: 'text'; readonly tokens: number }

const HOUR_SECONDS = 3600
const side = fc.integer({ min: 1, max: 9000 })
const secondsUpTo = (max: number) => fc.integer({ min: 1, max })

export const billedContents: fc.Arbitrary<BilledContent> = fc.oneof(
  fc.record({ kind: fc.constant('image' as const), width: side, height: side }),
  fc.record({ kind: fc.constant('document' as const), pages: fc.integer({ min: 1, max: 1000 }) }),
  fc.record({ kind: fc.constant('recording' as const), seconds: secondsUpTo(60) }),
  fc.record({ kind: fc.constant('silence' as const), seconds: secondsUpTo(9 * HOUR_SECONDS) }),
  fc.record({ kind: fc.constant('video' as const), seconds: secondsUpTo(HOUR_SECONDS) }),
  fc.record({ kind: fc.constant('text' as const), tokens: fc.integer({ min: 1, max: 20_000 }) }),
)

/** Returns a file that is as small as its format allows, because bytes are not billed. */
export function fileOf(content: BilledContent): Buffer {
  switch (content.kind) {
    case 'image':
      return pngFile(content.width, content.height)
    case 'document':
      return pdfFile(content.pages)
    case 'recording':
      return waveFile(content.seconds)
    case 'silence':
      return silentFlac(content.seconds)
    case 'video':
      return stillVideo()
    case 'text':
      // One token for each character.
      return Buffer.from('~'.repeat(content.tokens))
  }
}

function pngFile(width: number, height: number): Buffer {
  const header = Buffer.alloc(33)
  header.writeUInt32BE(0x89504e47, 0)
  header.writeUInt32BE(0x0d0a1a0a, 4)
  header.write('IHDR', 12)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return header
}

/** All pages are in one compressed stream. */
function pdfFile(pages: number): Buffer {
  const objects = '<</Type/Page/Parent 1 0 R/Contents 2 0 R>> '.repeat(pages)
  return Buffer.concat([Buffer.from('%PDF-1.7\n5 0 obj<</Type/ObjStm>>stream\n'), deflateSync(objects)])
}

const WAVE_BYTES_PER_SECOND = 8000

function waveFile(seconds: number): Buffer {
  const file = Buffer.alloc(44 + seconds * WAVE_BYTES_PER_SECOND)
  file.write('RIFF', 0)
  file.write('WAVEfmt ', 8)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(WAVE_BYTES_PER_SECOND, 24)
  file.writeUInt32LE(WAVE_BYTES_PER_SECOND, 28)
  file.writeUInt16LE(1, 32)
  file.writeUInt16LE(8, 34)
  return file
}

/** A frame of silence has about sixteen bytes and up to eight seconds. */
function silentFlac(seconds: number): Buffer {
  return Buffer.concat([Buffer.from('fLaC\0\0\0\x22', 'latin1'), Buffer.alloc(Math.ceil(seconds / 8) * 16)])
}

/** One picture that is shown for as long as the header says. */
function stillVideo(): Buffer {
  const head = Buffer.alloc(2000)
  head.writeUInt32BE(24)
  head.write('ftypisom\0\0\0\0isomavc1', 4, 'latin1')
  return head
}
