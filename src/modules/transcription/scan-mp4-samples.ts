import { FileWindow } from './file-window.ts'
import { addFragmentSamples, readFragmentTrack, type FragmentTrack } from './mp4-fragment.ts'
import { createMp4Track, isLossy, secondsOfTrack, type Mp4Track } from './mp4-track.ts'
import { BITS_PER_SECOND_MAX, audioSecondsMin } from './audio-seconds-min.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** Boxes whose children are scanned. */
const PARENTS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf'])
const BOX_HEAD_BYTES = 16
const ENTRIES_PER_LOOK = 1024
const DESCRIPTION_BYTES = 512
const TRACKS_MAX = 100
/** A limit above the needs of any real file. */
const BOXES_MAX = 100_000

/**
 * Sums up the samples of the tracks of an MP4 file, including those in fragments, and returns the longest audio track. The
 * durations in the headers are ignored, because decoders do not use them.
 */
export function scanMp4Samples(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    const tracks: Mp4Track[] = []
    let fragment: FragmentTrack | null = null
    let position = 0
    for (let boxes = 0; position + 8 <= window.bytes; boxes += 1) {
      if (boxes === BOXES_MAX) return null
      const box = readBoxHead(await window.look(position, BOX_HEAD_BYTES), window.bytes - position)
      if (box === null) break
      const start = position + box.headBytes
      if (box.type === 'trak') {
        if (tracks.length === TRACKS_MAX) return null
        tracks.push(createMp4Track())
      } else if (box.type === 'trex') {
        await readDefaults(window, start, tracks)
      } else if (box.type === 'tfhd') {
        fragment = readFragmentTrack(await window.look(start, 40), tracks)
      } else if (fragment && box.type === 'trun') {
        await addFragmentSamples(window, { start, bytes: box.bytes - box.headBytes }, fragment)
      } else {
        const track = tracks.at(-1)
        if (track) await READERS[box.type]?.(window, { start, bytes: box.bytes - box.headBytes }, track)
      }
      position = PARENTS.has(box.type) ? start : position + box.bytes
    }
    const seconds = tracks
      .filter(({ isAudio }) => isAudio)
      .map((track) => secondsOfTrack(track, window.bytes))
    const longest = Math.max(0, ...seconds)
    if (longest === 0) return null
    const isAudioAlone = tracks.every((track) => track.isAudio && isLossy(track))
    const bitsMax = BITS_PER_SECOND_MAX[isAudioAlone ? 'lossy' : 'uncompressed']
    return Math.max(longest, audioSecondsMin(window.bytes, bitsMax))
  })
}

interface BoxHead {
  readonly type: string
  readonly headBytes: number
  /** Includes the header. */
  readonly bytes: number
}

function readBoxHead(head: Buffer, bytesLeft: number): BoxHead | null {
  if (head.length < 8) return null
  const short = head.readUInt32BE(0)
  const type = head.toString('latin1', 4, 8)
  const headBytes = short === 1 ? 16 : 8
  if (head.length < headBytes) return null
  // Zero means that the box extends to the end of the file.
  const bytes = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? bytesLeft : short
  return bytes < headBytes ? null : { type, headBytes, bytes }
}

/** The position of a box's data. */
interface BoxData {
  readonly start: number
  readonly bytes: number
}

type ReadBox = (window: FileWindow, data: BoxData, track: Mp4Track) => Promise<void>

/** Readers of the boxes that describe a track. */
const READERS = lookupTable<ReadBox>({
  tkhd: async (window, { start }, track) => {
    const data = await window.look(start, 24)
    const at = data[0] === 1 ? 20 : 12
    if (data.length >= at + 4) track.id = data.readUInt32BE(at)
  },
  hdlr: async (window, { start }, track) => {
    track.isAudio = (await window.look(start + 8, 4)).toString('latin1') === 'soun'
  },
  mdhd: async (window, { start }, track) => {
    const data = await window.look(start, 24)
    const at = data[0] === 1 ? 20 : 12
    if (data.length >= at + 4) track.timescale = data.readUInt32BE(at)
  },
  stsd: async (window, { start, bytes }, track) => {
    const data = await window.look(start + 8, Math.min(DESCRIPTION_BYTES, Math.max(0, bytes - 8)))
    if (data.length < 36) return
    track.codec = data.toString('latin1', 4, 8)
    track.sampleRate = data.readUInt16BE(32)
    track.objectType = readObjectType(data)
  },
  stts: (window, data, track) =>
    readTable(window, { ...data, start: data.start + 4, entryBytes: 8 }, (table, at) => {
      track.units += table.readUInt32BE(at) * table.readUInt32BE(at + 4)
    }),
  stsz: async (window, data, track) => {
    const head = await window.look(data.start, 12)
    if (head.length < 12) return
    const sampleBytes = head.readUInt32BE(4)
    track.samples += head.readUInt32BE(8)
    if (sampleBytes > 0) track.bytes += sampleBytes * head.readUInt32BE(8)
    else
      await readTable(window, { ...data, start: data.start + 8, entryBytes: 4 }, (table, at) => {
        track.bytes += table.readUInt32BE(at)
      })
  },
})

/** Returns the AAC object type (the first five bits of the decoder configuration). Zero if it is missing. */
function readObjectType(description: Buffer): number {
  const esds = description.indexOf('esds', 36, 'latin1')
  if (esds === -1) return 0
  let at = esds + 8
  // Three nested descriptors, each after this number of bytes of its parent.
  for (const [tag, bytesBefore] of [
    [3, 0],
    [4, 3],
    [5, 13],
  ] as const) {
    at += bytesBefore
    if (description[at] !== tag) return 0
    // The length field has up to four bytes. All but the last have their highest bit set.
    do at += 1
    while (((description[at] ?? 0) & 0x80) !== 0)
    at += 1
  }
  const first = description[at] ?? 0
  const type = first >> 3
  return type === 31 ? 32 + ((first & 7) << 3) + ((description[at + 1] ?? 0) >> 5) : type
}

async function readDefaults(window: FileWindow, start: number, tracks: readonly Mp4Track[]): Promise<void> {
  const data = await window.look(start, 16)
  if (data.length < 16) return
  const track = tracks.find(({ id }) => id === data.readUInt32BE(4))
  if (track) track.sampleUnits = data.readUInt32BE(12)
}

/** Reads a table: a count, followed by that many entries. */
async function readTable(
  window: FileWindow,
  { start, bytes, entryBytes }: BoxData & { readonly entryBytes: number },
  read: (table: Buffer, at: number) => void,
): Promise<void> {
  const head = await window.look(start, 4)
  if (head.length < 4) return
  const entries = Math.min(head.readUInt32BE(0), Math.floor(bytes / entryBytes))
  for (let entry = 0; entry < entries; entry += ENTRIES_PER_LOOK) {
    const count = Math.min(ENTRIES_PER_LOOK, entries - entry)
    const table = await window.look(start + 4 + entry * entryBytes, count * entryBytes)
    for (let at = 0; at + entryBytes <= table.length; at += entryBytes) read(table, at)
    if (table.length < count * entryBytes) return
  }
}
