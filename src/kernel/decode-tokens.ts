import { loadTokenEncoding } from './token-encoding.ts'

/**
 * Turns token ids of the o200k encoding back into text. Null when one of them is no token of it. The package's own
 * decoder keeps half a character for its next caller, so the bytes are put together here.
 */
export function decodeTokens(tokens: readonly number[]): string | null {
  const { vocabulary } = loadTokenEncoding()
  const parts: Buffer[] = []
  for (const token of tokens) {
    const entry = vocabulary[token]
    if (entry === undefined) return null
    parts.push(typeof entry === 'string' ? Buffer.from(entry) : Buffer.from(entry))
  }
  return Buffer.concat(parts).toString()
}
