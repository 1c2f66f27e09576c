import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Turns token ids of the o200k encoding back into text. Null when one of them is no token of it. */
export function decodeTokens(tokens: readonly number[]): string | null {
  const encoding = require('gpt-tokenizer/encoding/o200k_base') as {
    decode(tokens: Iterable<number>): string
  }
  try {
    return encoding.decode(tokens)
  } catch {
    return null
  }
}
