import type { NanoUsd } from '../../kernel/money.ts'
import type { TokenPrice, TokenRates } from './catalog-model.ts'

export interface TokenCounts {
  readonly promptTokens: number
  /** The part of the prompt the upstream read from its cache. */
  readonly cachedTokens: number
  /** Reasoning tokens are inside. */
  readonly completionTokens: number
}

const TOKENS_PER_PRICE = 1_000_000n

/** What a request costs. Rounded up once, at the end, so that no request is sold below its price. */
export function priceTokens(price: TokenPrice, counts: TokenCounts): NanoUsd {
  const prompt = toCount(counts.promptTokens)
  // An upstream that reports more cached tokens than there are in the prompt gives no discount on the excess.
  const reportedCached = toCount(counts.cachedTokens)
  const cached = reportedCached < prompt ? reportedCached : prompt
  const rates = selectRates(price, prompt)
  const amount =
    (prompt - cached) * rates.inputNanoUsdPer1m +
    cached * rates.cachedInputNanoUsdPer1m +
    toCount(counts.completionTokens) * rates.outputNanoUsdPer1m
  return (amount + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE
}

function selectRates(price: TokenPrice, promptTokens: bigint): TokenRates {
  return price.longContext.findLast(({ aboveTokens }) => promptTokens > BigInt(aboveTokens)) ?? price
}

function toCount(tokens: number): bigint {
  if (!Number.isSafeInteger(tokens) || tokens < 0) throw new RangeError(`not a count of tokens: ${tokens}`)
  return BigInt(tokens)
}
