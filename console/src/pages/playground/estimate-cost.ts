import type { Model } from '../../api/model-kinds.ts'

/** Of models that tell none. */
const SECONDS_DEFAULT: Readonly<Record<string, number>> = { video: 5, music: 30 }

/** Returns about what a request costs. Null if that cannot be known before, as for tokens and recordings. */
export function estimateCostUsd(
  { category, price, durations }: Pick<Model, 'category' | 'price' | 'durations'>,
  body: Readonly<Record<string, unknown>>,
  inputImages = 0,
): number | null {
  if (price.usd === undefined || price.unit === 'token' || category === 'stt') return null
  const seconds = numberOf(body['duration']) ?? durations?.default_seconds ?? SECONDS_DEFAULT[category] ?? 0
  const count = numberOf(body['n']) ?? 1
  const text = body['input'] ?? body['prompt']
  const characters = typeof text === 'string' ? Array.from(text).length : 0
  const units = { image: count, second: seconds, character: characters, search: 1, request: 1 }
  let cost = price.usd * units[price.unit]
  for (const [trait, factors] of Object.entries(price.multipliers ?? {})) {
    const value = trait === 'duration' ? String(seconds) : body[trait]
    cost *= (typeof value === 'string' ? factors[value] : undefined) ?? 1
  }
  return cost + (price.input_image_usd ?? 0) * inputImages * count
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
