/** Typical speed of a model that is neither very large nor very fast. */
const TOKENS_PER_SECOND = 50

/**
 * Estimates how many tokens an upstream wrote without showing them or reporting usage. Only the elapsed time is known.
 * @param outputTokensMax the limit in the request; null without a limit
 */
export function estimateHiddenTokens(hiddenMs: number, outputTokensMax: number | null): number {
  const tokens = Math.ceil((Math.max(0, hiddenMs) / 1000) * TOKENS_PER_SECOND)
  return outputTokensMax === null ? tokens : Math.min(tokens, outputTokensMax)
}
