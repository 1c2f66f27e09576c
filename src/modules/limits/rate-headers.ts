import type { RateState, RateStates } from './admission.ts'

interface RateNames {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const REQUESTS = nameHeaders('requests')
const TOKENS = nameHeaders('tokens')

function nameHeaders(of: string): RateNames {
  return {
    limit: `x-ratelimit-limit-${of}`,
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
  }
}

/** Adds the rate headers to a list of alternating names and values. */
export function pushRates(headers: string[], states: RateStates): void {
  pushRate(headers, REQUESTS, states.requestRate())
  pushRate(headers, TOKENS, states.tokenRate())
}

function pushRate(headers: string[], names: RateNames, rate: RateState | null): void {
  if (rate === null) return
  headers.push(
    names.limit,
    String(rate.limit),
    names.remaining,
    String(rate.remaining),
    names.reset,
    `${rate.resetSeconds}s`,
  )
}
