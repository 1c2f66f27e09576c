import type { NanoUsd } from '../../kernel/money.ts'
import type { AccountGate, KeyGate, RateGate } from './gates.ts'

/** The limit that refused a request. */
export type LimitLayer =
  | 'key_requests'
  | 'key_tokens'
  | 'tenant_spend'
  | 'tenant_concurrency'
  | 'tenant_refused'
  | 'project'
  | 'provider_key'
  | 'model_queue'
  | 'address'

/** The values of the rate headers for one limit. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

export interface RateStates {
  /** Null if no limit applies. */
  requestRate(): RateState | null
  tokenRate(): RateState | null
}

export interface Refusal extends RateStates {
  readonly isAdmitted: false
  readonly layer: LimitLayer
  readonly limit: number
  /** What is counted, in words, for a layer that counts several things. */
  readonly unit?: string
  readonly retryAfterSeconds: number
}

/** A request within the limits that its project has for the model. */
export interface ModelAdmission {
  readonly isAdmitted: true
  /** Corrects the estimate. */
  finish(tokens: number): void
}

/** What a request used, known when it ends. */
export interface UsedUp {
  readonly tokens: number
  readonly spentNanoUsd: NanoUsd
  /** The admission to the limits of the project, if it has some for the model. */
  readonly ofModel?: Pick<ModelAdmission, 'finish'> | null
}

/** An admitted request. It counts as running until `finish` is called. */
export class Admission implements RateStates {
  readonly isAdmitted = true
  readonly #gate: KeyGate
  readonly #tokens: number
  readonly #startedMs: number
  #isFinished = false

  constructor(gate: KeyGate, tokens: number, startedMs: number) {
    this.#gate = gate
    this.#tokens = tokens
    this.#startedMs = startedMs
  }

  requestRate(): RateState | null {
    return requestRateOf(this.#gate, this.#startedMs)
  }

  tokenRate(): RateState | null {
    return rateStateOf(this.#gate.tokens, this.#startedMs)
  }

  /** Corrects the estimates and frees the slot. */
  finish({ tokens, spentNanoUsd, ofModel }: UsedUp): void {
    if (this.#isFinished) return
    this.#isFinished = true
    const { account, categorySlots } = this.#gate
    ofModel?.finish(tokens)
    const nowMs = performance.now()
    this.#gate.tokens?.rate.giveBack(this.#tokens - tokens, nowMs)
    if (spentNanoUsd > 0n) account.spend?.rate.giveBack(-Number(spentNanoUsd), nowMs)
    account.slots?.share.release()
    categorySlots?.share.release()
    noteDuration(account, nowMs - this.#startedMs)
  }
}

export function statesOf(gate: KeyGate): RateStates {
  return {
    requestRate: () => requestRateOf(gate, performance.now()),
    tokenRate: () => rateStateOf(gate.tokens, performance.now()),
  }
}

/** Returns the state with the fewest remaining requests: of the key, of its parent key, or of the model's category. */
function requestRateOf(
  { requests, categoryRequests, parentRequests }: KeyGate,
  nowMs: number,
): RateState | null {
  let state = rateStateOf(requests, nowMs)
  if (parentRequests !== null) state = narrower(state, rateStateOf(parentRequests, nowMs))
  if (categoryRequests !== null) state = narrower(state, rateStateOf(categoryRequests, nowMs))
  return state
}

function narrower(one: RateState | null, other: RateState | null): RateState | null {
  if (one === null || other === null) return one ?? other
  return other.remaining < one.remaining ? other : one
}

export function rateStateOf(gate: RateGate | null, nowMs: number): RateState | null {
  if (gate === null) return null
  const { rate, perMinute } = gate
  const remaining = rate.remaining(nowMs)
  return { limit: perMinute, remaining, resetSeconds: Math.ceil(rate.resetMs(remaining) / 1000) }
}

const NEW_SHARE = 0.1

function noteDuration(account: AccountGate, durationMs: number): void {
  account.averageMs += (durationMs - account.averageMs) * NEW_SHARE
}
