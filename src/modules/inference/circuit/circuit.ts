import type { Clock } from '../../../kernel/clock.ts'

export type CircuitState = 'closed' | 'open' | 'half-open'

export interface CircuitOptions {
  readonly clock: Clock
  readonly restMs: number
  readonly restMsMax: number
  readonly onChange: (state: CircuitState) => void
}

/** Opens after failures, for a time that doubles with each failed probe, and closes when a probe succeeds. */
export class Circuit {
  readonly #options: CircuitOptions
  #state: CircuitState = 'closed'
  #rests = 0
  #restMs = 0
  #restsUntilMs = 0
  /** The account whose request is the probe. Only its result counts: other accounts may fail by their own fault. */
  #prober: string | null = null
  /** The account whose probe failed last. Another account goes first next time. */
  #failedProber: string | null = null
  /** Closed by a probe that has begun to stream and has not ended yet. */
  #isOnTrial = false

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  get state(): CircuitState {
    return this.#state
  }

  /** Whether the circuit has recovered completely. */
  get isQuiet(): boolean {
    return this.#state === 'closed' && !this.#isOnTrial
  }

  /** Remaining rest period; 0 if the circuit is closed or a probe may be sent. */
  restMs(): number {
    return this.#state === 'closed' ? 0 : Math.max(0, this.#restsUntilMs - this.#options.clock.monotonicMs())
  }

  mayProbe(accountId: string): boolean {
    if (this.#state !== 'open') return this.#state === 'closed'
    const overdueMs = this.#options.clock.monotonicMs() - this.#restsUntilMs
    return overdueMs >= (accountId === this.#failedProber ? this.#restMs : 0)
  }

  /** Also allowed before the rest period ends, if there is no other upstream. */
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

  /** The probe has begun to stream: all requests are admitted again until its result is known. */
  probeOpened(accountId: string): void {
    if (this.#state !== 'half-open' || accountId !== this.#prober) return
    this.#isOnTrial = true
    this.#become('closed')
  }

  /** Returns whether this closed the circuit. */
  probeSucceeded(accountId: string): boolean {
    if (!this.#isProbing(accountId)) return false
    this.#rests = 0
    this.#isOnTrial = false
    this.#prober = null
    this.#failedProber = null
    this.#become('closed')
    return true
  }

  /** Returns whether it was a probe that failed. A failed probe during the rest period does not extend it. */
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

  /** The probe ended without a result. The rest period stays as it was. */
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
