import type { NanoUsd } from '../../../kernel/money.ts'

/** A simple model of one account's ledger: a few sums, without lots, leases or processes. */
export class LedgerModel {
  /** The key's cap; null for none. */
  readonly limitNanoUsd: NanoUsd | null
  balanceNanoUsd: NanoUsd = 0n
  /** What requests hold in memory. */
  heldNanoUsd: NanoUsd = 0n
  /** Amounts of open task holds. */
  setAsideNanoUsd: NanoUsd = 0n
  /** Of every request that was charged, by its id. */
  readonly charges = new Map<string, NanoUsd>()
  /** What a request cost beyond what could be held for it, by its id. */
  readonly uncovered = new Map<string, NanoUsd>()
  readonly #keys = new Set<string>()

  constructor(limitNanoUsd: NanoUsd | null) {
    this.limitNanoUsd = limitNanoUsd
  }

  /** What the account could hold now; below zero while it is in debt. */
  get creditNanoUsd(): NanoUsd {
    return this.balanceNanoUsd - this.heldNanoUsd - this.setAsideNanoUsd
  }

  get debtNanoUsd(): NanoUsd {
    return this.creditNanoUsd < 0n ? -this.creditNanoUsd : 0n
  }

  get chargedNanoUsd(): NanoUsd {
    return [...this.charges.values()].reduce((sum, cost) => sum + cost, 0n)
  }

  /** What one more request could hold under the key's cap. */
  get availableNanoUsd(): NanoUsd {
    const credit = this.creditNanoUsd > 0n ? this.creditNanoUsd : 0n
    return this.roomNanoUsd === null ? credit : leastOf(credit, this.roomNanoUsd)
  }

  /** What the key's cap leaves; null for no cap. */
  get roomNanoUsd(): NanoUsd | null {
    if (this.limitNanoUsd === null) return null
    const room = this.limitNanoUsd - this.chargedNanoUsd - this.heldNanoUsd - this.setAsideNanoUsd
    return room > 0n ? room : 0n
  }

  /** Whether this is the first time that something is done under this key. */
  isNew(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  /** The step was refused, so the key can be used again. */
  forget(key: string): void {
    this.#keys.delete(key)
  }

  charge(requestId: string, costNanoUsd: NanoUsd): void {
    if (this.charges.has(requestId)) throw new Error(`request ${requestId} was charged twice`)
    this.charges.set(requestId, costNanoUsd)
    this.balanceNanoUsd -= costNanoUsd
  }
}

export function leastOf(first: NanoUsd, second: NanoUsd): NanoUsd {
  return first < second ? first : second
}
