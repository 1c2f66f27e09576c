import { FileWindow } from './file-window.ts'
import { soundSecondsMin } from './sound-seconds-min.ts'

const RIFF_HEAD_BYTES = 12
const CHUNK_HEAD_BYTES = 8
const CHUNKS_MAX = 10_000
const SIZE_UNKNOWN = 0xffffffff
/** Samples as they are: integers, floats, and either of them described at length. */
const UNCOMPRESSED_TAGS: ReadonlySet<number> = new Set([1, 3, 0xfffe])

/** How long the samples of a WAV file play. A size that is nought, endless or too large means the rest of the file. */
export function scanWavChunks(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    let position = RIFF_HEAD_BYTES
    let bytesPerSecond = 0
    for (let chunks = 0; chunks < CHUNKS_MAX && position + CHUNK_HEAD_BYTES <= window.bytes; chunks += 1) {
      const head = await window.look(position, CHUNK_HEAD_BYTES)
      const id = head.toString('latin1', 0, 4)
      const claimed = head.readUInt32LE(4)
      position += CHUNK_HEAD_BYTES
      if (id === 'fmt ') bytesPerSecond = readBytesPerSecond(await window.look(position, 16))
      if (id === 'data') {
        if (bytesPerSecond === 0) return null
        const left = window.bytes - position
        const bytes = claimed === 0 || claimed === SIZE_UNKNOWN || claimed > left ? left : claimed
        if (bytes === 0) return null
        return Math.max(bytes / bytesPerSecond, soundSecondsMin(window.bytes, bytesPerSecond * 8))
      }
      // Chunks begin at even places.
      position += claimed + (claimed % 2)
    }
    return null
  })
}

function readBytesPerSecond(format: Buffer): number {
  if (format.length < 16) return 0
  const sampleRate = format.readUInt32LE(4)
  const frameBytes = format.readUInt16LE(12)
  return UNCOMPRESSED_TAGS.has(format.readUInt16LE(0)) ? sampleRate * frameBytes : format.readUInt32LE(8)
}
