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
    // Copy, because the encoder reuses the memory of its result.
    write: (channels) => Buffer.from(encoder.encode(channels)),
    end: () => Buffer.from(encoder.finalize()),
  }
}

/** Writes an ID3 2.4 tag with one comment in UTF-8. */
function writeTags(comment: string): Buffer {
  const content = Buffer.concat([Buffer.from('\u0003eng\0', 'latin1'), Buffer.from(comment)])
  const frame = Buffer.concat([Buffer.from('COMM'), writeSize(content.length), Buffer.alloc(2), content])
  return Buffer.concat([Buffer.from('ID3\u0004\0\0', 'latin1'), writeSize(frame.length), frame])
}

/** Uses seven bits of each byte, so that no size looks like the start of a frame. */
function writeSize(size: number): Buffer {
  return Buffer.from([(size >> 21) & 0x7f, (size >> 14) & 0x7f, (size >> 7) & 0x7f, size & 0x7f])
}

const require = createRequire(import.meta.url)
const CODE = 'wasm-media-encoders/wasm/mp3'

let compiled: object | null = null

/** Creates an MP3 encoder. Its code is compiled at the first use and shared. */
async function loadEncoder(): Promise<WasmMediaEncoder<'audio/mpeg'>> {
  const encoders = await import('wasm-media-encoders')
  const code = compiled ?? (await readFile(require.resolve(CODE)))
  return encoders.createEncoder('audio/mpeg', code, (module) => {
    compiled = module
  })
}
