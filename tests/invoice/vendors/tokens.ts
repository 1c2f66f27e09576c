import { loadTokenEncoding } from '../../../src/kernel/tokens/token-encoding.ts'

/** OpenAI's vocabulary, which every simulated vendor uses. */
export function countTokens(text: string): number {
  return text === '' ? 0 : loadTokenEncoding('o200k').countTokens(text)
}

export function countJson(value: unknown): number {
  return value === undefined || value === null ? 0 : countTokens(JSON.stringify(value))
}

/** Returns the text of token ids, as the vendor reads it. */
export function decodeIds(ids: readonly number[]): string {
  const { vocabulary } = loadTokenEncoding('o200k')
  return ids
    .map((id) => vocabulary[id] ?? '')
    .map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8')))
    .join('')
}

export function encodeText(text: string): number[] {
  return loadTokenEncoding('o200k').encode(text)
}
