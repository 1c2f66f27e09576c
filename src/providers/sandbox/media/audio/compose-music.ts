import { createRandomFromText, type SeededRandom } from '../../../../kernel/seeded-random.ts'

export interface Note {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly frequencyHz: number
  readonly loudness: number
  readonly instrument: Instrument
}

export type Instrument = 'pad' | 'bass' | 'lead' | 'voice' | 'drum' | 'hat'

interface Brief {
  readonly prompt: string
  readonly seedText: string
  readonly isSung: boolean
  readonly durationSeconds: number
}

const MAJOR = [0, 2, 4, 5, 7, 9, 11]
const MINOR = [0, 2, 3, 5, 7, 8, 10]
/** Scale degrees of the chords, one for each bar. */
const PROGRESSIONS: readonly [readonly number[], ...(readonly number[])[]] = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 3, 0, 4],
  [0, 2, 3, 4],
]
const BEATS_PER_BAR = 4
const BARS_MAX = 400

/** Composes a song. Its tempo, mode and instruments depend on the prompt's words, and its tune on the seed. */
export function* composeMusic(brief: Brief): Generator<Note> {
  const random = createRandomFromText(brief.seedText)
  const mood = readMood(brief.prompt, random)
  const key = 45 + random.below(12)
  const progression = random.pick(PROGRESSIONS)
  const theme = Array.from({ length: 16 }, () => random.below(7))
  const beatSeconds = 60 / mood.beatsPerMinute
  for (let bar = 0; bar < BARS_MAX; bar += 1) {
    const startSeconds = bar * BEATS_PER_BAR * beatSeconds
    if (startSeconds >= brief.durationSeconds) return
    const degree = progression[bar % progression.length] ?? 0
    const context = { startSeconds, beatSeconds, mood, key, degree, bar }
    yield* playChord(context)
    yield* playBass(context)
    yield* playTune(context, theme, brief.isSung ? 'voice' : 'lead')
    if (mood.hasDrums && bar > 0) yield* playDrums(context)
  }
}

interface Mood {
  readonly beatsPerMinute: number
  readonly scale: readonly number[]
  readonly hasDrums: boolean
}

function readMood(prompt: string, random: SeededRandom): Mood {
  const isCalm = /\b(calm|slow|ambient|lullaby|sleep|relax|meditat|soft|gentle|piano|ballad)/i.test(prompt)
  const isFast = /\b(fast|energetic|techno|house|dance|rock|punk|drum|upbeat|metal|party|edm)/i.test(prompt)
  const isDark = /\b(sad|dark|minor|melanchol|night|rain|gloom|horror|tense|epic)/i.test(prompt)
  const base = isCalm ? 66 : isFast ? 124 : 94
  return {
    beatsPerMinute: base + random.below(16),
    scale: isDark ? MINOR : MAJOR,
    hasDrums: !isCalm,
  }
}

interface Bar {
  readonly startSeconds: number
  readonly beatSeconds: number
  readonly mood: Mood
  readonly key: number
  readonly degree: number
  readonly bar: number
}

function* playChord({ startSeconds, beatSeconds, mood, key, degree }: Bar): Generator<Note> {
  for (const step of [0, 2, 4]) {
    yield {
      startSeconds,
      endSeconds: startSeconds + BEATS_PER_BAR * beatSeconds,
      frequencyHz: pitchOf(mood.scale, key + 12, degree + step),
      loudness: 0.1,
      instrument: 'pad',
    }
  }
}

function* playBass({ startSeconds, beatSeconds, mood, key, degree }: Bar): Generator<Note> {
  for (const beat of [0, 1.5, 2, 3]) {
    const start = startSeconds + beat * beatSeconds
    yield {
      startSeconds: start,
      endSeconds: start + beatSeconds * 0.9,
      frequencyHz: pitchOf(mood.scale, key - 12, degree),
      loudness: 0.2,
      instrument: 'bass',
    }
  }
}

const STEPS_PER_BAR = 8

/** Plays the theme, changed so that strong beats fall on notes of the chord. Every second bar rests in its second half. */
function* playTune(
  { startSeconds, beatSeconds, mood, key, degree, bar }: Bar,
  theme: readonly number[],
  instrument: Instrument,
): Generator<Note> {
  const stepSeconds = beatSeconds / 2
  for (let step = 0; step < STEPS_PER_BAR; step += 1) {
    const move = theme[(bar * STEPS_PER_BAR + step) % theme.length] ?? 0
    const isRest = move === 0 || (bar % 2 === 1 && step > 4)
    if (isRest) continue
    const note = degree + (step % 4 === 0 ? (move % 3) * 2 : move)
    const start = startSeconds + step * stepSeconds
    yield {
      startSeconds: start,
      endSeconds: start + stepSeconds * (move % 2 === 0 ? 1.7 : 0.95),
      frequencyHz: pitchOf(mood.scale, key + 24, note),
      loudness: 0.16,
      instrument,
    }
  }
}

function* playDrums({ startSeconds, beatSeconds }: Bar): Generator<Note> {
  for (let half = 0; half < STEPS_PER_BAR; half += 1) {
    const start = startSeconds + (half * beatSeconds) / 2
    yield {
      startSeconds: start,
      endSeconds: start + 0.05,
      frequencyHz: 8000,
      loudness: 0.05,
      instrument: 'hat',
    }
    if (half % 4 !== 0) continue
    yield {
      startSeconds: start,
      endSeconds: start + 0.22,
      frequencyHz: 70,
      loudness: 0.4,
      instrument: 'drum',
    }
  }
}

/** Returns the frequency of a step of the scale above the key, which is a MIDI note number. */
function pitchOf(scale: readonly number[], key: number, step: number): number {
  const octave = Math.floor(step / scale.length)
  const halfTones = key + 12 * octave + (scale[step % scale.length] ?? 0)
  return 440 * 2 ** ((halfTones - 69) / 12)
}
