import type { NanoUsd } from '../../kernel/money.ts'
import type { Cap } from './lend-credit.ts'
import { Purse } from './purse.ts'

/** What one process has borrowed under a cap. */
export class CapCredit {
  readonly purse = new Purse()
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
}

/** What one process has borrowed under the caps of an account. */
export class CapCredits {
  readonly #caps = new Map<string, CapCredit>()

  get scopes(): string[] {
    return [...this.#caps.keys()]
  }

  get purses(): Purse[] {
    return [...this.#caps.values()].map(({ purse }) => purse)
  }

  get(scope: string): CapCredit | undefined {
    return this.#caps.get(scope)
  }

  meet(cap: Cap): CapCredit {
    const met = this.#caps.get(cap.scope) ?? new CapCredit(cap.limitNanoUsd)
    this.#caps.set(cap.scope, met)
    return met
  }

  /** The purses under all of these caps; null where the database has to be asked first, for doubts unless it just was. */
  pursesUnder(caps: readonly Cap[], isAsked: boolean): Purse[] | null {
    const purses: Purse[] = []
    for (const { scope, limitNanoUsd } of caps) {
      const cap = this.#caps.get(scope)
      if (cap === undefined || cap.limitNanoUsd !== limitNanoUsd) return null
      if (cap.isDoubtful && !isAsked) return null
      purses.push(cap.purse)
    }
    return purses
  }

  /** Whether so much is not here under one of these caps, which has room for more. */
  canBorrowMore(caps: readonly Cap[], wantedNanoUsd: NanoUsd): boolean {
    return caps.some(({ scope }) => {
      const cap = this.#caps.get(scope)
      return cap !== undefined && cap.purse.freeNanoUsd < wantedNanoUsd && cap.roomNanoUsd > 0n
    })
  }

  doubt(): void {
    for (const cap of this.#caps.values()) cap.isDoubtful = true
  }
}
