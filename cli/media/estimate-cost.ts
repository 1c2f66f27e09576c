import type { Schemas } from '../api/gateway-client.ts'

type Model = Schemas['Model']

/** What a request asks for, as far as it decides the price. */
export interface AskedMedia {
  /** How many pictures. */
  readonly count?: number | undefined
  /** How long the video or the music is to be. */
  readonly seconds?: number | undefined
  readonly characters?: number
  readonly inputImages?: number
  /** What may have a price of its own, such as a size. */
  readonly traits?: Readonly<Record<string, string | undefined>>
}

/** Of models that tell none. */
const SECONDS_DEFAULT: Readonly<Record<string, number>> = { video: 5, music: 30 }

/** Returns about what a request costs. Null if the price of the model is not known, or counts what cannot be known before. */
export function estimateCostUsd({ category, price, durations }: Model, asked: AskedMedia): number | null {
  if (price.usd === undefined) return null
  const { count = 1, inputImages = 0, characters = 0 } = asked
  const seconds = asked.seconds ?? durations?.default_seconds ?? SECONDS_DEFAULT[category] ?? 0
  const units = { image: count, second: seconds, character: characters, search: 1, request: 1, token: 0 }
  const factor = Object.entries(price.multipliers ?? {}).reduce((product, [trait, factors]) => {
    const value = trait === 'duration' ? String(seconds) : asked.traits?.[trait]
    return (
      product * ((value === undefined ? undefined : (factors[value.toLowerCase()] ?? factors[value])) ?? 1)
    )
  }, 1)
  return price.usd * units[price.unit] * factor + (price.input_image_usd ?? 0) * inputImages * count
}
