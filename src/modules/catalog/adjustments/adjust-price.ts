import type { NanoUsd } from '../../../kernel/money.ts'
import type { ModelPrice, TokenRates } from '../catalog-model.ts'
import type { PriceTerms } from './price-terms.ts'

/** Whether the terms change prices of this unit at all. */
export function concernsUnit(terms: PriceTerms, unit: ModelPrice['unit']): boolean {
  return terms.kind === 'percent' || terms.unit === unit
}

/**
 * Returns the price list with the terms applied to each of its amounts. Holds, charges and recomputed bills all use it like any other list,
 * so that none of them needs to know of adjustments. Each amount is rounded up: one that is not zero stays above zero, unless the whole of
 * it is taken off. None is ever negative.
 */
export function adjustPrice(price: ModelPrice, terms: PriceTerms): ModelPrice {
  if (!concernsUnit(terms, price.unit)) return price
  const [input, output] = [adjusterOf(terms, 'input'), adjusterOf(terms, 'output')]
  if (price.unit !== 'token')
    return {
      ...price,
      nanoUsdPerUnit: input(price.nanoUsdPerUnit),
      ...(price.nanoUsdPerInputImage === undefined || terms.kind === 'unit'
        ? {}
        : { nanoUsdPerInputImage: input(price.nanoUsdPerInputImage) }),
    }
  const adjustRates = (rates: TokenRates): TokenRates => ({
    inputNanoUsdPer1m: input(rates.inputNanoUsdPer1m),
    cachedInputNanoUsdPer1m: input(rates.cachedInputNanoUsdPer1m),
    ...(rates.cacheWriteNanoUsdPer1m === undefined
      ? {}
      : { cacheWriteNanoUsdPer1m: input(rates.cacheWriteNanoUsdPer1m) }),
    ...(rates.cacheWriteHourNanoUsdPer1m === undefined
      ? {}
      : { cacheWriteHourNanoUsdPer1m: input(rates.cacheWriteHourNanoUsdPer1m) }),
    outputNanoUsdPer1m: output(rates.outputNanoUsdPer1m),
  })
  const { batchMillionths, batchSingleMillionths } = price
  return {
    unit: price.unit,
    ...(batchMillionths === undefined ? {} : { batchMillionths }),
    ...(batchSingleMillionths === undefined ? {} : { batchSingleMillionths }),
    ...adjustRates(price),
    ...(price.audioInputNanoUsdPer1m === undefined
      ? {}
      : { audioInputNanoUsdPer1m: input(price.audioInputNanoUsdPer1m) }),
    ...(price.audioOutputNanoUsdPer1m === undefined
      ? {}
      : { audioOutputNanoUsdPer1m: output(price.audioOutputNanoUsdPer1m) }),
    longContext: price.longContext.map(({ aboveTokens, ...rates }) => ({
      aboveTokens,
      ...adjustRates(rates),
    })),
  }
}

const MILLIONTHS = 1_000_000n

/** Never lowers a higher amount below a lower one: what is the dearest before is the dearest after. */
function adjusterOf(terms: PriceTerms, side: 'input' | 'output'): (amount: NanoUsd) => NanoUsd {
  if (terms.kind === 'percent') {
    const share = MILLIONTHS + terms.millionths
    if (share < 0n) throw new RangeError(`a discount of more than everything: ${terms.millionths}`)
    return (amount) => (amount * share + MILLIONTHS - 1n) / MILLIONTHS
  }
  const added = side === 'input' ? terms.nanoUsd : terms.outputNanoUsd
  return (amount) => (amount + added > 0n ? amount + added : 0n)
}
