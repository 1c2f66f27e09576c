import type { NanoUsd } from '../../../kernel/money.ts'
import type { CreditClass } from '../books/move-credit.ts'

/** The part of one lot, or of one cap, that is lent to this process. */
export interface Lease {
  readonly id: string
  /** Null for a cap, which is not money. */
  readonly class: CreditClass | null
  readonly expiresAtMs: number | null
  amountNanoUsd: NanoUsd
  /** Charged to it, committed or not yet. */
  spentNanoUsd: NanoUsd
}

/** The fields that decide which credit is spent first. */
export type SpendingOrder = Pick<Lease, 'class' | 'expiresAtMs'>

/** A lease as the database returns it. */
export interface LentAmount {
  readonly id: string
  readonly class: CreditClass | null
  readonly expiresAtMs: number | null
  readonly amountNanoUsd: NanoUsd
  /** Posted charges only. */
  readonly spentNanoUsd: NanoUsd
}

export interface SpentPart {
  readonly lease: Lease
  readonly amountNanoUsd: NanoUsd
}

/** Borrowed credit in memory: the held part, the free part, and the lease that pays each charge. */
export class BorrowedBalance {
  #leases: Lease[] = []
  #freeNanoUsd: NanoUsd = 0n
  #heldNanoUsd: NanoUsd = 0n
  #expiresAtMs = Number.POSITIVE_INFINITY

  /** Borrowed, unspent and held by no request. */
  get freeNanoUsd(): NanoUsd {
    return this.#freeNanoUsd
  }

  /** How much of this amount is not free. */
  missingOf(neededNanoUsd: NanoUsd): NanoUsd {
    return neededNanoUsd > this.#freeNanoUsd ? neededNanoUsd - this.#freeNanoUsd : 0n
  }

  get heldNanoUsd(): NanoUsd {
    return this.#heldNanoUsd
  }

  /** The earliest time at which some of it may expire. */
  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  get leases(): readonly Lease[] {
    return this.#leases
  }

  /** Takes over whole lease amounts from the database, so that a lost response does no harm. */
  receive(lent: readonly LentAmount[]): void {
    for (const lease of lent) {
      this.#expiresAtMs = Math.min(this.#expiresAtMs, lease.expiresAtMs ?? this.#expiresAtMs)
      const known = this.#leases.find(({ id }) => id === lease.id)
      if (known) {
        this.#freeNanoUsd += lease.amountNanoUsd - known.amountNanoUsd
        known.amountNanoUsd = lease.amountNanoUsd
      } else {
        this.#leases.push({ ...lease })
        this.#freeNanoUsd += lease.amountNanoUsd - lease.spentNanoUsd
      }
    }
    this.#leases.sort(inOrderOfSpending)
  }

  /** Returns false if less is free. */
  tryHold(amountNanoUsd: NanoUsd): boolean {
    if (amountNanoUsd > this.#freeNanoUsd) return false
    this.#freeNanoUsd -= amountNanoUsd
    this.#heldNanoUsd += amountNanoUsd
    return true
  }

  release(amountNanoUsd: NanoUsd): void {
    this.#heldNanoUsd -= amountNanoUsd
    this.#freeNanoUsd += amountNanoUsd
    this.#check()
  }

  /** Charges a part of a hold and frees the rest. Returns the leases that pay. */
  settle(heldNanoUsd: NanoUsd, chargedNanoUsd: NanoUsd): SpentPart[] {
    if (chargedNanoUsd < 0n || chargedNanoUsd > heldNanoUsd) {
      throw new RangeError(`a charge of ${chargedNanoUsd} does not fit into a hold of ${heldNanoUsd}`)
    }
    const parts: SpentPart[] = []
    let left = chargedNanoUsd
    for (const lease of this.#leases) {
      if (left === 0n) break
      const unspent = lease.amountNanoUsd - lease.spentNanoUsd
      if (unspent === 0n) continue
      const amountNanoUsd = unspent < left ? unspent : left
      lease.spentNanoUsd += amountNanoUsd
      left = amountNanoUsd === left ? 0n : left - amountNanoUsd
      parts.push({ lease, amountNanoUsd })
    }
    if (left !== 0n) throw new Error(`${left} nano-dollars were held that nobody lent`)
    this.#heldNanoUsd -= heldNanoUsd
    this.#freeNanoUsd += heldNanoUsd - chargedNanoUsd
    this.#check()
    return parts
  }

  /** Undoes a charge that was not written. */
  unspend(parts: readonly SpentPart[]): void {
    for (const { lease, amountNanoUsd } of parts) {
      lease.spentNanoUsd -= amountNanoUsd
      this.#freeNanoUsd += amountNanoUsd
    }
    this.#check()
  }

  /** Lowers the leases by the free amount, starting with those spent last. Returns the changed leases. */
  giveUpFree(): Lease[] {
    const shortened: Lease[] = []
    for (const lease of this.#leases.toReversed()) {
      const unspent = lease.amountNanoUsd - lease.spentNanoUsd
      const amountNanoUsd = unspent < this.#freeNanoUsd ? unspent : this.#freeNanoUsd
      if (amountNanoUsd === 0n) continue
      lease.amountNanoUsd -= amountNanoUsd
      this.#freeNanoUsd -= amountNanoUsd
      shortened.push(lease)
    }
    this.#expiresAtMs = Number.POSITIVE_INFINITY
    return shortened
  }

  /** Whether free credit here is spent later than the other. */
  hasFreeSpentAfter(other: SpendingOrder): boolean {
    if (this.#freeNanoUsd === 0n) return false
    const last = this.#leases.findLast((lease) => lease.amountNanoUsd > lease.spentNanoUsd)
    return last !== undefined && inOrderOfSpending(other, last) < 0
  }

  /** Whether some lease with unspent credit has expired. */
  hasExpired(nowMs: number): boolean {
    return this.#leases.some(
      (lease) =>
        lease.expiresAtMs !== null && lease.expiresAtMs <= nowMs && lease.amountNanoUsd > lease.spentNanoUsd,
    )
  }

  #check(): void {
    if (this.#freeNanoUsd < 0n || this.#heldNanoUsd < 0n) {
      throw new Error(`a balance holds ${this.#heldNanoUsd} and has ${this.#freeNanoUsd} free`)
    }
  }
}

function inOrderOfSpending(a: SpendingOrder, b: SpendingOrder): number {
  if (a.class !== b.class) return a.class === 'promotional' ? -1 : 1
  return (a.expiresAtMs ?? Number.MAX_SAFE_INTEGER) - (b.expiresAtMs ?? Number.MAX_SAFE_INTEGER)
}

/** The amount that is free in every one of them. */
export function leastOf(balances: readonly BorrowedBalance[]): NanoUsd {
  return balances.reduce(
    (least, { freeNanoUsd }) => (freeNanoUsd < least ? freeNanoUsd : least),
    balances[0]?.freeNanoUsd ?? 0n,
  )
}
