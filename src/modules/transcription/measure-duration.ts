import { setTimeout as delay } from 'node:timers/promises'
import { parseFile } from 'music-metadata'
import { AUDIO_FORMATS, type AudioFormat } from './recognise-audio.ts'
import { scanMpegFrames } from './scan-mpeg-frames.ts'
import { scanWebmBlocks } from './scan-webm-blocks.ts'

interface MeasuredFile {
  readonly path: string
  readonly bytes: number
  readonly format: AudioFormat
}

const PARSE_MS_MAX = 10_000
/** Heads, tags and tables a file may have beside its sound. */
const DESCRIPTION_BYTES = 64 * 1024

/** What really is in a file, where its head may say something else or nothing. */
const SCANS: Partial<Record<AudioFormat, (path: string) => Promise<number | null>>> = {
  mp3: scanMpegFrames,
  webm: scanWebmBlocks,
}

/**
 * How long a file plays, or null when nobody can tell. What its head claims is not believed where the file can be walked through,
 * and never below what so many bytes must play at least.
 */
export async function measureDuration(file: MeasuredFile): Promise<number | null> {
  const scanned = (await SCANS[file.format]?.(file.path)) ?? null
  if (scanned !== null) return scanned
  const claimed = await readClaimed(file)
  if (claimed === null) return null
  const soundBytesMin = Math.max(0, file.bytes - DESCRIPTION_BYTES)
  return Math.max(claimed.seconds, (soundBytesMin * 8) / claimed.bitsPerSecondMax)
}

interface Claimed {
  readonly seconds: number
  /** Of sound that is not compressed, or without loss, by its own account; otherwise of any file of its kind. */
  readonly bitsPerSecondMax: number
}

async function readClaimed({ path, format: kind }: MeasuredFile): Promise<Claimed | null> {
  const parsing = parseFile(path, { duration: true, skipCovers: true, skipPostHeaders: true }).then(
    ({ format }) => format,
    // Whatever the parser stumbles over, the file is not what it should be.
    () => null,
  )
  const format = await Promise.race([parsing, delay(PARSE_MS_MAX, null, { ref: false })])
  const seconds = format?.duration ?? Number.NaN
  if (!Number.isFinite(seconds) || seconds <= 0) return null
  const { sampleRate = 0, bitsPerSample = 0, numberOfChannels = 0 } = format ?? {}
  const uncompressed = kind === 'wav' || kind === 'flac' ? sampleRate * bitsPerSample * numberOfChannels : 0
  const { bitsPerSecondMax } = AUDIO_FORMATS[kind]
  return { seconds, bitsPerSecondMax: uncompressed > 0 ? uncompressed : bitsPerSecondMax }
}
