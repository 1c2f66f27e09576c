import { AppError } from '../../kernel/app-error.ts'
import type { LimitLayer, Refusal } from './admission.ts'
import { pushRates } from './rate-headers.ts'

const DESCRIPTIONS: Readonly<Record<LimitLayer, (limit: number, unit: string) => string>> = {
  key_requests: (limit) => `This key may send ${limit} requests a minute.`,
  key_tokens: (limit) => `This key may use ${limit} tokens a minute.`,
  tenant_spend: () => 'This account has spent what it may spend in a minute.',
  tenant_concurrency: (limit) => `This account may have ${limit} requests running at once.`,
  tenant_refused: (limit) => `This account may send ${limit} requests a minute that are refused.`,
  project: (limit, unit) => `This project may use ${limit} ${unit}.`,
  provider_key: (limit, unit) => `This key of a provider may get ${limit} ${unit}.`,
  model_queue: () => 'The queue of the model is full.',
  address: () => 'Too many requests came from this address.',
}

/** Returns the error of a refused request, which names the limit and has the rate headers. */
export function explainRefusal(refusal: Refusal): AppError {
  const { layer, limit, unit = '', retryAfterSeconds } = refusal
  const code = layer === 'tenant_concurrency' ? 'concurrency_limit_reached' : 'rate_limit_exceeded'
  const message = `${DESCRIPTIONS[layer](limit, unit)} Try again in ${retryAfterSeconds} s.`
  return new AppError(code, message, { retryAfterSeconds, headers: headersOf(refusal) })
}

function headersOf(refusal: Refusal): Record<string, string> {
  const pairs: string[] = []
  pushRates(pairs, refusal)
  const headers: Record<string, string> = {}
  for (let index = 0; index + 1 < pairs.length; index += 2)
    headers[pairs[index] ?? ''] = pairs[index + 1] ?? ''
  return headers
}
