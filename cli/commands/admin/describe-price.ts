import type { Schemas } from '../../api/gateway-client.ts'
import { formatUsd } from '../../output/format-usd.ts'

type Price = Schemas['ModelConfiguration']['price']

const NAMES: Readonly<Record<string, string>> = { request: 'call' }

/** Describes a price list in a few words. */
export function describePrice(price: Price): string {
  if (price.unit !== 'token') return `${formatUsd(price.usd ?? 0)} a ${NAMES[price.unit] ?? price.unit}`
  const input = formatUsd(price.input_usd_per_1m ?? 0)
  return `${input} in, ${formatUsd(price.output_usd_per_1m ?? 0)} out for 1M tokens`
}
