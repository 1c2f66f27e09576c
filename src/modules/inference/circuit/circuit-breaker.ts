import type { Clock } from '../../../kernel/clock.ts'
import { Circuit, type CircuitState } from './circuit.ts'
import { FailureWindow, type Tally } from './failure-window.ts'

/**
 * Stops sending requests to a model of an upstream while most requests of several accounts fail there, so that they use a healthy
 * route at once. If only one account fails, it may be at fault itself, and only its requests are sent elsewhere.
 */
export interface CircuitBreaker {
  /** Whether a request of this account may be sent now. After the rest period, one request is admitted as a probe. */
  admit(accountId: string): Admission
  /** Admits a request during the rest period because no other upstream is left. */
  force(accountId: string): void
  /** Remaining rest period for the account; 0 if there is none. */
  restMs(accountId: string): number
  succeeded(accountId: string): void
  /** A stream has begun. Whether it will complete is not known yet. */
  opened(accountId: string): void
  /** Called once per request, regardless of retries. */
  failed(accountId: string): void
  /** The request ended without evidence about the upstream. */
  abandoned(accountId: string): void
}

type Admission = 'yes' | 'probe' | 'no'

export interface BreakerChange {
  /** State of the circuit of all accounts together. */
  readonly state: CircuitState
  /** How many accounts have an open circuit of their own. */
  readonly accounts: number
}

interface CircuitBreakerOptions {
  readonly clock: Clock
  readonly windowMs?: number
  /** With fewer requests in a window, the breaker does not open. */
  readonly requestsMin?: number
  readonly restMs?: number
  readonly restMsMax?: number
  readonly onChange?: (change: BreakerChange) => void
}

const FAILING_SHARE = 0.5
const SUFFERERS_MIN = 2
const ACCOUNT_CIRCUITS_MAX = 256

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  return new SharedBreaker(options)
}

class SharedBreaker implements CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>
  readonly #window: FailureWindow
  readonly #everybody: Circuit
  readonly #byAccount = new Map<string, Circuit>()

  constructor(options: CircuitBreakerOptions) {
    this.#options = {
      windowMs: 60_000,
      requestsMin: 5,
      restMs: 5_000,
      restMsMax: 60_000,
      onChange: () => {},
      ...options,
    }
    this.#window = new FailureWindow(this.#options)
    this.#everybody = this.#createCircuit()
  }

  admit(accountId: string): Admission {
    if (this.#isQuiet) return 'yes'
    const own = this.#byAccount.get(accountId)
    if (!this.#everybody.mayProbe(accountId) || own?.mayProbe(accountId) === false) return 'no'
    const isProbe = !this.#isClosedFor(own)
    this.force(accountId)
    return isProbe ? 'probe' : 'yes'
  }

  force(accountId: string): void {
    this.#everybody.probe(accountId)
    this.#byAccount.get(accountId)?.probe(accountId)
  }

  restMs(accountId: string): number {
    return Math.max(this.#everybody.restMs(), this.#byAccount.get(accountId)?.restMs() ?? 0)
  }

  succeeded(accountId: string): void {
    this.#window.add(accountId, 0)
    if (this.#isQuiet) return
    // Older failures would open the circuit again at the next failure.
    if (this.#everybody.probeSucceeded(accountId)) this.#window.clear()
    if (this.#byAccount.get(accountId)?.probeSucceeded(accountId) === true) this.#release(accountId)
  }

  opened(accountId: string): void {
    if (this.#isQuiet) return
    this.#everybody.probeOpened(accountId)
    this.#byAccount.get(accountId)?.probeOpened(accountId)
  }

  failed(accountId: string): void {
    this.#window.add(accountId, 1)
    if (!this.#everybody.probeFailed(accountId) && this.#everybody.state === 'closed')
      this.#openForEverybody()
    const own = this.#byAccount.get(accountId)
    if (own?.probeFailed(accountId) !== true && (own === undefined || own.state === 'closed'))
      this.#openForAccount(accountId)
  }

  abandoned(accountId: string): void {
    if (this.#isQuiet) return
    this.#everybody.probeAbandoned(accountId)
    this.#byAccount.get(accountId)?.probeAbandoned(accountId)
  }

  get #isQuiet(): boolean {
    return this.#byAccount.size === 0 && this.#everybody.isQuiet
  }

  #isClosedFor(own: Circuit | undefined): boolean {
    return this.#everybody.state === 'closed' && (own === undefined || own.state === 'closed')
  }

  #openForEverybody(): void {
    const total = this.#window.total()
    const isShared = total.sufferers >= SUFFERERS_MIN && total.sufferers * 2 >= total.accounts
    if (isShared && this.#isFailing(total)) this.#everybody.open()
  }

  #openForAccount(accountId: string): void {
    if (!this.#isFailing(this.#window.of(accountId))) return
    const [oldest] = this.#byAccount.keys()
    if (this.#byAccount.size >= ACCOUNT_CIRCUITS_MAX && oldest !== undefined) this.#byAccount.delete(oldest)
    const circuit = this.#byAccount.get(accountId) ?? this.#createCircuit()
    this.#byAccount.set(accountId, circuit)
    circuit.open()
  }

  #release(accountId: string): void {
    this.#byAccount.delete(accountId)
    this.#window.forget(accountId)
    this.#tell()
  }

  #isFailing({ requests, failures }: Tally): boolean {
    return requests >= this.#options.requestsMin && failures >= requests * FAILING_SHARE
  }

  #createCircuit(): Circuit {
    return new Circuit({ ...this.#options, onChange: () => this.#tell() })
  }

  #tell(): void {
    this.#options.onChange({ state: this.#everybody.state, accounts: this.#byAccount.size })
  }
}
