/** About what models write, of those that are neither very large nor very fast. */
const TOKENS_PER_SECOND = 50

/**
 * What an upstream may have written that works without a word and then tells nothing: its time is all that is known.
 * @param outputTokensMax what was asked for at most; null without a limit
 */
export function estimateHiddenTokens(hiddenMs: number, outputTokensMax: number | null): number {
  const tokens = Math.ceil((Math.max(0, hiddenMs) / 1000) * TOKENS_PER_SECOND)
  return outputTokensMax === null ? tokens : Math.min(tokens, outputTokensMax)
}
