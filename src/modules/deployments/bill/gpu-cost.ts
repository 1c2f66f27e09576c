import type { NanoUsd } from '../../../kernel/money.ts'

const SECONDS_PER_HOUR = 3600n

/** Returns the cost of `seconds`, rounded up. Subtract the costs of totals instead of adding slices, to round only once. */
export function gpuCost(pricePerHourNanoUsd: NanoUsd, seconds: number): NanoUsd {
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new RangeError(`not a number of seconds: ${seconds}`)
  return (pricePerHourNanoUsd * BigInt(seconds) + SECONDS_PER_HOUR - 1n) / SECONDS_PER_HOUR
}
