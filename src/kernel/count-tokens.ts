import { createRequire } from 'node:module'

type CountTokens = (text: string, options: { disallowedSpecial: Set<string> }) => number

const require = createRequire(import.meta.url)
let countWithEncoding: CountTokens | null = null

/** The encoder's time grows with the square of a run without spaces; slices keep it in proportion to the text. */
const SLICE_LENGTH = 2048
/** A text that spells out a special token is still text. */
const PLAIN = { disallowedSpecial: new Set<string>() }

/** Tokens in the encoding that current models share. The table is loaded on first use: it costs 100 ms and 80 MB. */
export function countTokens(text: string): number {
  countWithEncoding ??= loadEncoding()
  let tokens = 0
  for (let start = 0; start < text.length; start += SLICE_LENGTH) {
    tokens += countWithEncoding(text.slice(start, start + SLICE_LENGTH), PLAIN)
  }
  return tokens
}

function loadEncoding(): CountTokens {
  const encoding = require('gpt-tokenizer/encoding/o200k_base') as { countTokens: CountTokens }
  return encoding.countTokens
}
