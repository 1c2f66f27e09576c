import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../kernel/app-error.ts'
import { FairTurns } from '../../kernel/turns/fair-turns.ts'

interface ConnectionSharesOptions {
  readonly poolSize: number
}

/** On whose behalf queries are made. */
interface Beneficiary {
  readonly accountId: string
  /** Whether the work has ended. What it started and left running, such as a timer, is not the account's. */
  readonly isOver: () => boolean
  /** Whether it is inside a transaction, which has a connection already. */
  readonly hasConnection: boolean
}

/** The part of the pool that work of no account finds free, such as commits of charges and lookups of keys. */
const RESERVED_PART = 0.2
const ACCOUNT_WAITING_MAX = 256

/**
 * Shares the connections of the pool between accounts. An account has at most half of those for accounts, and accounts that wait
 * take turns, so a flood of free requests delays only its own account. Work that is not run for an account is not limited.
 */
export class ConnectionShares {
  readonly #beneficiary = new AsyncLocalStorage<Beneficiary>()
  readonly #turns: FairTurns

  constructor({ poolSize }: ConnectionSharesOptions) {
    const runningMax = Math.max(1, poolSize - Math.ceil(poolSize * RESERVED_PART))
    this.#turns = new FairTurns({
      runningMax,
      ownerRunningMax: Math.ceil(runningMax / 2),
      ownerWaitingMax: ACCOUNT_WAITING_MAX,
    })
  }

  /** Counts all connections that the work takes as the account's. */
  async runFor<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    let hasEnded = false
    const beneficiary = { accountId, isOver: () => hasEnded, hasConnection: false }
    try {
      return await this.#beneficiary.run(beneficiary, work)
    } finally {
      hasEnded = true
    }
  }

  /** Runs the work of a transaction. Its other queries do not wait for a turn, because it would wait for itself. */
  runWithConnection<Result>(work: () => Result): Result {
    const known = this.#beneficiary.getStore()
    return known === undefined ? work() : this.#beneficiary.run({ ...known, hasConnection: true }, work)
  }

  /** Waits until a connection may be taken. Returns what to call when it is given back. */
  enter(): Promise<() => void> | (() => void) {
    const known = this.#beneficiary.getStore()
    if (known === undefined || known.hasConnection || known.isOver()) return NOTHING
    const { accountId } = known
    const turn = this.#turns.enter(accountId)
    if (turn === null) throw tooManyWaiting()
    return turn.then(() => () => this.#turns.leave(accountId))
  }
}

const NOTHING = (): void => {}

function tooManyWaiting(): AppError {
  const message = `This account has ${ACCOUNT_WAITING_MAX} requests that wait for the database. Try again shortly.`
  return new AppError('rate_limit_exceeded', message, { retryAfterSeconds: 1 })
}
