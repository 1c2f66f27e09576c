import type { FileWindow } from './file-window.ts'
import type { Mp4Track } from './mp4-track.ts'

/** The defaults for the next samples of a track in a fragment. */
export interface FragmentTrack {
  readonly track: Mp4Track
  readonly sampleUnits: number
  readonly sampleBytes: number
}

const SAMPLES_PER_LOOK = 1024

/** Reads the header of a track fragment. Null if the file does not declare the track. */
export function readFragmentTrack(head: Buffer, tracks: readonly Mp4Track[]): FragmentTrack | null {
  if (head.length < 8) return null
  const flags = head.readUIntBE(1, 3)
  const track = tracks.find(({ id }) => id === head.readUInt32BE(4))
  if (!track) return null
  let at = 8 + ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4)
  const readNext = (flag: number): number | null => {
    if ((flags & flag) === 0 || head.length < at + 4) return null
    at += 4
    return head.readUInt32BE(at - 4)
  }
  return { track, sampleUnits: readNext(8) ?? track.sampleUnits, sampleBytes: readNext(0x10) ?? 0 }
}

export async function addFragmentSamples(
  window: FileWindow,
  { start, bytes }: { readonly start: number; readonly bytes: number },
  { track, sampleUnits, sampleBytes }: FragmentTrack,
): Promise<void> {
  const head = await window.look(start, 8)
  if (head.length < 8) return
  const flags = head.readUIntBE(1, 3)
  const samples = head.readUInt32BE(4)
  const hasUnits = (flags & 0x100) !== 0
  const hasBytes = (flags & 0x200) !== 0
  const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length
  track.samples += samples
  if (!hasUnits) track.units += samples * sampleUnits
  if (!hasBytes) track.bytes += samples * sampleBytes
  if (!hasUnits && !hasBytes) return
  const first = start + 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4)
  const entries = Math.min(samples, Math.floor(bytes / entryBytes))
  for (let entry = 0; entry < entries; entry += SAMPLES_PER_LOOK) {
    const count = Math.min(SAMPLES_PER_LOOK, entries - entry)
    const table = await window.look(first + entry * entryBytes, count * entryBytes)
    for (let at = 0; at + entryBytes <= table.length; at += entryBytes) {
      if (hasUnits) track.units += table.readUInt32BE(at)
      if (hasBytes) track.bytes += table.readUInt32BE(at + (hasUnits ? 4 : 0))
    }
    if (table.length < count * entryBytes) return
  }
}
