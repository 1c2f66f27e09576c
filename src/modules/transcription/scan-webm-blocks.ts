import { FileWindow } from './file-window.ts'
import { opusPacketMs } from './opus-packet-ms.ts'
import { BITS_PER_SECOND_MAX, secondsOfAudio, audioSecondsMin } from './audio-seconds-min.ts'

const SEGMENT = 0x18538067
const CLUSTER = 0x1f43b675
const INFO = 0x1549a966
const TRACKS = 0x1654ae6b
const TRACK_ENTRY = 0xae
const TRACK_NUMBER = 0xd7
const TRACK_TYPE = 0x83
const CODEC = 0x86
const TIMESTAMP_SCALE = 0x2ad7b1
const CLUSTER_TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const BLOCK_DURATION = 0x9b

/** Elements whose children are scanned. */
const PARENTS: ReadonlySet<number> = new Set([SEGMENT, CLUSTER, INFO, TRACKS, TRACK_ENTRY, BLOCK_GROUP])
const NUMBERS: ReadonlySet<number> = new Set([
  TIMESTAMP_SCALE,
  CLUSTER_TIMESTAMP,
  BLOCK_DURATION,
  TRACK_NUMBER,
  TRACK_TYPE,
])
const ELEMENT_HEAD_BYTES = 12
const NANOSECONDS_PER_SECOND = 1e9
const SCALE_DEFAULT = 1_000_000
const VIDEO_TRACK = 1
const CODEC_BYTES_MAX = 32
const TRACKS_MAX = 100
/** The duration of an Opus block, which most recorders use. The last block has a start time, but rarely an end time. */
const LAST_BLOCK_SECONDS = 0.02
/** Blocks of 20 ms for half a day. A file with more, smaller elements is made to waste CPU time. */
const ELEMENTS_MAX = 2_000_000

interface Track {
  number: number
  type: number
  codec: string
}

interface AudioOfTrack {
  bytes: number
  opusMs: number
}

/**
 * Scans the blocks of a WebM file, because browsers record without a known duration and write none into the header. Returns the
 * time of the latest block, and at least the duration that the packets of a track declare or its bytes require.
 */
export function scanWebmBlocks(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    const tracks: Track[] = []
    const sound = new Map<number, AudioOfTrack>()
    let position = 0
    let scale = SCALE_DEFAULT
    let clusterTime = 0
    let latest = -1
    let lastBlockTicks = 0
    for (let elements = 0; position < window.bytes; elements += 1) {
      if (elements === ELEMENTS_MAX) return null
      const looked = window.look(position, ELEMENT_HEAD_BYTES)
      const element = readElementHead(looked instanceof Promise ? await looked : looked)
      if (element === null) break
      const { id, bytes } = element
      const dataStart = position + element.headBytes
      const track = tracks.at(-1)
      if (NUMBERS.has(id)) {
        const value = readUnsigned(await window.look(dataStart, Math.min(8, bytes)))
        if (id === TIMESTAMP_SCALE) scale = value === 0 ? SCALE_DEFAULT : value
        else if (id === CLUSTER_TIMESTAMP) clusterTime = value
        else if (id === BLOCK_DURATION) lastBlockTicks = value
        else if (track && id === TRACK_NUMBER) track.number = value
        else if (track && id === TRACK_TYPE) track.type = value
      } else if (id === TRACK_ENTRY && tracks.length < TRACKS_MAX) {
        tracks.push({ number: 0, type: 0, codec: '' })
      } else if (track && id === CODEC) {
        track.codec = (await window.look(dataStart, Math.min(CODEC_BYTES_MAX, bytes))).toString('latin1')
      } else if (id === SIMPLE_BLOCK || id === BLOCK) {
        const head = window.look(dataStart, Math.min(ELEMENT_HEAD_BYTES, bytes))
        const block = readBlockHead(head instanceof Promise ? await head : head)
        const time = clusterTime + block.time
        if (time > latest) latest = time
        lastBlockTicks = 0
        addAudio(sound, block, Math.min(bytes, window.bytes - dataStart))
      }
      position = PARENTS.has(id) ? dataStart : dataStart + bytes
    }
    if (latest < 0) return null
    const lastSeconds =
      lastBlockTicks === 0 ? LAST_BLOCK_SECONDS : (lastBlockTicks * scale) / NANOSECONDS_PER_SECOND
    const timed = (latest * scale) / NANOSECONDS_PER_SECOND + lastSeconds
    const isAudioAlone = tracks.every(({ type, codec }) => type !== VIDEO_TRACK && !LOSSLESS.test(codec))
    return Math.max(
      timed,
      audioSecondsMin(window.bytes, BITS_PER_SECOND_MAX[isAudioAlone ? 'lossy' : 'uncompressed']),
      ...[...sound].map(([number, one]) => leastSeconds(tracks, number, one)),
    )
  })
}

