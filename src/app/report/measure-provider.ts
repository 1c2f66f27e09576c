import {
  isBreakerFailure,
  type AttemptRecord,
  type InferenceRecord,
} from '../../modules/inference/inference.ts'

const TOO_MANY_REQUESTS = 429
/** Anthropic's status for too much load. */
const OVERLOADED = 529

/** How an attempt ended as far as its provider is concerned. Null for what the client or this process ended. */
export function endOfAttempt({
  outcome,
  status,
}: Pick<AttemptRecord, 'outcome' | 'status'>): 'answered' | 'failed' | 'limited' | null {
  if (outcome === 'aborted' || outcome === 'local') return null
  if (outcome === 'answered') return 'answered'
  if (status === TOO_MANY_REQUESTS || status === OVERLOADED) return 'limited'
  // The request was wrong: the provider works.
  return isBreakerFailure(outcome, status) ? 'failed' : 'answered'
}

interface Charged {
  readonly provider: string
  readonly model: string
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  readonly completionTokens: number
}

/** Times an answer from the attempt on that it came from, so that a provider is not blamed for those before it. */
export function measureAnswer(charged: Charged, { attempts }: Pick<InferenceRecord, 'attempts'>): Charged {
  const waitedMs = attempts.at(-1)?.startedMs ?? 0
  const { provider, model, latencyMs, firstTokenMs, completionTokens } = charged
  return {
    provider,
    model,
    latencyMs: Math.max(0, latencyMs - waitedMs),
    firstTokenMs: firstTokenMs === null ? null : Math.max(0, firstTokenMs - waitedMs),
    completionTokens,
  }
}

/** Returns whose stream broke off after it began. Null for all other requests. */
export function findBrokenStream({
  outcome,
  errorCode,
  provider,
  model,
  attempts,
}: Pick<InferenceRecord, 'outcome' | 'errorCode' | 'provider' | 'model' | 'attempts'>): {
  provider: string
  model: string
} | null {
  const isBroken = outcome === 'failed' && errorCode !== null && PROVIDER_CODES.has(errorCode)
  if (!isBroken || provider === null || attempts.at(-1)?.outcome !== 'answered') return null
  return { provider, model: model ?? '' }
}

const PROVIDER_CODES: ReadonlySet<string> = new Set(['provider_error', 'timeout'])
