import { loadTokenEncoding, type TokenEncodingName } from './token-encoding.ts'

/**
 * Decodes token ids to text, by default of `o200k`. Returns null if an id is unknown. Joins the bytes itself, because the
 * package's decoder keeps an incomplete character for its next call.
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
