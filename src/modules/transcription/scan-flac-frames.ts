import { FileWindow } from './file-window.ts'
import { BITS_PER_SECOND_MAX, audioSecondsMin } from './audio-seconds-min.ts'

const STREAM_INFO_BYTES = 34
const MAGIC_BYTES = 4
const BLOCK_HEAD_BYTES = 4
const METADATA_BLOCKS_MAX = 1000
/** Sync code, sizes, a number of up to seven bytes, up to two bytes for each size, and the checksum. */
const FRAME_HEAD_BYTES_MAX = 16
const SCAN_BYTES = 64 * 1024
/** The minimum length of a frame. A second header within fewer bytes is a coincidence in the audio data. */
const FRAME_BYTES_MIN = 10
const SAMPLE_RATES = [
  0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
]

/**
 * Returns the duration of a FLAC file: the sample count in its header or the sum of its frames, whichever is larger, and at least
 * the duration that its bytes would have uncompressed.
 */
export function scanFlacFrames(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    const bytes = await window.look(0, MAGIC_BYTES + BLOCK_HEAD_BYTES + STREAM_INFO_BYTES)
    const isStreamInfo =
      bytes.length === MAGIC_BYTES + BLOCK_HEAD_BYTES + STREAM_INFO_BYTES && ((bytes[4] ?? 0) & 0x7f) === 0
    if (!isStreamInfo) return null
    const packed = bytes.readBigUInt64BE(MAGIC_BYTES + BLOCK_HEAD_BYTES + 10)
    const sampleRate = Number(packed >> 44n)
    const channels = Number((packed >> 41n) & 7n) + 1
    const bitsPerSample = Number((packed >> 36n) & 31n) + 1
    const samples = Number(packed & 0xfffffffffn)
    if (sampleRate === 0) return null
    const bitsMax = Math.min(sampleRate * channels * bitsPerSample, BITS_PER_SECOND_MAX.uncompressed)
    const framesSeconds = await addFrames(window, sampleRate)
    const seconds = Math.max(samples / sampleRate, framesSeconds, audioSecondsMin(window.bytes, bitsMax))
    return seconds > 0 ? seconds : null
  })
}

async function addFrames(window: FileWindow, sampleRate: number): Promise<number> {
  let position = await skipMetadata(window)
  let seconds = 0
  while (position < window.bytes) {
    const bytes = await window.look(position, SCAN_BYTES)
    const isLast = position + bytes.length >= window.bytes
    // A header that is cut off at the end of this block is found complete in the next one.
    const end = isLast ? bytes.length : bytes.length - FRAME_HEAD_BYTES_MAX
    let at = bytes.indexOf(0xff)
    while (at !== -1 && at < end) {
      const isSync = ((bytes[at + 1] ?? 0) & 0xfe) === 0xf8
      const frameSeconds = isSync
        ? readFrameSeconds(bytes.subarray(at, at + FRAME_HEAD_BYTES_MAX), sampleRate)
        : 0
      seconds += frameSeconds
      at = bytes.indexOf(0xff, at + (frameSeconds > 0 ? FRAME_BYTES_MIN : 1))
    }
    if (bytes.length === 0 || isLast) break
    position += Math.max(at, end)
  }
  return seconds
}

async function skipMetadata(window: FileWindow): Promise<number> {
  let position = MAGIC_BYTES
  for (let blocks = 0; blocks < METADATA_BLOCKS_MAX; blocks += 1) {
    const head = await window.look(position, BLOCK_HEAD_BYTES)
    if (head.length < BLOCK_HEAD_BYTES) return window.bytes
    position += BLOCK_HEAD_BYTES + head.readUIntBE(1, 3)
    if (((head[0] ?? 0) & 0x80) !== 0) break
  }
  return position
}

/** Returns 0 if no frame begins here. A frame header ends with its own checksum. */
function readFrameSeconds(head: Buffer, streamRate: number): number {
  const [, , third = 0, fourth = 0, fifth = 0] = head
  if ((fourth & 1) !== 0) return 0
  const sizeCode = third >> 4
  const rateCode = third & 0xf
  if (sizeCode === 0 || rateCode === 0xf || fourth >> 4 > 10) return 0
  const numberBytes = fifth < 0x80 ? 1 : Math.clz32(~(fifth << 24))
  if (numberBytes > 7) return 0
  const sizeAt = 4 + numberBytes
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0
  const checksumAt = sizeAt + sizeBytes + rateBytes
  if (head.length <= checksumAt || checksumOf(head.subarray(0, checksumAt)) !== head[checksumAt]) return 0
  const samples = sizeBytes > 0 ? head.readUIntBE(sizeAt, sizeBytes) + 1 : samplesOf(sizeCode)
  const said = rateBytes > 0 ? head.readUIntBE(sizeAt + sizeBytes, rateBytes) : 0
  const rate =
    rateCode === 12
      ? said * 1000
      : rateCode === 13
        ? said
        : rateCode === 14
          ? said * 10
          : SAMPLE_RATES[rateCode]
  return samples / (rate || streamRate)
}

function samplesOf(sizeCode: number): number {
  if (sizeCode === 1) return 192
  return sizeCode <= 5 ? 576 * 2 ** (sizeCode - 2) : 256 * 2 ** (sizeCode - 8)
}

/** CRC-8 with the polynomial x⁸ + x² + x + 1. */
function checksumOf(bytes: Buffer): number {
  let checksum = 0
  for (const byte of bytes) {
    checksum ^= byte
    for (let bit = 0; bit < 8; bit += 1)
      checksum = (checksum & 0x80) === 0 ? checksum << 1 : ((checksum << 1) ^ 0x07) & 0xff
  }
  return checksum
}
