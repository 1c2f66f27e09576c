import type { WorstCase } from './estimate-cost.ts'

/**
 * Returns whether a request asks to cache its prompt for an hour: whether its JSON has the string `1h`, with or without escapes.
 * Inside another string the quotes would be escaped, so text that mentions `1h` does not match.
 */
export function asksForHourCache(requestText: string): boolean {
  return HOUR.test(requestText)
}

const HOUR = /"(?:1|\\u0031)(?:h|\\u0068)"/

/** Adds the extra cost of an hour cache if the request may ask for it. */
export function boundHourCache(worstCase: WorstCase, requestText: string): WorstCase {
  const { hourCacheAmount, promptAmount, wantedNanoUsd, leastNanoUsd } = worstCase
  if (hourCacheAmount === 0n || !asksForHourCache(requestText)) return worstCase
  const moreNanoUsd = (hourCacheAmount + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE
  return {
    ...worstCase,
    promptAmount: promptAmount + moreNanoUsd * TOKENS_PER_PRICE,
    wantedNanoUsd: wantedNanoUsd + moreNanoUsd,
    leastNanoUsd: leastNanoUsd + moreNanoUsd,
  }
}

const TOKENS_PER_PRICE = 1_000_000n
