import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import type { Admission, LimitLayer, Limits, RateState, Refusal } from '../../modules/limits/limits.ts'

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
  if (!outcome.isAdmitted) throw explainRefusal(outcome)
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

const DESCRIPTIONS: Readonly<Record<LimitLayer, (limit: number) => string>> = {
  key_requests: (limit) => `This key may send ${limit} requests a minute.`,
  key_tokens: (limit) => `This key may use ${limit} tokens a minute.`,
  tenant_spend: () => 'This account has spent what it may spend in a minute.',
  tenant_concurrency: (limit) => `This account may have ${limit} requests running at once.`,
  tenant_refused: (limit) => `This account may send ${limit} requests a minute that are refused.`,
  model_queue: () => 'The queue of the model is full.',
  address: () => 'Too many requests came from this address.',
}

export function explainRefusal(refusal: Refusal): AppError {
  const { layer, limit, retryAfterSeconds } = refusal
  const code = layer === 'tenant_concurrency' ? 'concurrency_limit_reached' : 'rate_limit_exceeded'
  const pairs: string[] = []
  pushRate(pairs, REQUESTS, refusal.requestRate())
  pushRate(pairs, TOKENS, refusal.tokenRate())
  const headers: Record<string, string> = {}
  for (let index = 0; index + 1 < pairs.length; index += 2)
    headers[pairs[index] ?? ''] = pairs[index + 1] ?? ''
  const message = `${DESCRIPTIONS[layer](limit)} Try again in ${retryAfterSeconds} s.`
  return new AppError(code, message, { retryAfterSeconds, headers })
}
