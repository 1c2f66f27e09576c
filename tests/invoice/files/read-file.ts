import { readImageSize } from '../../../src/kernel/media/read-image-size.ts'
import { readPdf } from './read-pdf.ts'

/** What a vendor finds in the bytes of a file, whatever they were called. */
export type FileFacts =
  | { readonly is: 'picture'; readonly width: number; readonly height: number }
  | { readonly is: 'pdf'; readonly pages: number; readonly text: string }
  | { readonly is: 'audio'; readonly seconds: number }
  | { readonly is: 'video'; readonly seconds: number }
  | { readonly is: 'text'; readonly text: string }

export function readFile(bytes: Buffer): FileFacts {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('%PDF-')) return { is: 'pdf', ...readPdf(bytes) }
  const size = readImageSize((offset, count) => bytes.subarray(offset, offset + count))
  if (size !== null) return { is: 'picture', width: size.width, height: size.height }
  if (head.startsWith('RIFF') && head.endsWith('WAVE')) return { is: 'audio', seconds: readWavSeconds(bytes) }
  if (head.slice(4, 8) === 'ftyp') return { is: 'video', seconds: readMp4Seconds(bytes) }
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)
    return { is: 'audio', seconds: readMp3Seconds(bytes) }
  return { is: 'text', text: bytes.toString('utf8') }
}

function readWavSeconds(bytes: Buffer): number {
  return (bytes.length - 44) / (bytes.readUInt32LE(24) * bytes.readUInt16LE(32))
}

const MP3_FRAME_BYTES = 24
const MP3_FRAME_SECONDS = 0.024

function readMp3Seconds(bytes: Buffer): number {
  return Math.floor(bytes.length / MP3_FRAME_BYTES) * MP3_FRAME_SECONDS
}

function readMp4Seconds(bytes: Buffer): number {
  const at = bytes.indexOf('mvhd')
  return at === -1 ? 0 : bytes.readUInt32BE(at + 20) / bytes.readUInt32BE(at + 16)
}
