import type { AudioShape, AudioWriter } from './audio-writer.ts'
import { loadEncoder } from './load-encoder.ts'

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
