import { AccountCounts } from './account-counts.ts'
import { fairLevel } from './fair-level.ts'

interface LoadGateOptions {
  /** Loop turns that take longer mean that the process has more work than it can do. 0 turns the gate off. */
  readonly turnMsMax: number
  /** As much is never refused: requests that run, and those that began in the last second. */
  readonly unitsMin: number
  /** The accounts of the running requests, once for each request. */
  readonly listRunning: () => Iterable<string>
  readonly observer: LoadGateObserver
}

export interface LoadGateObserver {
  began(): void
  ended(refused: number): void
  refused(route: string): void
}

/** So many slow turns in a row, a second or two, are no accident, such as a garbage collection, one large body, or a machine that does something else. */
const SLOW_TURNS = 10
const QUIET_TURNS = 20
const BEGIN_SHARE = 0.9
const LESS = 0.95
const MUCH_LESS = 0.85
const MORE = 1.03
/** The allowed units are only lowered while what runs is near them, because lowering them further does not end what runs. */
const NEAR = 1.1
/** Accounts that have nothing yet are refused too when this many times the allowed units run. */
const CROWD = 2

/**
 * Refuses requests while the process has more work than it can do, before their bodies are parsed. It measures how long turns of the
 * event loop take, and finds the number of units with which they stay short; a unit is a request that runs or began in the last
 * second. Accounts share the units: whoever has most is refused first, and an account with little is not refused at all.
 */
export class LoadGate {
  readonly #options: LoadGateOptions
  readonly #begun = new AccountCounts()
  readonly #refusals = new AccountCounts()
  /** Per account at the last measurement: what ran, and what began in the window before the present one. */
  #base = new Map<string, number>()
  #level = Infinity
  #units = 0
  #total = 0
  #slowTurns = 0
  #quietTurns = 0
  #refusedSinceTurn = 0
  #refusedTotal = 0

  constructor(options: LoadGateOptions) {
    this.#options = options
  }

  /** Whether requests may be refused now. */
  get isLimiting(): boolean {
    return this.#level !== Infinity
  }

  /** Counts a request of the account, or returns false if it has to be refused. */
  admits(accountId: string, route: string): boolean {
    if (this.#level !== Infinity && !this.#hasRoom(accountId)) {
      this.#refusals.add(accountId)
      this.#refusedSinceTurn += 1
      this.#refusedTotal += 1
      this.#options.observer.refused(route)
      return false
    }
    this.#begun.add(accountId)
    this.#total += 1
    return true
  }

  #hasRoom(accountId: string): boolean {
    // There are more accounts than units.
    if (this.#total >= this.#units * CROWD) return false
    const own = (this.#base.get(accountId) ?? 0) + this.#begun.recentOf(accountId)
    return own < Math.max(1, this.#level)
  }

  /** Called regularly with the duration of a turn of the event loop. */
  noteTurn(turnMs: number, nowMs: number): void {
    const { turnMsMax, unitsMin } = this.#options
    this.#begun.moveOn(nowMs)
    if (turnMsMax === 0) return
    const isSlow = turnMs > turnMsMax
    this.#slowTurns = isSlow ? this.#slowTurns + 1 : 0
    if (!this.isLimiting && this.#slowTurns < SLOW_TURNS) return
    this.#measure(nowMs)
    if (!this.isLimiting) {
      if (this.#total <= unitsMin) return
      this.#units = this.#total * BEGIN_SHARE
      this.#quietTurns = 0
      this.#refusedTotal = 0
      this.#options.observer.began()
    } else if (isSlow) {
      if (this.#total <= this.#units * NEAR) this.#units *= turnMs > 2 * turnMsMax ? MUCH_LESS : LESS
    } else if (this.#refusedSinceTurn > 0) this.#units *= MORE
    this.#quietTurns = isSlow || this.#refusedSinceTurn > 0 ? 0 : this.#quietTurns + 1
    this.#refusedSinceTurn = 0
    this.#units = Math.max(unitsMin, this.#units)
    if (this.#quietTurns >= QUIET_TURNS) {
      this.#level = Infinity
      this.#options.observer.ended(this.#refusedTotal)
      return
    }
    this.#level = fairLevel(this.#demands(nowMs), this.#units)
  }

  #measure(nowMs: number): void {
    const base = new Map<string, number>()
    for (const accountId of this.#options.listRunning()) base.set(accountId, (base.get(accountId) ?? 0) + 1)
    this.#begun.addEarlier(base, nowMs)
    this.#base = base
    this.#total = 0
    for (const units of base.values()) this.#total += units
    for (const accountId of this.#begun.accounts) this.#total += this.#begun.recentOf(accountId)
  }

  /** What the accounts had and were refused. */
  #demands(nowMs: number): number[] {
    const demands = new Map(this.#base)
    this.#refusals.addEarlier(demands, nowMs)
    for (const counts of [this.#begun, this.#refusals])
      for (const accountId of counts.accounts)
        demands.set(accountId, (demands.get(accountId) ?? 0) + counts.recentOf(accountId))
    return [...demands.values()]
  }
}
