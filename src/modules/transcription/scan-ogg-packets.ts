import { FileWindow } from './file-window.ts'
import { opusPacketMs } from './opus-packet-ms.ts'
import { BITS_PER_SECOND_MAX, secondsOfAudio, audioSecondsMin } from './audio-seconds-min.ts'

const PAGE_HEAD_BYTES = 27
const SEGMENTS_MAX = 255
const SEGMENT_BYTES_MAX = 255
/** Packets of 20 ms for half a day. A file with more, smaller packets is made to waste CPU time. */
const PACKETS_MAX = 2_000_000
const PAGES_MAX = 500_000

/** A codec whose packets do not contain their duration. */
export interface OggClaim {
  readonly bitsPerSecondMax: number
}

/**
 * Sums up the packets of an Ogg Opus file, which declare their durations; at least the minimum for their bytes. The page
 * positions are ignored, because decoders do not use them. Packets of other codecs have no duration.
 */
export function scanOggPackets(path: string): Promise<number | OggClaim | null> {
  return FileWindow.use(path, async (window) => {
    let position = 0
    let packets = 0
    let audioBytes = 0
    let milliseconds = 0
    let isContinued = false
    let claim: OggClaim | null = null
    for (let pages = 0; position + PAGE_HEAD_BYTES < window.bytes; pages += 1) {
      if (pages === PAGES_MAX || packets > PACKETS_MAX) return null
      const page = await window.look(position, PAGE_HEAD_BYTES + SEGMENTS_MAX)
      if (page.toString('latin1', 0, 4) !== 'OggS') break
      const segments = Buffer.from(page.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + (page[26] ?? 0)))
      let packetStart = position + PAGE_HEAD_BYTES + segments.length
      let length = 0
      for (const segment of segments) {
        length += segment
        if (packets >= 2) audioBytes += segment
        if (segment === SEGMENT_BYTES_MAX) continue
        if (!isContinued) {
          const looked = window.look(packetStart, 8)
          const head = looked instanceof Promise ? await looked : looked
          if (packets === 0) claim = claimOf(head.toString('latin1'))
          // The first two packets are headers.
          if (packets >= 2) milliseconds += opusPacketMs(head, length)
          packets += 1
        }
        isContinued = false
        packetStart += length
        length = 0
      }
      // A packet that continues on the next page is counted on the page where it begins.
      if (length > 0 && !isContinued) {
        if (packets >= 2) milliseconds += opusPacketMs(await window.look(packetStart, 8), length)
        packets += 1
        isContinued = true
      }
      position = packetStart + length
    }
    if (claim !== null) return claim
    if (milliseconds === 0) return null
    const least = secondsOfAudio(audioBytes, BITS_PER_SECOND_MAX.opus)
    return Math.max(milliseconds / 1000, least, audioSecondsMin(window.bytes, BITS_PER_SECOND_MAX.lossy))
  })
}

/** Recognises the codec from the first packet. Null for Opus. */
function claimOf(head: string): OggClaim | null {
  if (head === 'OpusHead') return null
  if (head.startsWith('\x7fFLAC')) return { bitsPerSecondMax: BITS_PER_SECOND_MAX.uncompressed }
  if (head.startsWith('Speex')) return { bitsPerSecondMax: BITS_PER_SECOND_MAX.speex }
  return { bitsPerSecondMax: BITS_PER_SECOND_MAX.vorbis }
}
