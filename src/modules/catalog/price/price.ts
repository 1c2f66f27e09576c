import type { NanoUsd } from '../../../kernel/money.ts'
import {
  PRICE_TRAITS,
  type PriceTrait,
  type TokenPrice,
  type TokenRates,
  type UnitPrice,
} from '../catalog-model.ts'

export interface TokenCounts {
  readonly promptTokens: number
  /** The part of the prompt that the upstream read from its cache. */
  readonly cachedTokens: number
  /** The part of the prompt that the upstream wrote to its cache. */
  readonly cacheWriteTokens?: number
  /** The part of the cache writes that is kept for an hour. */
  readonly cacheWriteHourTokens?: number
  /** The part of the prompt that is audio. */
  readonly audioPromptTokens?: number
  /** Includes reasoning tokens. */
  readonly completionTokens: number
  /** The part of the completion that is audio. */
  readonly audioCompletionTokens?: number
}

const TOKENS_PER_PRICE = 1_000_000n

/** Returns the cost of a request. Rounds up once at the end, so that no request is sold below its price. */
export function priceTokens(price: TokenPrice, counts: TokenCounts): NanoUsd {
  const prompt = toCount(counts.promptTokens)
  const heard = lesser(toCount(counts.audioPromptTokens ?? 0), prompt)
  // Cached tokens beyond the prompt get no discount. Audio gets none either, because upstreams do not report how much of it was
  // cached.
  const cached = lesser(toCount(counts.cachedTokens), prompt - heard)
  const written = lesser(toCount(counts.cacheWriteTokens ?? 0), prompt - heard - cached)
  const writtenForHour = lesser(toCount(counts.cacheWriteHourTokens ?? 0), written)
  const completion = toCount(counts.completionTokens)
  const spoken = lesser(toCount(counts.audioCompletionTokens ?? 0), completion)
  const rates = selectRates(price, prompt)
  const writeRate = rates.cacheWriteNanoUsdPer1m ?? rates.inputNanoUsdPer1m
  const amount =
    (prompt - heard - cached - written) * rates.inputNanoUsdPer1m +
    heard * greater(price.audioInputNanoUsdPer1m ?? 0n, rates.inputNanoUsdPer1m) +
    cached * rates.cachedInputNanoUsdPer1m +
    (written - writtenForHour) * writeRate +
    writtenForHour * (rates.cacheWriteHourNanoUsdPer1m ?? writeRate) +
    (completion - spoken) * rates.outputNanoUsdPer1m +
    spoken * greater(price.audioOutputNanoUsdPer1m ?? 0n, rates.outputNanoUsdPer1m)
  return (amount + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE
}

function selectRates(price: TokenPrice, promptTokens: bigint): TokenRates {
  return price.longContext.findLast(({ aboveTokens }) => promptTokens > BigInt(aboveTokens)) ?? price
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function toCount(tokens: number): bigint {
  if (!Number.isSafeInteger(tokens) || tokens < 0) throw new RangeError(`not a count of tokens: ${tokens}`)
  return BigInt(tokens)
}

/** Nano-dollars per unit including multipliers, in fractions of 1 / `RATE_PARTS`. */
export type UnitRate = bigint

const MULTIPLIER_ONE = 1_000_000n
/** Must not change, because the rates of running tasks are stored. Exact for four multipliers, and no request has more. */
const RATE_PARTS = MULTIPLIER_ONE ** 4n
/** Seconds have a resolution of a thousandth. */
const UNIT_PARTS = 1000
/** Keeps floating-point errors from rounding up: 5.04 seconds are 5040 thousandths. */
const FLOAT_NOISE = 1e-6

/** Returns the unit price for these traits. Values that the catalog does not name have the multiplier 1. */
export function unitRate(
  { nanoUsdPerUnit, multipliers = {} }: UnitPrice,
  traits: Readonly<Partial<Record<PriceTrait, string | null>>> = {},
): UnitRate {
  let rate = nanoUsdPerUnit * RATE_PARTS
  for (const trait of PRICE_TRAITS) {
    const value = traits[trait]
    const values = multipliers[trait]
    if (typeof value !== 'string' || value === '' || values === undefined) continue
    // `hd@1792x1024` is the multiplier of a quality at that size, for prices that are not a product of both.
    const multiplier = values.get(`${value}@${traits.size ?? ''}`) ?? values.get(value)
    if (multiplier !== undefined) rate = (rate * multiplier) / MULTIPLIER_ONE
  }
  return rate
}

/** Returns the cost of this number of units. Rounds up once at the end. */
export function priceUnits(rate: UnitRate, units: number): NanoUsd {
  return priceThousandths(rate, toThousandths(units))
}

export function toThousandths(units: number): bigint {
  if (!Number.isFinite(units) || units < 0) throw new RangeError(`not a number of units: ${units}`)
  return BigInt(Math.ceil(units * UNIT_PARTS - FLOAT_NOISE))
}

export function priceThousandths(rate: UnitRate, thousandths: bigint): NanoUsd {
  const amount = rate * thousandths
  const parts = RATE_PARTS * BigInt(UNIT_PARTS)
  return (amount + parts - 1n) / parts
}
