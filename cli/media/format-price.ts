import type { Schemas } from '../api/gateway-client.ts'
import { formatUsd } from '../output/format-usd.ts'

/** Writes the price of a model with its unit: `$0.40 per second`, or `from …` if sizes or qualities have prices of their own. */
export function formatPrice({ price, pricing }: Pick<Schemas['Model'], 'price' | 'pricing'>): string {
  const { unit, usd } = price
  if (unit === 'token' || usd === undefined) return pricing
  const factors = Object.values(price.multipliers ?? {}).flatMap((values) => Object.values(values))
  const least = Math.min(1, ...factors)
  const amount = (unit === 'character' ? usd * 1_000_000 : usd) * least
  const word = factors.some((factor) => factor !== 1) ? 'from ' : ''
  return `${word}${formatUsd(amount)} per ${unit === 'character' ? '1M characters' : unit}`
}
