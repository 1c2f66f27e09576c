import type { NanoUsd } from '../../../kernel/money.ts'
import type { CapLending } from '../books/borrow-credit.ts'
import type { Cap } from '../books/lend-credit.ts'
import { BorrowedBalance } from './borrowed-balance.ts'

/** What one process has borrowed under a cap. */
export class CapCredit {
  readonly balance = new BorrowedBalance()
  /** Of the cap while it was borrowed. */
  limitNanoUsd: NanoUsd
  /** Lent to nobody, as of the last look. */
  roomNanoUsd: NanoUsd = 0n
  /** The cap may leave less than was borrowed under it. */
  isDoubtful = false
  /** How often more was asked for. */
  asked = 0

  constructor(limitNanoUsd: NanoUsd) {
    this.limitNanoUsd = limitNanoUsd
  }

  receive({ lent, roomNanoUsd, isOverdrawn }: CapLending): void {
    this.balance.receive(lent)
    this.roomNanoUsd = roomNanoUsd
    // Until what requests hold of it is paid or free again.
    this.isDoubtful = isOverdrawn
  }
}

/** What one process has borrowed under the caps of an account. */
export class CapCredits {
  readonly #caps = new Map<string, CapCredit>()

  get scopes(): string[] {
    return [...this.#caps.keys()]
  }

  get balances(): BorrowedBalance[] {
    return [...this.#caps.values()].map(({ balance }) => balance)
  }

  get(scope: string): CapCredit | undefined {
    return this.#caps.get(scope)
  }

  meet(cap: Cap): CapCredit {
    const met = this.#caps.get(cap.scope) ?? new CapCredit(cap.limitNanoUsd)
    this.#caps.set(cap.scope, met)
    return met
  }

  /** The balances under all of these caps; null where the database has to be asked first, for doubts unless it just was. */
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

  /** Whether so much is not here under one of these caps, which has room for more. */
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
