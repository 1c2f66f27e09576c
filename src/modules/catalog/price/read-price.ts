import { nanoUsdFromUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { CachePrices } from '../../../providers/vendor-descriptor.ts'
import { vendorOf } from '../../../providers/vendors.ts'
import type { ModelPrice, TokenPrice, TokenRates } from '../catalog-model.ts'
import type { CatalogEntry, PriceList } from '../entry/catalog-schema.ts'
import { readMultipliers } from '../entry/read-bounds.ts'

export function readPrice(entry: CatalogEntry, place: string, problems: string[]): ModelPrice {
  return readPriceList(entry.price, { cachePrices: cachePricesOf(entry), place, problems })
}

interface ReadListOptions {
  /** For amounts of caches that the list does not say. */
  readonly cachePrices: CachePrices | null
  readonly place: string
  readonly problems: string[]
}

/** Converts the dollars of a catalog file to nano-dollars. Amounts with a finer resolution are added to the problems. */
export function readPriceList(
  price: PriceList,
  { cachePrices: defaults, place, problems }: ReadListOptions,
): ModelPrice {
  const read: ReadAmount = (field, usd = 0) => {
    try {
      return nanoUsdFromUsd(usd)
    } catch {
      problems.push(`${place}.${field}: is finer than a nano-dollar`)
      return 0n
    }
  }
  if (price.unit !== 'token') {
    return {
      unit: price.unit,
      nanoUsdPerUnit: read('usd', price.usd),
      ...(price.input_image_usd === undefined
        ? {}
        : { nanoUsdPerInputImage: read('input_image_usd', price.input_image_usd) }),
      ...(price.multipliers ? { multipliers: readMultipliers(price.multipliers) } : {}),
      ...readBatchFactors(price),
    }
  }
  const longContext = (price.long_context ?? [])
    .map((rates, index) => ({
      aboveTokens: rates.above_tokens,
      ...readRates(rates, (field, usd) => read(`long_context[${index}].${field}`, usd), defaults),
    }))
    .sort((left, right) => left.aboveTokens - right.aboveTokens)
  return {
    unit: 'token',
    ...readRates(price, read, defaults),
    ...readAudioRates(price, read),
    longContext,
    ...readBatchFactors(price),
  }
}

function readBatchFactors({ batch_factor: handed, batch_single_factor: single }: PriceList) {
  return {
    ...(handed === undefined ? {} : { batchMillionths: toMillionths(handed) }),
    ...(single === undefined ? {} : { batchSingleMillionths: toMillionths(single) }),
  }
}

function toMillionths(factor: number): bigint {
  return BigInt(Math.round(factor * 1_000_000))
}

type ReadAmount = (field: string, usd?: number) => NanoUsd

type RateFields = Pick<
  CatalogEntry['price'],
  | 'input_usd_per_1m'
  | 'cached_input_usd_per_1m'
  | 'cache_write_usd_per_1m'
  | 'cache_write_1h_usd_per_1m'
  | 'output_usd_per_1m'
>

/** Returns the cache prices of the model's vendor, or of a provider that serves it. */
export function cachePricesOf({
  vendor,
  routes,
}: Pick<CatalogEntry, 'vendor' | 'routes'>): CachePrices | null {
  const ofVendor = vendorOf(vendor.toLowerCase())
  if (ofVendor?.cachePrices !== undefined && ofVendor.hasCachePrices === undefined)
    return ofVendor.cachePrices
  for (const { provider, model } of routes) {
    const { cachePrices, hasCachePrices } = vendorOf(provider) ?? {}
    if (cachePrices !== undefined && hasCachePrices?.(model) !== false) return cachePrices
  }
  return null
}

/**
 * Cache reads and writes without a price cost the same as input, except for Claude models. A cache write never costs less
 * than input, and a one-hour write never less than a five-minute write, also if the operator raises only one of the prices.
 */
function readRates(rates: RateFields, read: ReadAmount, defaults: CachePrices | null): TokenRates {
  const input = read('input_usd_per_1m', rates.input_usd_per_1m)
  const cached =
    rates.cached_input_usd_per_1m === undefined
      ? shareOf(input, defaults?.read ?? 100n)
      : read('cached_input_usd_per_1m', rates.cached_input_usd_per_1m)
  const write =
    rates.cache_write_usd_per_1m === undefined
      ? defaults && shareOf(input, defaults.write)
      : larger(read('cache_write_usd_per_1m', rates.cache_write_usd_per_1m), input)
  const hourWrite =
    rates.cache_write_1h_usd_per_1m === undefined
      ? defaults && larger(shareOf(input, defaults.hourWrite), write ?? input)
      : larger(read('cache_write_1h_usd_per_1m', rates.cache_write_1h_usd_per_1m), write ?? input)
  return {
    inputNanoUsdPer1m: input,
    cachedInputNanoUsdPer1m: cached,
    ...(write === null ? {} : { cacheWriteNanoUsdPer1m: write }),
    ...(hourWrite === null ? {} : { cacheWriteHourNanoUsdPer1m: hourWrite }),
    outputNanoUsdPer1m: read('output_usd_per_1m', rates.output_usd_per_1m),
  }
}

/** Audio tokens never cost less than text tokens, also if the operator raises only the price of text. */
function readAudioRates(
  price: CatalogEntry['price'],
  read: ReadAmount,
): Pick<TokenPrice, 'audioInputNanoUsdPer1m' | 'audioOutputNanoUsdPer1m'> {
  const { audio_input_usd_per_1m: input, audio_output_usd_per_1m: output } = price
  const inputUsd = input === undefined ? undefined : Math.max(input, price.input_usd_per_1m ?? 0)
  const outputUsd = output === undefined ? undefined : Math.max(output, price.output_usd_per_1m ?? 0)
  return {
    ...(inputUsd === undefined ? {} : { audioInputNanoUsdPer1m: read('audio_input_usd_per_1m', inputUsd) }),
    ...(outputUsd === undefined
      ? {}
      : { audioOutputNanoUsdPer1m: read('audio_output_usd_per_1m', outputUsd) }),
  }
}

/** Rounds up, so that nothing is sold below its price. */
function shareOf(amount: NanoUsd, hundredths: bigint): NanoUsd {
  return (amount * hundredths + 99n) / 100n
}

function larger(left: NanoUsd, right: NanoUsd): NanoUsd {
  return left > right ? left : right
}
