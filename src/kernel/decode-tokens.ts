import { loadTokenEncoding, type TokenEncodingName } from './token-encoding.ts'

/**
 * Turns token ids back into text, of the o200k encoding unless another is named. Null when one of them is no token of it. The
 * package's own decoder keeps half a character for its next caller, so the bytes are put together here.
 */
export function decodeTokens(
  tokens: readonly number[],
  encodingName: TokenEncodingName = 'o200k',
): string | null {
  const { vocabulary } = loadTokenEncoding(encodingName)
  const parts: Buffer[] = []
  for (const token of tokens) {
    const entry = vocabulary[token]
    if (entry === undefined) return null
    parts.push(typeof entry === 'string' ? Buffer.from(entry) : Buffer.from(entry))
  }
  return Buffer.concat(parts).toString()
}
