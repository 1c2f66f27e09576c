import { FileWindow } from './file-window.ts'
import { BITS_PER_SECOND_MAX, audioSecondsMin } from './audio-seconds-min.ts'

const SAMPLING_RATES = [44_100, 48_000, 32_000] as const
/** Kilobits per second by version and layer. */
const BIT_RATES = {
  first: [
    [],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  ],
  later: [
    [],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  ],
} as const
const HEADER_BYTES = 4
const ID3_HEADER_BYTES = 10
const SEARCH_BYTES = 4096
/** The limit on searches for the next frame. Real files need few; a file that needs more is made to waste CPU time. */
const SEARCHES_MAX = 200_000
/** Fewer frames may be a coincidence in any data. */
const FRAMES_MIN = 2

interface Frame {
  readonly bytes: number
  readonly seconds: number
}

/** Sums up the frames of MPEG audio. The frame count in the first frame is ignored, because it may be false. */
export function scanMpegFrames(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    const audioStart = await skipTag(window)
    let position = audioStart
    let seconds = 0
    let frames = 0
    let searches = 0
    while (position + HEADER_BYTES <= window.bytes) {
      const looked = window.look(position, HEADER_BYTES)
      const frame = readFrame(looked instanceof Promise ? await looked : looked)
      if (frame === null) {
        searches += 1
        if (searches > SEARCHES_MAX) return null
        position += await distanceToNext(window, position)
        continue
      }
      frames += 1
      seconds += frame.seconds
      position += frame.bytes
    }
    if (frames < FRAMES_MIN && (frames === 0 || window.bytes >= 4096)) return null
    // Frames of unsupported kinds, such as a free bit rate, are played too. So apply the minimum for the file's size.
    return Math.max(seconds, audioSecondsMin(window.bytes - audioStart, BITS_PER_SECOND_MAX.mpeg))
  })
}

/** Skips damaged or foreign bytes. Decoders search for the next frame in the same way. */
async function distanceToNext(window: FileWindow, position: number): Promise<number> {
  const bytes = await window.look(position, SEARCH_BYTES)
  const next = bytes.indexOf(0xff, 1)
  return next === -1 ? Math.max(1, bytes.length) : next
}

async function skipTag(window: FileWindow): Promise<number> {
  const head = await window.look(0, ID3_HEADER_BYTES)
  if (head.length < ID3_HEADER_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0
  const [size1 = 0, size2 = 0, size3 = 0, size4 = 0] = head.subarray(6)
  return ID3_HEADER_BYTES + (size1 << 21) + (size2 << 14) + (size3 << 7) + size4
}

function readFrame(header: Buffer): Frame | null {
  const [first = 0, second = 0, third = 0] = header
  if (header.length < HEADER_BYTES || first !== 0xff || (second & 0xe0) !== 0xe0) return null
  const version = (second >> 3) & 3
  const layer = (second >> 1) & 3
  const rate = SAMPLING_RATES[((third >> 2) & 3) as 0 | 1 | 2]
  const kilobits = BIT_RATES[version === 3 ? 'first' : 'later'][layer as 0 | 1 | 2 | 3][third >> 4]
  if (version === 1 || layer === 0 || rate === undefined || kilobits === undefined || kilobits === 0)
    return null
  const samplingRate = version === 3 ? rate : version === 2 ? rate / 2 : rate / 4
  const isShort = layer === 1 && version !== 3
  const samples = layer === 3 ? 384 : isShort ? 576 : 1152
  const padding = (third >> 1) & 1
  const slotBytes = layer === 3 ? 4 : 1
  const slots = Math.floor(((samples / 8) * kilobits * 1000) / samplingRate / slotBytes)
  return { bytes: (slots + padding) * slotBytes, seconds: samples / samplingRate }
}
