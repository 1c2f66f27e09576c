import type { Caller } from '../keys/keys.ts'
import { statesOf, type Refusal } from './admission.ts'
import type { Gates, RateGate } from './gates.ts'
import { needRate, takeNeeds } from './take-needs.ts'

export interface RefusedBody {
  readonly caller: Caller
  /** The estimate from its bytes. */
  readonly tokens: number
}

interface Rest {
  readonly endsAtMs: number
  readonly requestsPerMinute: number | null
}

const KEYS_MAX = 10_000

/**
 * Reading and validating a body costs as much as a request that runs. A key that has used up its rates with invalid bodies is
 * refused before the next body is read.
 */
export class RefusedBodies {
  readonly #gates: Gates
  readonly #resting = new Map<string, Rest>()

  constructor(gates: Gates) {
    this.#gates = gates
  }

  async count({ caller, tokens }: RefusedBody): Promise<Refusal | null> {
    const gate = await this.#gates.open(caller, 'llm', performance.now())
    const nowMs = performance.now()
    const need = (
      layer: 'key_requests' | 'key_tokens' | 'tenant_refused',
      rate: RateGate | null,
      units = 1,
    ) => needRate(layer, rate, units, nowMs, rate === null || rate.rate.takeNow(units, rate.perMinute, nowMs))
    const needs = [
      need('key_requests', gate.requests),
      need('key_requests', gate.parentRequests),
      need('key_tokens', gate.tokens, Math.min(tokens, gate.tokens?.perMinute ?? tokens)),
      need('tenant_refused', gate.account.refused()),
    ].filter((each) => each !== null)
    const refusal = await takeNeeds(statesOf(gate), needs)
    if (refusal !== null) this.#rest(caller, refusal.retryAfterSeconds)
    return refusal
  }

  secondsToRest({ keyId, requestsPerMinute }: Caller): number {
    if (this.#resting.size === 0) return 0
    const rest = this.#resting.get(keyId)
    if (rest === undefined) return 0
    const leftMs = rest.endsAtMs - performance.now()
    // If the limit of the key was changed, the wait ends.
    if (leftMs > 0 && rest.requestsPerMinute === requestsPerMinute) return Math.ceil(leftMs / 1000)
    this.#resting.delete(keyId)
    return 0
  }

  #rest({ keyId, requestsPerMinute }: Caller, seconds: number): void {
    this.#resting.delete(keyId)
    this.#resting.set(keyId, { endsAtMs: performance.now() + seconds * 1000, requestsPerMinute })
    if (this.#resting.size <= KEYS_MAX) return
    const [oldest] = this.#resting.keys()
    if (oldest !== undefined) this.#resting.delete(oldest)
  }
}
