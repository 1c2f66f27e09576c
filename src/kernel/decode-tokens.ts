import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Turns token ids of the o200k encoding back into text. */
export function decodeTokens(tokens: readonly number[]): string {
  const encoding = require('gpt-tokenizer/encoding/o200k_base') as {
    decode(tokens: Iterable<number>): string
  }
  return encoding.decode(tokens)
}
