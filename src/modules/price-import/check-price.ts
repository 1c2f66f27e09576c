import { ImplausibleEntry, type ListedPrice, type ListedStep, type ListedTokenPrice } from './price-list.ts'

/** An embedding has no output. */
interface CheckOptions {
  readonly hasOutput: boolean
}

/** Throws if the amounts do not fit together. A price of zero is a mistake until an operator enters it. */
export function checkPrice(price: ListedPrice, { hasOutput }: CheckOptions): void {
  if (price.unit !== 'token') {
    if (price.usd === 0) throw new ImplausibleEntry('the price is zero')
    return
  }
  checkRates(price, hasOutput)
  for (const step of price.long_context ?? []) checkRates(step, hasOutput)
}

function checkRates(rates: ListedTokenPrice | ListedStep, hasOutput: boolean): void {
  const { input_usd_per_1m: input, cached_input_usd_per_1m: cached } = rates
  if (input === 0 || (hasOutput && rates.output_usd_per_1m === 0))
    throw new ImplausibleEntry('the price is zero')
  if (cached !== undefined && cached > input)
    throw new ImplausibleEntry('a cached token costs more than another one')
  if (rates.cache_write_usd_per_1m === 0) throw new ImplausibleEntry('writing to the cache costs nothing')
}
