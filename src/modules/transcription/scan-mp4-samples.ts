import { FileWindow } from './file-window.ts'

/** Boxes that are walked into rather than past. */
const PARENTS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const BOX_HEAD_BYTES = 16
const ENTRY_BYTES = 8
/** More boxes than any file needs, and few enough to walk through. */
const BOXES_MAX = 100_000
/** Of a second each, for more hours than fit into a file. */
const FRAGMENTS_MAX = 10_000
const ENTRIES_PER_LOOK = 1024

interface Track {
  isSound: boolean
  timescale: number
  units: number
}

/**
 * Adds up the samples of an MP4's tracks: the longest of sound counts. Those of a file in fragments are elsewhere, and it is told
 * so. The durations in the heads are not looked at: nobody decodes by them.
 */
export function scanMp4Samples(path: string): Promise<number | 'fragments' | null> {
  return FileWindow.use(path, async (window) => {
    const tracks: Track[] = []
    let position = 0
    let fragments = 0
    for (let boxes = 0; position + 8 <= window.bytes; boxes += 1) {
      if (boxes === BOXES_MAX) return null
      const box = readBoxHead(await window.look(position, BOX_HEAD_BYTES), window.bytes - position)
      if (box === null) break
      const dataStart = position + box.headBytes
      const track = tracks.at(-1)
      if (box.type === 'moof') fragments += 1
      if (box.type === 'trak') tracks.push({ isSound: false, timescale: 0, units: 0 })
      else if (track && box.type === 'hdlr')
        track.isSound = (await window.look(dataStart + 8, 4)).toString('latin1') === 'soun'
      else if (track && box.type === 'mdhd') track.timescale = await readTimescale(window, dataStart)
      else if (track && box.type === 'stts') track.units = await addSamples(window, dataStart, box.bytes)
      position = PARENTS.has(box.type) ? dataStart : position + box.bytes
    }
    if (fragments > FRAGMENTS_MAX) return null
    if (fragments > 0) return 'fragments'
    const seconds = tracks
      .filter(({ isSound, timescale }) => isSound && timescale > 0)
      .map(({ units, timescale }) => units / timescale)
    const longest = Math.max(0, ...seconds)
    return longest > 0 ? longest : null
  })
}

interface BoxHead {
  readonly type: string
  readonly headBytes: number
  /** With its head. */
  readonly bytes: number
}

function readBoxHead(head: Buffer, bytesLeft: number): BoxHead | null {
  if (head.length < 8) return null
  const short = head.readUInt32BE(0)
  const type = head.toString('latin1', 4, 8)
  const headBytes = short === 1 ? 16 : 8
  if (head.length < headBytes) return null
  // Nought means that it goes on to the end of the file.
  const bytes = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? bytesLeft : short
  return bytes < headBytes ? null : { type, headBytes, bytes }
}

async function readTimescale(window: FileWindow, start: number): Promise<number> {
  const data = await window.look(start, 24)
  const isLong = data[0] === 1
  const at = isLong ? 20 : 12
  return data.length >= at + 4 ? data.readUInt32BE(at) : 0
}

async function addSamples(window: FileWindow, start: number, boxBytes: number): Promise<number> {
  const head = await window.look(start + 4, 4)
  if (head.length < 4) return 0
  const entries = Math.min(head.readUInt32BE(0), Math.floor(boxBytes / ENTRY_BYTES))
  let units = 0
  for (let entry = 0; entry < entries; entry += ENTRIES_PER_LOOK) {
    const count = Math.min(ENTRIES_PER_LOOK, entries - entry)
    const table = await window.look(start + 8 + entry * ENTRY_BYTES, count * ENTRY_BYTES)
    for (let at = 0; at + ENTRY_BYTES <= table.length; at += ENTRY_BYTES)
      units += table.readUInt32BE(at) * table.readUInt32BE(at + 4)
  }
  return units
}
