import { setTimeout as delay } from 'node:timers/promises'
import type { AudioFormat } from './recognise-audio.ts'
import { scanFlacFrames } from './scan-flac-frames.ts'
import { scanMp4Samples } from './scan-mp4-samples.ts'
import { scanMpegFrames } from './scan-mpeg-frames.ts'
import { scanOggPackets, type OggClaim } from './scan-ogg-packets.ts'
import { scanWavChunks } from './scan-wav-chunks.ts'
import { scanWebmBlocks } from './scan-webm-blocks.ts'
import { audioSecondsMin } from './audio-seconds-min.ts'

interface MeasuredFile {
  readonly path: string
  readonly bytes: number
  readonly format: AudioFormat
}

/** Scanners that measure the content of a file, because its header may be wrong or incomplete. */
const SCANS: Readonly<Record<AudioFormat, (path: string) => Promise<number | OggClaim | null>>> = {
  flac: scanFlacFrames,
  mp3: scanMpegFrames,
  mp4: scanMp4Samples,
  ogg: scanOggPackets,
  wav: scanWavChunks,
  webm: scanWebmBlocks,
}

const PARSE_MS_MAX = 10_000

/**
 * Returns the duration in seconds, or null if it cannot be determined. The header is used only if the content cannot be scanned,
 * and the result is never below the minimum for the file's size.
 */
export async function measureDuration({ path, bytes, format }: MeasuredFile): Promise<number | null> {
  const scanned = await SCANS[format](path)
  if (scanned === null || typeof scanned === 'number') return scanned
  const claimed = await readClaimed(path)
  return claimed === null ? null : Math.max(claimed, audioSecondsMin(bytes, scanned.bitsPerSecondMax))
}

async function readClaimed(path: string): Promise<number | null> {
  // Loaded here, because few gateways measure audio, and the package is large.
  const { parseFile } = await import('music-metadata')
  const parsing = parseFile(path, { duration: true, skipCovers: true, skipPostHeaders: true }).then(
    ({ format }) => format.duration ?? null,
    // Any parser error means that the file is invalid.
    () => null,
  )
  const seconds = await Promise.race([parsing, delay(PARSE_MS_MAX, null, { ref: false })])
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null
}
