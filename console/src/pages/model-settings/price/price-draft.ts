import type { PriceBody } from '../../../api/model-settings.ts'
import { readJson } from '../../../ui/forms/read-json.ts'

type Price = NonNullable<PriceBody['price']>
export type PriceUnit = Price['unit']

/** The amounts in the order of the form. */
const TOKEN_AMOUNTS = {
  input_usd_per_1m: 'Input',
  output_usd_per_1m: 'Output',
  cached_input_usd_per_1m: 'Input read from a cache',
  cache_write_usd_per_1m: 'Input written to a cache',
  cache_write_1h_usd_per_1m: 'Written to a cache for an hour',
  audio_input_usd_per_1m: 'Input of sound',
  audio_output_usd_per_1m: 'Output of sound',
} as const
const UNIT_AMOUNTS = { usd: 'One unit', input_image_usd: 'One input image' } as const

export const PRICE_UNITS: Readonly<Record<PriceUnit, string>> = {
  token: '1 million tokens',
  image: 'an image',
  second: 'a second',
  character: 'a character',
  search: 'a search',
  request: 'a request',
}

type Amount = keyof typeof TOKEN_AMOUNTS | keyof typeof UNIT_AMOUNTS

/** A price list as it is typed. */
export interface PriceDraft {
  readonly unit: PriceUnit
  readonly amounts: Partial<Readonly<Record<Amount, string>>>
  /** Everything else, as JSON. */
  readonly others: string
}

export const EMPTY_PRICE: PriceDraft = { unit: 'token', amounts: {}, others: '' }

export function amountsOf(unit: PriceUnit): readonly (readonly [Amount, string])[] {
  return unit === 'token'
    ? KEYS_OF_TOKENS.map((name) => [name, TOKEN_AMOUNTS[name]] as const)
    : KEYS_OF_UNITS.map((name) => [name, UNIT_AMOUNTS[name]] as const)
}

const KEYS_OF_TOKENS = [
  'input_usd_per_1m',
  'output_usd_per_1m',
  'cached_input_usd_per_1m',
  'cache_write_usd_per_1m',
  'cache_write_1h_usd_per_1m',
  'audio_input_usd_per_1m',
  'audio_output_usd_per_1m',
] as const
const KEYS_OF_UNITS = ['usd', 'input_image_usd'] as const

export function draftOfPrice(price: Price): PriceDraft {
  const amounts = Object.fromEntries(
    [...KEYS_OF_TOKENS, ...KEYS_OF_UNITS].flatMap((name) =>
      price[name] === undefined ? [] : [[name, writeAmount(price[name])]],
    ),
  )
  const others = {
    ...(price.long_context !== undefined && { long_context: price.long_context }),
    ...(price.multipliers !== undefined && { multipliers: price.multipliers }),
    ...(price.batch_factor !== undefined && { batch_factor: price.batch_factor }),
    ...(price.batch_single_factor !== undefined && { batch_single_factor: price.batch_single_factor }),
    ...(price.listed === false && { listed: false }),
  }
  return {
    unit: price.unit,
    amounts,
    others: Object.keys(others).length === 0 ? '' : JSON.stringify(others, null, 2),
  }
}

/** Not as `1e-7`, which a field for numbers takes and nobody reads. */
function writeAmount(amount: number): string {
  return amount.toFixed(12).replace(/\.?0+$/, '')
}

type ReadPrice = { readonly price: Price; readonly problem: null } | { readonly problem: string }

/** The gateway checks what belongs together. */
export function readPrice({ unit, amounts, others }: PriceDraft): ReadPrice {
  const read = others.trim() === '' ? { value: {}, problem: null } : readJson(others)
  if (read.problem !== null) return { problem: read.problem }
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return { problem: 'An object is expected, such as {"multipliers": {"quality": {"hd": 2}}}.' }
  const given = amountsOf(unit).flatMap(([name]) => {
    const text = amounts[name]?.trim() ?? ''
    return text === '' ? [] : [[name, Number(text)]]
  })
  return { price: { ...read.value, ...Object.fromEntries(given), unit }, problem: null }
}
