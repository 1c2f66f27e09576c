import { AppError } from '../../kernel/app-error.ts'
import type { LimitLayer, Refusal } from './admission.ts'

const DESCRIPTIONS: Readonly<Record<LimitLayer, (limit: number) => string>> = {
  key_requests: (limit) => `This key may send ${limit} requests a minute.`,
  key_tokens: (limit) => `This key may use ${limit} tokens a minute.`,
  tenant_spend: () => 'This account has spent what it may spend in a minute.',
  tenant_concurrency: (limit) => `This account may have ${limit} requests running at once.`,
  tenant_refused: (limit) => `This account may send ${limit} requests a minute that are refused.`,
  model_queue: () => 'The queue of the model is full.',
  address: () => 'Too many requests came from this address.',
}

/** Returns the error of a refused request, which names the limit. */
export function explainRefusal(
  { layer, limit, retryAfterSeconds }: Pick<Refusal, 'layer' | 'limit' | 'retryAfterSeconds'>,
  headers: Readonly<Record<string, string>> = {},
): AppError {
  const code = layer === 'tenant_concurrency' ? 'concurrency_limit_reached' : 'rate_limit_exceeded'
  const message = `${DESCRIPTIONS[layer](limit)} Try again in ${retryAfterSeconds} s.`
  return new AppError(code, message, { retryAfterSeconds, headers })
}
