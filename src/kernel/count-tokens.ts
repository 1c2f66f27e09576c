import { splitLongRuns } from './split-long-runs.ts'
import { loadTokenEncoding } from './token-encoding.ts'

/** Tokens in the encoding that current models share. */
export function countTokens(text: string): number {
  const encoding = loadTokenEncoding()
  let tokens = 0
  for (const run of splitLongRuns(text.toWellFormed())) tokens += encoding.countTokens(run)
  return tokens
}
