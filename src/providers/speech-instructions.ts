import type { SpeechWork } from './media-work.ts'

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
