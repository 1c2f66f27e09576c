import { FileWindow } from './file-window.ts'

const PAGE_HEAD_BYTES = 27
const SEGMENTS_MAX = 255
const SEGMENT_BYTES_MAX = 255
/** Lengths of a frame in milliseconds by its configuration: speech, hybrid, music. */
const SPEECH_FRAME_MS = [10, 20, 40, 60] as const
const HYBRID_FRAME_MS = [10, 20] as const
/** Packets of 20 ms for half a day; a file of more and smaller ones is made to waste time. */
const PACKETS_MAX = 2_000_000
const PAGES_MAX = 500_000
const MUSIC_FRAME_MS = [2.5, 5, 10, 20] as const

/**
 * Adds up the packets of an Ogg file with Opus, each of which says how long it plays. The positions that pages claim are not
 * looked at: nobody decodes by them. Packets of Vorbis do not say it; of them only the pages are counted.
 */
export function scanOggPackets(path: string): Promise<number | 'vorbis' | null> {
  return FileWindow.use(path, async (window) => {
    let position = 0
    let packets = 0
    let milliseconds = 0
    let isContinued = false
    let isVorbis = false
    for (let pages = 0; position + PAGE_HEAD_BYTES < window.bytes; pages += 1) {
      if (pages === PAGES_MAX || packets > PACKETS_MAX) return null
      const page = await window.look(position, PAGE_HEAD_BYTES + SEGMENTS_MAX)
      if (page.toString('latin1', 0, 4) !== 'OggS') break
      const segments = Buffer.from(page.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + (page[26] ?? 0)))
      let packetStart = position + PAGE_HEAD_BYTES + segments.length
      let length = 0
      for (const segment of segments) {
        length += segment
        if (segment === SEGMENT_BYTES_MAX) continue
        if (!isContinued) {
          const looked = window.look(packetStart, 8)
          const head = looked instanceof Promise ? await looked : looked
          if (packets === 0 && head.toString('latin1') !== 'OpusHead') isVorbis = true
          // The first two packets describe the rest.
          if (packets >= 2) milliseconds += packetMs(head, length)
          packets += 1
        }
        isContinued = false
        packetStart += length
        length = 0
      }
      // A packet that goes on on the next page was counted where it began.
      if (length > 0 && !isContinued) {
        if (packets >= 2) milliseconds += packetMs(await window.look(packetStart, 8), length)
        packets += 1
        isContinued = true
      }
      position = packetStart + length
    }
    if (isVorbis) return 'vorbis'
    return milliseconds > 0 ? milliseconds / 1000 : null
  })
}

function packetMs(head: Buffer, length: number): number {
  const [first, second = 0] = head
  if (first === undefined || length === 0) return 0
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2
  return frames * frameMs(first >> 3)
}

function frameMs(configuration: number): number {
  if (configuration < 12) return SPEECH_FRAME_MS[configuration % 4] ?? 0
  if (configuration < 16) return HYBRID_FRAME_MS[configuration % 2] ?? 0
  return MUSIC_FRAME_MS[configuration % 4] ?? 0
}
