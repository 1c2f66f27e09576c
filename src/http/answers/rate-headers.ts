import type { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import {
  explainRefusal,
  type Admission,
  type Limits,
  type RateState,
  type Refusal,
} from '../../modules/limits/limits.ts'

interface AdmissionRequest {
  readonly caller: Caller
  readonly category: string
  readonly tokens: number
}

/** Adds the rate headers of an admitted request. Throws if the request is refused; the error has the same headers. */
export function admitRequest(
  limits: Limits,
  request: AdmissionRequest,
  headers: string[],
): Admission | Promise<Admission> {
  const outcome = limits.admit(request)
  return outcome instanceof Promise
    ? outcome.then((decided) => accept(decided, headers))
    : accept(outcome, headers)
}

function accept(outcome: Admission | Refusal, headers: string[]): Admission {
  if (!outcome.isAdmitted) throw refuseWithRates(outcome)
  pushRate(headers, REQUESTS, outcome.requestRate())
  pushRate(headers, TOKENS, outcome.tokenRate())
  return outcome
}

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

/** The error of a refused request, with its rate headers. */
export function refuseWithRates(refusal: Refusal): AppError {
  const pairs: string[] = []
  pushRate(pairs, REQUESTS, refusal.requestRate())
  pushRate(pairs, TOKENS, refusal.tokenRate())
  const headers: Record<string, string> = {}
  for (let index = 0; index + 1 < pairs.length; index += 2)
    headers[pairs[index] ?? ''] = pairs[index + 1] ?? ''
  return explainRefusal(refusal, headers)
}
