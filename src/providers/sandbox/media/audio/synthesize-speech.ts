import { createRandomFromText } from '../../../../kernel/seeded-random.ts'
import { listPhones, type Phone } from './phones.ts'
import type { VoiceSound } from './voices.ts'

export const SPEECH_SAMPLE_RATE = 24_000
const CHARACTERS_PER_SECOND = 15
const SECONDS_MIN = 0.4
const BLOCK_SAMPLES = 2048
/** Samples between two updates of the sound: one and a third milliseconds. */
const STEP_SAMPLES = 32
const EDGE_SAMPLES = 400
const BANDWIDTHS_HZ = [80, 110, 160] as const
const LOUDNESS = 0.9

interface Utterance {
  readonly text: string
  readonly sound: VoiceSound
  readonly speed: number
  readonly seedText: string
}

export function countSpeechSamples(text: string, speed: number): number {
  const seconds = Math.max(SECONDS_MIN, Array.from(text).length / CHARACTERS_PER_SECOND / speed)
  return Math.round(seconds * SPEECH_SAMPLE_RATE)
}

/**
 * Synthesizes speech from a buzz of the vocal folds and some noise, through three resonances that glide from letter to letter.
 */
export function* synthesizeSpeech({ text, sound, speed, seedText }: Utterance): Generator<Float32Array> {
  const sampleCount = countSpeechSamples(text, speed)
  const score = layOutPhones(listPhones(text), sampleCount, seedText)
  const throat = createThroat(sound)
  for (let start = 0; start < sampleCount; start += BLOCK_SAMPLES) {
    const block = new Float32Array(Math.min(BLOCK_SAMPLES, sampleCount - start))
    for (let offset = 0; offset < block.length; offset += STEP_SAMPLES)
      throat(score(start + offset), block.subarray(offset, offset + STEP_SAMPLES))
    for (let index = 0; index < block.length; index += 1) {
      const place = start + index
      const edge = Math.min(1, place / EDGE_SAMPLES, (sampleCount - place) / EDGE_SAMPLES)
      block[index] = (block[index] ?? 0) * edge * LOUDNESS
    }
    yield block
  }
}

interface Moment {
  readonly phone: Phone
  /** Relative pitch, which rises and falls within a sentence. */
  readonly pitchFactor: number
}

/** Returns a function that maps a sample position to its sound. Positions must be requested in ascending order. */
function layOutPhones(
  phones: readonly Phone[],
  sampleCount: number,
  seedText: string,
): (place: number) => Moment {
  const random = createRandomFromText(seedText)
  const total = phones.reduce((sum, { length }) => sum + length, 0) || 1
  const ends: number[] = []
  const pitches: number[] = []
  let reached = 0
  let pitch = 1.1
  for (const { length, voicing } of phones) {
    reached += length
    ends.push((reached / total) * sampleCount)
    // The pitch falls through a phrase, changes a little at each word, and resets after a pause.
    pitch = length > 2 ? 1.12 : voicing === 0 ? pitch * (0.985 + random.below(40) / 1000) : pitch * 0.997
    pitches.push(Math.min(1.35, Math.max(0.8, pitch)))
  }
  let current = 0
  const silent = { formantsHz: [500, 1500, 2500], voicing: 0, hiss: 0, length: 1 } as const
  return (place) => {
    while (current < ends.length - 1 && place >= (ends[current] ?? 0)) current += 1
    return { phone: phones[current] ?? silent, pitchFactor: pitches[current] ?? 1 }
  }
}

/** Creates a function that fills a few samples at a time. It keeps its state between calls, so that the sound is continuous. */
function createThroat({
  pitchHz,
  formantScale,
  breath,
}: VoiceSound): (moment: Moment, samples: Float32Array) => void {
  const formants: [number, number, number] = [500, 1500, 2500]
  const resonances = BANDWIDTHS_HZ.map(createResonance)
  let voicing = 0
  let hiss = 0
  let pitch = pitchHz
  let phase = 0
  let noiseState = 0x1234_5678
  return ({ phone, pitchFactor }, samples) => {
    // All parameters glide towards the values of the letter, as in a real vocal tract.
    voicing += (phone.voicing - voicing) * 0.12
    hiss += (phone.hiss - hiss) * 0.17
    pitch += (pitchHz * pitchFactor - pitch) * 0.013
    for (const [index, resonance] of resonances.entries()) {
      const target = (phone.formantsHz[index] ?? 500) * formantScale
      formants[index] = (formants[index] ?? 0) + (target - (formants[index] ?? 0)) * 0.077
      resonance.tune(formants[index] ?? 500)
    }
    for (let index = 0; index < samples.length; index += 1) {
      phase += pitch / SPEECH_SAMPLE_RATE
      if (phase >= 1) phase -= 1
      noiseState = (Math.imul(noiseState, 1_664_525) + 1_013_904_223) | 0
      const buzz = phase < 0.6 ? 0.7 - ((2 * phase) / 0.6 - 1) ** 2 : -0.3
      samples[index] = buzz * voicing + (noiseState / 0x8000_0000) * (hiss * 0.5 + voicing * breath)
    }
    for (const resonance of resonances) resonance.listen(samples)
    for (let index = 0; index < samples.length; index += 1) {
      let sample = 0
      for (const { heard, loudness } of resonances) sample += (heard[index] ?? 0) * loudness
      samples[index] = Math.tanh(sample * 1.6)
    }
  }
}

interface Resonance {
  /** Output for the samples of the last `listen` call. */
  readonly heard: Float32Array
  readonly loudness: number
  tune(frequencyHz: number): void
  listen(samples: Float32Array): void
}

/** Creates a two-pole resonator at one frequency. */
function createResonance(bandwidthHz: number, index: number): Resonance {
  const decay = Math.exp((-Math.PI * bandwidthHz) / SPEECH_SAMPLE_RATE)
  const heard = new Float32Array(STEP_SAMPLES)
  let turn = 0
  let gain = 0
  let last = 0
  let beforeLast = 0
  return {
    heard,
    loudness: index === 0 ? 1 : 0.6,
    tune(frequencyHz) {
      const angle = (2 * Math.PI * Math.min(frequencyHz, SPEECH_SAMPLE_RATE * 0.45)) / SPEECH_SAMPLE_RATE
      turn = 2 * decay * Math.cos(angle)
      gain = (1 - decay) * Math.sqrt(1 - 2 * decay * Math.cos(2 * angle) + decay * decay)
    },
    listen(samples) {
      const damping = decay * decay
      for (let place = 0; place < samples.length; place += 1) {
        const output = gain * (samples[place] ?? 0) + turn * last - damping * beforeLast
        beforeLast = last
        last = output
        heard[place] = output
      }
    },
  }
}
