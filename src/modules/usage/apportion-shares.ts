import type { NanoUsd } from '../../kernel/money.ts'

const MILLION = 1_000_000n

/**
 * Returns each amount's share of the total, to six decimals. The shares sum to exactly one; the largest remainders are rounded up
 * first. If the total is zero, all shares are zero.
 */
export function apportionShares(amounts: readonly NanoUsd[]): number[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0n)
  if (total <= 0n) return amounts.map(() => 0)
  const parts = amounts.map((amount, index) => ({
    index,
    millionths: (amount * MILLION) / total,
    remainder: (amount * MILLION) % total,
  }))
  let missing = parts.reduce((left, { millionths }) => left - millionths, MILLION)
  for (const part of parts.toSorted(byRemainder)) {
    if (missing === 0n) break
    part.millionths += 1n
    missing -= 1n
  }
  return parts.map(({ millionths }) => Number(millionths) / Number(MILLION))
}

interface Part {
  readonly index: number
  readonly remainder: bigint
}

function byRemainder(a: Part, b: Part): number {
  if (a.remainder === b.remainder) return a.index - b.index
  return a.remainder < b.remainder ? 1 : -1
}
