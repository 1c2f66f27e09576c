import type { SpeechWork } from './media-work.ts'

interface SpeechRoute {
  readonly provider: string
  readonly model: string
}

/** They have no such member. */
const PROVIDERS_WITHOUT: ReadonlySet<string> = new Set(['elevenlabs', 'deepgram'])

/** Without instructions that no upstream of the model would be sent, so that nobody pays for them. */
export function keepReadInstructions(work: SpeechWork, routes: readonly SpeechRoute[]): SpeechWork {
  if (work.instructions === null) return work
  const isRead = routes.some(
    ({ provider, model }) => !PROVIDERS_WITHOUT.has(provider) && takesInstructions(model),
  )
  return isRead ? work : { ...work, instructions: null }
}

/** OpenAI's first models of speech are told nothing but the text. */
export function takesInstructions(upstreamModel: string): boolean {
  return !upstreamModel.startsWith('tts-1')
}

/**
 * What is read costs far less than what is spoken: gpt-4o-mini-tts bills at most $0.0000006 a byte, as a byte is at most a token, and
 * its character costs 28 times as much.
 */
const INSTRUCTION_BYTES_PER_CHARACTER = 16

/** The characters of the text, as people count them (an emoji of two code units is one), and one for so many bytes of instructions. */
export function countSpeechCharacters({ input, instructions }: SpeechWork): number {
  const read = Math.ceil(Buffer.byteLength(instructions ?? '') / INSTRUCTION_BYTES_PER_CHARACTER)
  return Array.from(input).length + read
}
