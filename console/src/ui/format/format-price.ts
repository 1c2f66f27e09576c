import type { Model } from '../../api/model-kinds.ts'
import { formatUsd } from './format-usd.ts'

const UNIT_NAMES: Readonly<Record<Model['price']['unit'], string>> = {
  token: '1M tokens',
  image: 'image',
  second: 'second',
  character: '1M characters',
  search: 'search',
  request: 'request',
}

interface Priced {
  readonly price: Pick<Model['price'], 'unit' | 'usd' | 'input_usd_per_1m' | 'output_usd_per_1m'>
}

/** Writes the price of a model with its unit: `$5.00 in, $30.00 out per 1M tokens`. */
export function formatPrice({ price }: Priced): string {
  if (price.unit === 'token') {
    const parts = [
      price.input_usd_per_1m !== undefined && `${formatUsd(price.input_usd_per_1m)} in`,
      price.output_usd_per_1m !== undefined &&
        price.output_usd_per_1m > 0 &&
        `${formatUsd(price.output_usd_per_1m)} out`,
    ]
    return `${parts.filter(Boolean).join(', ')} per ${UNIT_NAMES.token}`
  }
  if (price.usd === undefined) return 'not known'
  const amount = price.unit === 'character' ? price.usd * 1_000_000 : price.usd
  return `${formatUsd(amount)} per ${UNIT_NAMES[price.unit]}`
}

/** The same where there is little room: `$5.00 / $30.00`. */
export function formatShortPrice({ price }: Priced): string {
  if (price.unit !== 'token') return formatPrice({ price }).replace(' per ', ' / ')
  const { input_usd_per_1m: input, output_usd_per_1m: output } = price
  return [input, output]
    .flatMap((usd) => (usd === undefined || usd === 0 ? [] : [formatUsd(usd)]))
    .join(' / ')
}
