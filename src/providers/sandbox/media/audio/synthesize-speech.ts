import { createRandomFromText } from '../../../../kernel/seeded-random.ts'

export const SPEECH_SAMPLE_RATE = 24_000
const CHARACTERS_PER_SECOND = 15
const SECONDS_MIN = 0.4
const BLOCK_SAMPLES = 2048
const LOUDNESS = 0.6

interface Utterance {
  readonly text: string
  readonly pitchHz: number
  readonly speed: number
  readonly seedText: string
}

export function countSpeechSamples(text: string, speed: number): number {
  const seconds = Math.max(SECONDS_MIN, Array.from(text).length / CHARACTERS_PER_SECOND / speed)
  return Math.round(seconds * SPEECH_SAMPLE_RATE)
}

/** Hums a tone for each letter and digit, around the pitch of the voice. Everything else is silence. */
export function* synthesizeSpeech({ text, pitchHz, speed, seedText }: Utterance): Generator<Float32Array> {
  const sampleCount = countSpeechSamples(text, speed)
  const random = createRandomFromText(seedText)
  const tonesHz = Array.from(text, (character) =>
    /[\p{L}\p{N}]/u.test(character) ? pitchHz * (0.85 + random.below(300) / 1000) : 0,
  )
  let angle = 0
  for (let start = 0; start < sampleCount; start += BLOCK_SAMPLES) {
    const block = new Float32Array(Math.min(BLOCK_SAMPLES, sampleCount - start))
    for (let index = 0; index < block.length; index += 1) {
      const place = ((start + index) / sampleCount) * tonesHz.length
      const toneHz = tonesHz[Math.floor(place)] ?? 0
      if (toneHz === 0) continue
      angle = (angle + (2 * Math.PI * toneHz) / SPEECH_SAMPLE_RATE) % (2 * Math.PI)
      // Each tone swells and fades, because a tone that begins at full strength clicks.
      const swell = Math.sin(Math.PI * (place % 1))
      block[index] = LOUDNESS * swell * (Math.sin(angle) + Math.sin(2 * angle) / 2)
    }
    yield block
  }
}
