import type { NanoUsd } from '../../kernel/money.ts'

const NANO_USD_PER_CENT = 10_000_000n

export function nanoUsdFromCents(cents: number): NanoUsd {
  return BigInt(cents) * NANO_USD_PER_CENT
}

/** Returns null if the amount is not a whole number of cents. */
export function centsFromNanoUsd(amount: NanoUsd): number | null {
  return amount % NANO_USD_PER_CENT === 0n ? Number(amount / NANO_USD_PER_CENT) : null
}
