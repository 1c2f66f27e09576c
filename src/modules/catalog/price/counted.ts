import type { NanoUsd } from '../../../kernel/money.ts'
import { PRICE_TRAITS, type ModelPrice, type PriceTrait, type UnitPrice } from '../catalog-model.ts'
import { priceThousandths, priceTokens, toThousandths, unitRate, type TokenCounts } from './price.ts'

/**
 * What was counted for a charge, as a short text that is stored beside it, so that a price list and a usage record give the charge
 * again. Fields are separated by `+`.
 *
 * - `f`: nothing is charged
 * - `t`: the tokens of the record; `t+<hour writes>+<audio heard>+<audio spoken>` if there are some of these
 * - `p+<tokens>`: input only, which the record may not have
 * - `u+<thousandths of units>+<input images>+<size>+<quality>+<resolution>+<audio>+<duration>`: the empty ones at the end are left out
 */
export type Counted = string

export const COUNTED_NOTHING: Counted = 'f'

/** On the hot path. */
export function countCharged(counts: TokenCounts): Counted {
  const { cacheWriteHourTokens = 0, audioPromptTokens = 0, audioCompletionTokens = 0 } = counts
  return cacheWriteHourTokens === 0 && audioPromptTokens === 0 && audioCompletionTokens === 0
    ? 't'
    : `t+${cacheWriteHourTokens}+${audioPromptTokens}+${audioCompletionTokens}`
}

export function countInput(promptTokens: number): Counted {
  return `p+${promptTokens}`
}

export type PriceTraits = Readonly<Partial<Record<PriceTrait, string | null>>>

export function countUnits(units: number, inputImages = 0, traits: Counted = ''): Counted {
  const counted = `u+${toThousandths(units)}`
  if (traits !== '') return `${counted}+${inputImages}+${traits}`
  return inputImages === 0 ? counted : `${counted}+${inputImages}`
}

/** As long as a name of the catalog. Longer values have no multiplier. */
const VALUE_LENGTH_MAX = 256

/** Packs the traits that the multipliers of any of the lists know: those of a price, and of what vendors charge. */
export function packTraits(lists: readonly Pick<UnitPrice, 'multipliers'>[], traits: PriceTraits): Counted {
  const known = new Set(lists.flatMap(({ multipliers = {} }) => Object.keys(multipliers)))
  const values = PRICE_TRAITS.map((trait) => {
    const value = traits[trait]
    // A value of another trait may be for one size.
    const isKnown = known.size > 0 && (trait === 'size' || known.has(trait))
    return isKnown && typeof value === 'string' && value.length <= VALUE_LENGTH_MAX
      ? encodeURIComponent(value.toWellFormed())
      : ''
  })
  return values.join('+').replace(/\++$/, '')
}

/** The cost of what was counted. Null if it does not suit the price list or cannot be read. */
export function priceCounted(price: ModelPrice, counted: Counted, record: TokenCounts): NanoUsd | null {
  const [kind, ...fields] = counted.split('+')
  if (kind === COUNTED_NOTHING) return 0n
  if (kind === 't' || kind === 'p') {
    const numbers = fields.map(Number)
    if (price.unit !== 'token' || !numbers.every((count) => Number.isSafeInteger(count) && count >= 0))
      return null
    if (kind === 'p')
      return priceTokens(price, { promptTokens: numbers[0] ?? 0, cachedTokens: 0, completionTokens: 0 })
    const [cacheWriteHourTokens = 0, audioPromptTokens = 0, audioCompletionTokens = 0] = numbers
    return priceTokens(price, { ...record, cacheWriteHourTokens, audioPromptTokens, audioCompletionTokens })
  }
  const [thousandths = '', inputImages = '0', ...values] = fields
  if (
    kind !== 'u' ||
    price.unit === 'token' ||
    !/^\d{1,18}$/.test(thousandths) ||
    !/^\d{1,9}$/.test(inputImages)
  )
    return null
  const traits: Partial<Record<PriceTrait, string>> = {}
  for (const [index, trait] of PRICE_TRAITS.entries()) {
    const value = values[index]
    if (value) traits[trait] = decodeURIComponent(value)
  }
  return (
    priceThousandths(unitRate(price, traits), BigInt(thousandths)) +
    (price.nanoUsdPerInputImage ?? 0n) * BigInt(inputImages)
  )
}
