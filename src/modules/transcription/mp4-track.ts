import { BITS_PER_SECOND_MAX, secondsOfAudio } from './audio-seconds-min.ts'

/** What the tables of an MP4 file declare about one track. */
export interface Mp4Track {
  id: number
  isAudio: boolean
  timescale: number
  /** The duration of its samples by the track's time table. */
  units: number
  /** The number of samples, by the size table or in fragments. */
  samples: number
  bytes: number
  codec: string
  sampleRate: number
  /** The AAC object type. */
  objectType: number
  /** The default duration of samples in fragments that do not declare it. */
  sampleUnits: number
}

export function createMp4Track(): Mp4Track {
  return {
    id: 0,
    isAudio: false,
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
/** The frame length of the low-delay types AAC-LD and AAC-ELD. */
const SHORT_AAC_FRAME_SAMPLES = 480
const SHORT_AAC_TYPES: ReadonlySet<number> = new Set([23, 39])
const AAC_SAMPLE_RATE_MAX = 96_000
/** Lossless codecs and uncompressed samples. */
const LOSSLESS = /^(?:alac|fLaC|sowt|twos|lpcm|raw |in24|in32|fl32|fl64|NONE|ipcm|fpcm|ulaw|alaw)/

/**
 * Returns the duration of an audio track. The time table can be manipulated without affecting decoding, so the result is never
 * below the duration of its AAC frames or the minimum for its bytes.
 */
export function secondsOfTrack(track: Mp4Track, fileBytes: number): number {
  const { timescale, units, samples, codec, objectType, sampleRate } = track
  const timed = timescale > 0 ? units / timescale : 0
  const bitsMax = BITS_PER_SECOND_MAX[isLossy(track) ? 'lossy' : 'uncompressed']
  const least = secondsOfAudio(Math.min(track.bytes, fileBytes), bitsMax)
  if (codec !== 'mp4a') return Math.max(timed, least)
  const frame = SHORT_AAC_TYPES.has(objectType) ? SHORT_AAC_FRAME_SAMPLES : AAC_FRAME_SAMPLES
  const rate = sampleRate > 0 ? Math.min(sampleRate, AAC_SAMPLE_RATE_MAX) : AAC_SAMPLE_RATE_MAX
  // A sample has at least one byte, so a sample count above the file size is false.
  return Math.max(timed, least, (Math.min(samples, fileBytes) * frame) / rate)
}

export function isLossy({ codec }: Mp4Track): boolean {
  return !LOSSLESS.test(codec)
}