const LOSSLESS = /^A_(?:PCM|FLAC|ALAC|MLP|TRUEHD|TTA1|WAVPACK|MS\/ACM)/

/** Tracks that the header does not declare count as audio. */
function leastSeconds(tracks: readonly Track[], number: number, { bytes, opusMs }: AudioOfTrack): number {
  const track = tracks.find((one) => one.number === number)
  if (track?.type === VIDEO_TRACK) return 0
  const codec = track?.codec ?? ''
  if (codec.startsWith('A_OPUS'))
    return Math.max(opusMs / 1000, secondsOfAudio(bytes, BITS_PER_SECOND_MAX.opus))
  return secondsOfAudio(bytes, BITS_PER_SECOND_MAX[LOSSLESS.test(codec) ? 'uncompressed' : 'lossy'])
}

interface BlockHead {
  readonly track: number
  /** Relative to the time of the cluster. */
  readonly time: number
  readonly headBytes: number
  /** The number of frames, if the block uses lacing. */
  readonly frames: number
  /** The start of a single frame; empty if the block uses lacing. */
  readonly packet: Buffer
}

const NO_BLOCK: BlockHead = { track: 0, time: 0, headBytes: 0, frames: 0, packet: Buffer.alloc(0) }

function readBlockHead(block: Buffer): BlockHead {
  const trackBytes = lengthOf(block[0])
  if (trackBytes === 0 || block.length < trackBytes + 3) return NO_BLOCK
  const flags = block[trackBytes + 2] ?? 0
  const isLaced = (flags & 0x06) !== 0
  const headBytes = trackBytes + 3
  return {
    track: readSize(block.subarray(0, trackBytes)),
    time: block.readInt16BE(trackBytes),
    headBytes,
    frames: isLaced ? (block[headBytes] ?? 0) + 1 : 1,
    packet: isLaced ? Buffer.alloc(0) : block.subarray(headBytes),
  }
}

/** The assumed duration of a laced frame. Its own header comes after the sizes of all frames. */
const LACED_FRAME_MS = 20

function addAudio(sound: Map<number, AudioOfTrack>, block: BlockHead, blockBytes: number): void {
  const known = sound.get(block.track) ?? { bytes: 0, opusMs: 0 }
  if (known.bytes === 0 && sound.size < TRACKS_MAX) sound.set(block.track, known)
  const bytes = Math.max(0, blockBytes - block.headBytes)
  known.bytes += bytes
  known.opusMs += block.packet.length > 0 ? opusPacketMs(block.packet, bytes) : block.frames * LACED_FRAME_MS
}

interface ElementHead {
  readonly id: number
  readonly headBytes: number
  readonly bytes: number
}

/** Returns null if no element begins here. An element of unknown size needs no end, because its children are scanned anyway. */
function readElementHead(head: Buffer): ElementHead | null {
  const idBytes = lengthOf(head[0])
  if (idBytes === 0 || idBytes > 4 || head.length <= idBytes) return null
  const sizeBytes = lengthOf(head[idBytes])
  if (sizeBytes === 0 || head.length < idBytes + sizeBytes) return null
  const id = head.readUIntBE(0, idBytes)
  return { id, headBytes: idBytes + sizeBytes, bytes: readSize(head.subarray(idBytes, idBytes + sizeBytes)) }
}

/** The number of leading zero bits determines the length. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23
}

/** Drops the length marker bit. With it, a long size would exceed the safe integer range. */
function readSize(bytes: Buffer): number {
  const [first = 0] = bytes
  let value = first & (0xff >> bytes.length)
  for (const byte of bytes.subarray(1)) value = value * 256 + byte
  return value
}

function readUnsigned(bytes: Buffer): number {
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  return value
}
