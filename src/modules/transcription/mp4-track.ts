import { BITS_PER_SECOND_MAX, secondsOfSound } from './sound-seconds-min.ts'

/** What the tables of an MP4 say of one track. */
export interface Mp4Track {
  id: number
  isSound: boolean
  timescale: number
  /** How long its samples play by its own table of times. */
  units: number
  /** How many samples there are, by the table of their sizes or in fragments. */
  samples: number
  bytes: number
  codec: string
  sampleRate: number
  /** Kind of AAC. */
  objectType: number
  /** Of samples in fragments that do not say it themselves. */
  sampleUnits: number
}

export function createMp4Track(): Mp4Track {
  return {
    id: 0,
    isSound: false,
    timescale: 0,
    units: 0,
    samples: 0,
    bytes: 0,
    codec: '',
    sampleRate: 0,
    objectType: 0,
    sampleUnits: 0,
  }
}

const AAC_FRAME_SAMPLES = 1024
/** Of the kinds for conversation, AAC-LD and AAC-ELD. */
const SHORT_AAC_FRAME_SAMPLES = 480
const SHORT_AAC_TYPES: ReadonlySet<number> = new Set([23, 39])
const AAC_SAMPLE_RATE_MAX = 96_000
/** Codecs without loss, and samples as they are. */
const LOSSLESS = /^(?:alac|fLaC|sowt|twos|lpcm|raw |in24|in32|fl32|fl64|NONE|ipcm|fpcm|ulaw|alaw)/

/**
 * How long a track of sound plays. Times in a table can be changed and the sound still decodes: it is never less than its frames of
 * AAC play, nor than its bytes must.
 */
export function secondsOfTrack(track: Mp4Track, fileBytes: number): number {
  const { timescale, units, samples, codec, objectType, sampleRate } = track
  const timed = timescale > 0 ? units / timescale : 0
  const bitsMax = BITS_PER_SECOND_MAX[isLossy(track) ? 'lossy' : 'uncompressed']
  const least = secondsOfSound(Math.min(track.bytes, fileBytes), bitsMax)
  if (codec !== 'mp4a') return Math.max(timed, least)
  const frame = SHORT_AAC_TYPES.has(objectType) ? SHORT_AAC_FRAME_SAMPLES : AAC_FRAME_SAMPLES
  const rate = sampleRate > 0 ? Math.min(sampleRate, AAC_SAMPLE_RATE_MAX) : AAC_SAMPLE_RATE_MAX
  // No sample has less than a byte, so that a count beyond them is a claim.
  return Math.max(timed, least, (Math.min(samples, fileBytes) * frame) / rate)
}

export function isLossy({ codec }: Mp4Track): boolean {
  return !LOSSLESS.test(codec)
}
