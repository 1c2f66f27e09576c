import { FileWindow } from './file-window.ts'
import { soundSecondsMin } from './sound-seconds-min.ts'

const STREAM_INFO_BYTES = 34

/**
 * How long a FLAC file plays by its head, which must come first and tells every sample; and never less than it would if nothing in
 * it were compressed. A head that does not tell is that of a recording that broke off: then the latter is all there is to go by.
 */
export function readFlacHead(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    const bytes = await window.look(0, 8 + STREAM_INFO_BYTES)
    const isStreamInfo = bytes.length === 8 + STREAM_INFO_BYTES && ((bytes[4] ?? 0) & 0x7f) === 0
    if (!isStreamInfo) return null
    const packed = bytes.readBigUInt64BE(8 + 10)
    const sampleRate = Number(packed >> 44n)
    const channels = Number((packed >> 41n) & 7n) + 1
    const bitsPerSample = Number((packed >> 36n) & 31n) + 1
    const samples = Number(packed & 0xfffffffffn)
    if (sampleRate === 0) return null
    const least = soundSecondsMin(window.bytes, sampleRate * channels * bitsPerSample)
    if (samples > 0) return Math.max(samples / sampleRate, least)
    return least > 0 ? least / COMPRESSED_SHARE : null
  })
}

/** What is left of speech and music without loss. */
const COMPRESSED_SHARE = 0.5
