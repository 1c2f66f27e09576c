import type { AudioShape, AudioWriter } from './audio-writer.ts'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { WasmMediaEncoder } from 'wasm-media-encoders'

const BITRATE_KBPS = { 1: 64, 2: 96 } as const

export async function createMp3Writer(shape: AudioShape): Promise<AudioWriter> {
  const encoder = await loadEncoder()
  encoder.configure({
    channels: shape.channelCount,
    sampleRate: shape.sampleRate,
    bitrate: BITRATE_KBPS[shape.channelCount],
  })
  return {
    contentType: 'audio/mpeg',
    begin: () => writeTags(shape.comment),
    // What the encoder returns lies in memory that it writes to again.
    write: (channels) => Buffer.from(encoder.encode(channels)),
    end: () => Buffer.from(encoder.finalize()),
  }
}

/** ID3 2.4 with one comment in UTF-8. */
function writeTags(comment: string): Buffer {
  const content = Buffer.concat([Buffer.from('\u0003eng\0', 'latin1'), Buffer.from(comment)])
  const frame = Buffer.concat([Buffer.from('COMM'), writeSize(content.length), Buffer.alloc(2), content])
  return Buffer.concat([Buffer.from('ID3\u0004\0\0', 'latin1'), writeSize(frame.length), frame])
}

/** Seven bits a byte, so that no size looks like the beginning of a frame. */
function writeSize(size: number): Buffer {
  return Buffer.from([(size >> 21) & 0x7f, (size >> 14) & 0x7f, (size >> 7) & 0x7f, size & 0x7f])
}

const require = createRequire(import.meta.url)
const CODE = 'wasm-media-encoders/wasm/mp3'

let compiled: object | null = null

/** A new MP3 encoder; the code behind it is compiled at the first use and shared by all. */
async function loadEncoder(): Promise<WasmMediaEncoder<'audio/mpeg'>> {
  const encoders = await import('wasm-media-encoders')
  const code = compiled ?? (await readFile(require.resolve(CODE)))
  return encoders.createEncoder('audio/mpeg', code, (module) => {
    compiled = module
  })
}
