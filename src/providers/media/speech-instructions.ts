import type { SpeechWork } from './media-work.ts'

/** OpenAI's first speech models (`tts-1`) do not accept instructions. */
export function takesInstructions(upstreamModel: string): boolean {
  return !upstreamModel.startsWith('tts-1')
}

/**
 * Instructions cost far less than spoken text: gpt-4o-mini-tts bills at most $0.0000006 for each byte (a byte is at most one
 * token), and 28 times as much for each character of speech.
 */
const INSTRUCTION_BYTES_PER_CHARACTER = 16

/**
 * Returns the number of code points of the text (an emoji of two code units counts once), plus one for every
 * `INSTRUCTION_BYTES_PER_CHARACTER` bytes of instructions.
 */
export function countSpeechCharacters({ input, instructions }: SpeechWork): number {
  const read = Math.ceil(Buffer.byteLength(instructions ?? '') / INSTRUCTION_BYTES_PER_CHARACTER)
  return Array.from(input).length + read
}
