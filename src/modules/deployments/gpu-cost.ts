import type { NanoUsd } from '../../kernel/money.ts'

const SECONDS_PER_HOUR = 3600n

/** What so many seconds cost. Of sums of seconds, not of slices: what is rounded up is rounded up once. */
export function gpuCost(pricePerHourNanoUsd: NanoUsd, seconds: number): NanoUsd {
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new RangeError(`not a number of seconds: ${seconds}`)
  return (pricePerHourNanoUsd * BigInt(seconds) + SECONDS_PER_HOUR - 1n) / SECONDS_PER_HOUR
}
