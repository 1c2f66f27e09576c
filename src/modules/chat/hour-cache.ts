import type { WorstCase } from './estimate-cost.ts'

/**
 * Whether a request asks to keep its prompt in a cache for an hour: whether its JSON has the string `1h`, in whichever
 * escapes. Within another string the quotes would be escaped, so text that speaks of hours does not count.
 */
export function asksForHourCache(requestText: string): boolean {
  return HOUR.test(requestText)
}

const HOUR = /"(?:1|\\u0031)(?:h|\\u0068)"/

/** The most a request can cost that may ask for such a cache. */
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
