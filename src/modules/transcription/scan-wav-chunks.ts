import { FileWindow } from './file-window.ts'
import { BITS_PER_SECOND_MAX, secondsOfAudio, audioSecondsMin } from './audio-seconds-min.ts'

const RIFF_HEAD_BYTES = 12
const CHUNK_HEAD_BYTES = 8
const FORMAT_BYTES = 16
const CHUNKS_MAX = 10_000
const SIZE_UNKNOWN = 0xffffffff
/** Uncompressed samples: integer, float, and the extensible format. */
const UNCOMPRESSED_TAGS: ReadonlySet<number> = new Set([1, 3, 0xfffe])
/** The limit on the bits per sample of lossy codecs (that of a compact disc), whatever the header declares. */
const LOSSY_SAMPLE_BITS_MAX = 16
/** A-law and µ-law; ADPCM of Microsoft and of IMA including the block headers. */
const SAMPLE_BITS_OF_TAG: ReadonlyMap<number, number> = new Map([
  [6, 8],
  [7, 8],
  [2, 4.5],
  [0x11, 4.5],
])

/**
 * Returns the duration of the samples of a WAV file. A data size that is zero, unknown or too large means the rest of the file.
 */
export function scanWavChunks(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    let position = RIFF_HEAD_BYTES
    let bitsPerSecond = 0
    for (let chunks = 0; chunks < CHUNKS_MAX && position + CHUNK_HEAD_BYTES <= window.bytes; chunks += 1) {
      const head = await window.look(position, CHUNK_HEAD_BYTES)
      const id = head.toString('latin1', 0, 4)
      const claimed = head.readUInt32LE(4)
      position += CHUNK_HEAD_BYTES
      if (id === 'fmt ') bitsPerSecond = readBitsPerSecond(await window.look(position, FORMAT_BYTES))
      if (id === 'data') {
        if (bitsPerSecond === 0) return null
        const left = window.bytes - position
        const bytes = claimed === 0 || claimed === SIZE_UNKNOWN || claimed > left ? left : claimed
        if (bytes === 0) return null
        return Math.max(secondsOfAudio(bytes, bitsPerSecond), audioSecondsMin(window.bytes, bitsPerSecond))
      }
      // Chunks start at even offsets.
      position += claimed + (claimed % 2)
    }
    return null
  })
}

/**
 * Returns the lowest bit rate that the header allows. Its members are redundant, decoders differ in which they use, and too large
 * a value would make the file appear shorter. The byte rate is used only for unknown codecs.
 */
function readBitsPerSecond(format: Buffer): number {
  if (format.length < FORMAT_BYTES) return 0
  const tag = format.readUInt16LE(0)
  const perSample = format.readUInt32LE(4) * format.readUInt16LE(2)
  const claims = UNCOMPRESSED_TAGS.has(tag)
    ? [
        perSample * Math.ceil(format.readUInt16LE(14) / 8) * 8,
        format.readUInt32LE(4) * format.readUInt16LE(12) * 8,
      ]
    : SAMPLE_BITS_OF_TAG.has(tag)
      ? [perSample * (SAMPLE_BITS_OF_TAG.get(tag) ?? 0)]
      : [format.readUInt32LE(8) * 8, perSample * LOSSY_SAMPLE_BITS_MAX, BITS_PER_SECOND_MAX.lossy]
  const stated = claims.filter((bits) => bits > 0)
  return stated.length === 0 ? 0 : Math.min(...stated, BITS_PER_SECOND_MAX.uncompressed)
}
