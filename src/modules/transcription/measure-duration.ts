import { setTimeout as delay } from 'node:timers/promises'
import { parseFile } from 'music-metadata'
import { readFlacHead } from './read-flac-head.ts'
import type { AudioFormat } from './recognise-audio.ts'
import { scanMp4Samples } from './scan-mp4-samples.ts'
import { scanMpegFrames } from './scan-mpeg-frames.ts'
import { scanOggPackets } from './scan-ogg-packets.ts'
import { scanWavChunks } from './scan-wav-chunks.ts'
import { scanWebmBlocks } from './scan-webm-blocks.ts'
import { soundSecondsMin } from './sound-seconds-min.ts'

interface MeasuredFile {
  readonly path: string
  readonly bytes: number
  readonly format: AudioFormat
}

/** Kinds of file that are left to a parser of heads. */
type Unscanned = 'fragments' | 'vorbis'

/** Walk through what really is in a file, where its head may say something else or nothing. */
const SCANS: Readonly<Record<AudioFormat, (path: string) => Promise<number | Unscanned | null>>> = {
  flac: readFlacHead,
  mp3: scanMpegFrames,
  mp4: scanMp4Samples,
  ogg: scanOggPackets,
  wav: scanWavChunks,
  webm: scanWebmBlocks,
}

/** No encoder makes more of a second of sound. */
const BITS_PER_SECOND_MAX: Readonly<Record<Unscanned, number>> = { fragments: 100_000_000, vorbis: 500_000 }
const PARSE_MS_MAX = 10_000

/**
 * How long a file plays, or null when nobody can tell. What its head claims is not believed where the file can be walked through,
 * and never below what so many bytes must play at least.
 */
export async function measureDuration({ path, bytes, format }: MeasuredFile): Promise<number | null> {
  const scanned = await SCANS[format](path)
  if (typeof scanned !== 'string') return scanned
  const claimed = await readClaimed(path)
  return claimed === null ? null : Math.max(claimed, soundSecondsMin(bytes, BITS_PER_SECOND_MAX[scanned]))
}

async function readClaimed(path: string): Promise<number | null> {
  const parsing = parseFile(path, { duration: true, skipCovers: true, skipPostHeaders: true }).then(
    ({ format }) => format.duration ?? null,
    // Whatever the parser stumbles over, the file is not what it should be.
    () => null,
  )
  const seconds = await Promise.race([parsing, delay(PARSE_MS_MAX, null, { ref: false })])
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null
}
