import type { Instrument, Note } from './compose-music.ts'

export const MUSIC_SAMPLE_RATE = 24_000
const BLOCK_SAMPLES = 4096
const FADE_SECONDS = 2
const TABLE_SIZE = 2048

/** Renders notes into blocks of two channels. Simultaneous notes are added up. */
export function* synthesizeMusic(
  notes: Iterable<Note>,
  durationSeconds: number,
): Generator<[Float32Array, Float32Array]> {
  const sampleCount = Math.round(durationSeconds * MUSIC_SAMPLE_RATE)
  const waiting = [...notes].toSorted((left, right) => left.startSeconds - right.startSeconds)
  let next = 0
  let sounding: Note[] = []
  for (let start = 0; start < sampleCount; start += BLOCK_SAMPLES) {
    const length = Math.min(BLOCK_SAMPLES, sampleCount - start)
    const endSeconds = (start + length) / MUSIC_SAMPLE_RATE
    for (; (waiting[next]?.startSeconds ?? Number.POSITIVE_INFINITY) < endSeconds; next += 1)
      sounding.push(waiting[next] as Note)
    const block: [Float32Array, Float32Array] = [new Float32Array(length), new Float32Array(length)]
    for (const note of sounding) addNote(note, start, block)
    sounding = sounding.filter((note) => note.endSeconds > endSeconds)
    for (const channel of block) shapeBlock(channel, start, sampleCount)
    yield block
  }
}

interface Sound {
  /** Amplitude of each harmonic. */
  readonly harmonics: readonly number[]
  readonly attackSeconds: number
  /** How fast a note fades, per second. */
  readonly decay: number
  /** Stereo position: 0 is left, 1 is right. */
  readonly place: number
}

const SOUNDS: Readonly<Record<Instrument, Sound>> = {
  pad: { harmonics: [1, 0.3, 0.15, 0.05], attackSeconds: 0.15, decay: 0.2, place: 0.5 },
  bass: { harmonics: [1, 0.5, 0.2, 0.1], attackSeconds: 0.01, decay: 2, place: 0.5 },
  lead: { harmonics: [1, 0.45, 0.35, 0.15, 0.1], attackSeconds: 0.012, decay: 3.2, place: 0.65 },
  // Strong third to fifth harmonics sound like an open vowel.
  voice: { harmonics: [0.7, 0.8, 1, 0.6, 0.5, 0.15], attackSeconds: 0.05, decay: 0.6, place: 0.45 },
  drum: { harmonics: [1, 0.1], attackSeconds: 0.002, decay: 14, place: 0.5 },
  hat: { harmonics: [], attackSeconds: 0.001, decay: 60, place: 0.35 },
}

const TABLES = new Map<Instrument, Float32Array>()

function addNote(note: Note, blockStart: number, [left, right]: readonly [Float32Array, Float32Array]): void {
  const sound = SOUNDS[note.instrument]
  const noteStart = Math.round(note.startSeconds * MUSIC_SAMPLE_RATE)
  const noteEnd = Math.round(note.endSeconds * MUSIC_SAMPLE_RATE)
  const table = findTable(note.instrument)
  const attack = sound.attackSeconds * MUSIC_SAMPLE_RATE
  const release = Math.min(0.04 * MUSIC_SAMPLE_RATE, (noteEnd - noteStart) / 2)
  const decayPerSample = Math.exp(-sound.decay / MUSIC_SAMPLE_RATE)
  const from = Math.max(0, noteStart - blockStart)
  const to = Math.min(left.length, noteEnd - blockStart)
  let level = note.loudness * decayPerSample ** (blockStart + from - noteStart)
  for (let index = from; index < to; index += 1) {
    const age = blockStart + index - noteStart
    const edge = Math.min(1, age / attack, (noteEnd - noteStart - age) / release)
    // The pitch of a drum falls after the stroke.
    const turns =
      note.instrument === 'drum'
        ? (note.frequencyHz * age * (1 + 400 / (age + 300))) / MUSIC_SAMPLE_RATE
        : (note.frequencyHz * age) / MUSIC_SAMPLE_RATE
    const value = (table[Math.floor((turns - Math.floor(turns)) * TABLE_SIZE)] ?? 0) * level * edge
    left[index] = (left[index] ?? 0) + value * (1 - sound.place) * 1.4
    right[index] = (right[index] ?? 0) + value * sound.place * 1.4
    level *= decayPerSample
  }
}

/** Returns one period of the instrument's wave, or noise for an instrument without harmonics. */
function findTable(instrument: Instrument): Float32Array {
  const known = TABLES.get(instrument)
  if (known) return known
  const { harmonics } = SOUNDS[instrument]
  let noise = 1
  const table = Float32Array.from({ length: TABLE_SIZE }, (_, index) => {
    noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0
    if (harmonics.length === 0) return noise / 0x8000_0000
    return harmonics.reduce(
      (sum, loudness, harmonic) =>
        sum + loudness * Math.sin((2 * Math.PI * (harmonic + 1) * index) / TABLE_SIZE),
      0,
    )
  })
  TABLES.set(instrument, table)
  return table
}

/** Limits the amplitude, and fades out at the end. */
function shapeBlock(channel: Float32Array, start: number, sampleCount: number): void {
  const fadeSamples = Math.min(FADE_SECONDS * MUSIC_SAMPLE_RATE, sampleCount / 4)
  for (let index = 0; index < channel.length; index += 1) {
    const fade = Math.min(1, (sampleCount - start - index) / fadeSamples)
    channel[index] = Math.tanh((channel[index] ?? 0) * 1.1) * fade
  }
}
