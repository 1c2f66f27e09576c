import type { Clock } from '../../../kernel/clock.ts'

export interface Tally {
  requests: number
  failures: number
}

/** Request and failure counts of a window over all accounts. */
export interface WindowTotal extends Tally {
  readonly accounts: number
  /** Accounts with at least half of their requests failed. */
  readonly sufferers: number
}

/** Further accounts are counted as one, which bounds the size of a window. */
const ACCOUNTS_MAX = 256
const OTHERS = ''
/** Reading the clock is the most expensive step, and only failures need an exact time. */
const SUCCESSES_PER_LOOK = 32

/** Counts recent failures per account. Two halves alternate, so the counts cover between half a window and a whole one. */
export class FailureWindow {
  readonly #clock: Clock
  readonly #halfMs: number
  #current = new Map<string, Tally>()
  #previous = new Map<string, Tally>()
  #currentEndsMs: number
  #added = 0

  constructor({ clock, windowMs }: { clock: Clock; windowMs: number }) {
    this.#clock = clock
    this.#halfMs = windowMs / 2
    this.#currentEndsMs = clock.monotonicMs() + this.#halfMs
  }

  add(accountId: string, failures: 0 | 1): void {
    this.#added += 1
    if (failures === 1 || this.#added % SUCCESSES_PER_LOOK === 0) this.#rotateWhenDue()
    const tally = this.#current.get(accountId) ?? this.#begin(accountId)
    tally.requests += 1
    tally.failures += failures
  }

  of(accountId: string): Tally {
    const current = this.#current.get(accountId)
    const previous = this.#previous.get(accountId)
    return {
      requests: (current?.requests ?? 0) + (previous?.requests ?? 0),
      failures: (current?.failures ?? 0) + (previous?.failures ?? 0),
    }
  }

  total(): WindowTotal {
    let requests = 0
    let failures = 0
    let sufferers = 0
    const accountIds = new Set([...this.#current.keys(), ...this.#previous.keys()])
    for (const accountId of accountIds) {
      const tally = this.of(accountId)
      requests += tally.requests
      failures += tally.failures
      if (tally.failures * 2 >= tally.requests) sufferers += 1
    }
    return { requests, failures, sufferers, accounts: accountIds.size }
  }

  clear(): void {
    this.#current.clear()
    this.#previous.clear()
  }

  forget(accountId: string): void {
    this.#current.delete(accountId)
    this.#previous.delete(accountId)
  }

  #begin(accountId: string): Tally {
    const isFull = this.#current.size >= ACCOUNTS_MAX
    const known = isFull ? this.#current.get(OTHERS) : undefined
    if (known) return known
    const tally: Tally = { requests: 0, failures: 0 }
    this.#current.set(isFull ? OTHERS : accountId, tally)
    return tally
  }

  #rotateWhenDue(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#currentEndsMs) return
    const isOld = nowMs >= this.#currentEndsMs + this.#halfMs
    this.#previous = isOld ? new Map<string, Tally>() : this.#current
    this.#current = new Map<string, Tally>()
    this.#currentEndsMs = nowMs + this.#halfMs
  }
}
