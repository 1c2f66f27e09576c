import type { NanoUsd } from '../../../kernel/money.ts'
import type { CapLending } from '../books/borrow-credit.ts'
import type { Cap } from '../books/lend-credit.ts'
import { BorrowedBalance } from './borrowed-balance.ts'

/** The share of one cap that this process has borrowed. */
export class CapCredit {
  readonly balance = new BorrowedBalance()
  /** The cap's limit when it was borrowed. */
  limitNanoUsd: NanoUsd
  /** Not lent to any process, as of the last read. All of it before the first. */
  roomNanoUsd: NanoUsd
  /** The cap may allow less than is borrowed, so it must be read again. */
  isDoubtful = false
  /** Counts borrow requests, so that queued calls can skip repeated ones. */
  asked = 0
  /** What all waiting requests need: the database lends it at once. */
  queuedNanoUsd: NanoUsd = 0n

  constructor(limitNanoUsd: NanoUsd) {
    this.limitNanoUsd = limitNanoUsd
    this.roomNanoUsd = limitNanoUsd
  }

  receive({ lent, roomNanoUsd, isOverdrawn }: CapLending): void {
    this.balance.receive(lent)
    this.roomNanoUsd = roomNanoUsd
    // It stays doubtful until requests settle or free what they hold of it.
    this.isDoubtful = isOverdrawn
  }
}

/** The shares of all caps of one account that this process has borrowed. */
export class CapCredits {
  readonly #caps = new Map<string, CapCredit>()

  get scopes(): string[] {
    return [...this.#caps.keys()]
  }

  get balances(): BorrowedBalance[] {
    return [...this.#caps.values()].map(({ balance }) => balance)
  }

  /** What a request can take under this cap. */
  freeNanoUsd(scope: string): NanoUsd {
    return this.#caps.get(scope)?.balance.freeNanoUsd ?? 0n
  }

  meet(cap: Cap): CapCredit {
    const met = this.#caps.get(cap.scope) ?? new CapCredit(cap.limitNanoUsd)
    this.#caps.set(cap.scope, met)
    return met
  }

  /** The balances of these caps. Null if the database must be read first; `isAsked` accepts doubtful ones. */
  balancesUnder(caps: readonly Cap[], isAsked: boolean): BorrowedBalance[] | null {
    const balances: BorrowedBalance[] = []
    for (const { scope, limitNanoUsd } of caps) {
      const cap = this.#caps.get(scope)
      if (cap === undefined || cap.limitNanoUsd !== limitNanoUsd) return null
      if (cap.isDoubtful && !isAsked) return null
      balances.push(cap.balance)
    }
    return balances
  }

  /** Whether the wanted amount is missing under one of these caps that still has room. */
  canBorrowMore(caps: readonly Cap[], wantedNanoUsd: NanoUsd): boolean {
    return caps.some(({ scope }) => {
      const cap = this.#caps.get(scope)
      return cap !== undefined && cap.balance.freeNanoUsd < wantedNanoUsd && cap.roomNanoUsd > 0n
    })
  }

  doubt(): void {
    for (const cap of this.#caps.values()) cap.isDoubtful = true
  }
}

/** The caps of a request, and the credit and the parts of caps that it takes the same amount of. */
export interface CreditSources {
  readonly caps: readonly Cap[]
  readonly balances: readonly BorrowedBalance[]
}
