import { splitLongRuns } from './split-long-runs.ts'
import { loadTokenEncoding, type TokenEncodingName } from './token-encoding.ts'

/** Counts tokens, by default in `o200k`. */
export function countTokens(text: string, encodingName: TokenEncodingName = 'o200k'): number {
  const encoding = loadTokenEncoding(encodingName)
  let tokens = 0
  for (const run of splitLongRuns(text.toWellFormed())) tokens += encoding.countTokens(run)
  return tokens
}
