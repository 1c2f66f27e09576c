import type { Clock } from '../../kernel/clock.ts'

export type CircuitState = 'closed' | 'open' | 'half-open'

export interface CircuitOptions {
  readonly clock: Clock
  readonly restMs: number
  readonly restMsMax: number
  readonly onChange: (state: CircuitState) => void
}

/** Rests after trouble, for a while that doubles with each probe that fails, and closes when one succeeds. */
export class Circuit {
  readonly #options: CircuitOptions
  #state: CircuitState = 'closed'
  #rests = 0
  #restMs = 0
  #restsUntilMs = 0
  /** Whose request is the probe. Only its end says anything: others may fail by their own fault. */
  #prober: string | null = null
  /** Whose probe failed last: somebody else goes first next time. */
  #failedProber: string | null = null
  /** Closed by a probe that has begun to stream and has not ended yet. */
  #isOnTrial = false

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  get state(): CircuitState {
    return this.#state
  }

  /** Whether nothing is left of the trouble. */
  get isQuiet(): boolean {
    return this.#state === 'closed' && !this.#isOnTrial
  }

  /** How long it will still rest; 0 when it is closed, or when a probe may go. */
  restMs(): number {
    return this.#state === 'closed' ? 0 : Math.max(0, this.#restsUntilMs - this.#options.clock.monotonicMs())
  }

  mayProbe(accountId: string): boolean {
    if (this.#state !== 'open') return this.#state === 'closed'
    const overdueMs = this.#options.clock.monotonicMs() - this.#restsUntilMs
    return overdueMs >= (accountId === this.#failedProber ? this.#restMs : 0)
  }

  /** Allowed before the rest is over too, where there is nobody else to ask. */
  probe(accountId: string): void {
    if (this.#state !== 'open') return
    this.#prober = accountId
    this.#become('half-open')
  }

  open(): void {
    this.#isOnTrial = false
    this.#restMs = Math.min(this.#options.restMs * 2 ** this.#rests, this.#options.restMsMax)
    this.#restsUntilMs = this.#options.clock.monotonicMs() + this.#restMs
    this.#rests += 1
    this.#become('open')
  }

  /** The probe has begun to stream: all are admitted again, until it is known how it ends. */
  probeOpened(accountId: string): void {
    if (this.#state !== 'half-open' || accountId !== this.#prober) return
    this.#isOnTrial = true
    this.#become('closed')
  }

  /** Says whether the circuit closed by it. */
  probeSucceeded(accountId: string): boolean {
    if (!this.#isProbing(accountId)) return false
    this.#rests = 0
    this.#isOnTrial = false
    this.#prober = null
    this.#failedProber = null
    this.#become('closed')
    return true
  }

  /** Says whether it was a probe that failed. One that went early makes the rest no longer. */
  probeFailed(accountId: string): boolean {
    if (!this.#isProbing(accountId)) return false
    this.#prober = null
    if (!this.#isOnTrial && this.restMs() > 0) {
      this.#become('open')
    } else {
      this.#failedProber = accountId
      this.open()
    }
    return true
  }

  /** The probe ended without telling anything: the next may go when this one could. */
  probeAbandoned(accountId: string): void {
    if (this.#state !== 'half-open' || accountId !== this.#prober) return
    this.#prober = null
    this.#become('open')
  }

  #isProbing(accountId: string): boolean {
    return accountId === this.#prober && (this.#state === 'half-open' || this.#isOnTrial)
  }

  #become(next: CircuitState): void {
    if (next === this.#state) return
    this.#state = next
    this.#options.onChange(next)
  }
}
