import { AppError } from '../../../kernel/app-error.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { InferenceAnswer, InferenceCall, Provider } from '../../../providers/provider.ts'
import { UpstreamError, type UpstreamFailure } from '../../../providers/failures/upstream-error.ts'
import type { CatalogModel, Category } from '../../catalog/catalog.ts'

/** The result of a test call. */
export interface Probe {
  readonly isOk: boolean
  readonly latencyMs: number
  /** The upstream's HTTP status, if it answered with an error status. */
  readonly status: number | null
  readonly failure: UpstreamFailure | null
  /** What went wrong, without secrets. */
  readonly message: string | null
}

interface ProbeRequest {
  readonly provider: Provider
  readonly model: Pick<CatalogModel, 'id' | 'category'>
  readonly upstreamModel: string
  readonly requestId: string
  /** Ends the call early. */
  readonly cancellation: Cancellation
}

const PROBE_MS_MAX = 15_000
const MESSAGE_LENGTH_MAX = 500
const TIMEOUTS = { connectMs: 5_000, firstByteMs: PROBE_MS_MAX, idleMs: PROBE_MS_MAX }

/** The categories whose smallest request costs next to nothing. The order of preference. */
export const PROBED_CATEGORIES: readonly Category[] = ['llm', 'embedding', 'rerank', 'moderation']

type Ask = (
  provider: Provider,
  model: string,
  call: Omit<InferenceCall, 'body' | 'text'>,
) => Promise<InferenceAnswer> | undefined

const ASK: Readonly<Partial<Record<Category, Ask>>> = {
  llm: (provider, model, call) => {
    const messages = [{ role: 'user' as const, content: 'Say OK.' }]
    // Some upstreams refuse a lower limit.
    const body = { model, messages, max_tokens: 16 }
    return provider.chat?.({ ...call, body, text: JSON.stringify(body) })
  },
  embedding: (provider, model, call) => {
    const body = { model, input: 'OK' }
    return provider.embedding?.({ ...call, body, text: JSON.stringify(body) })
  },
  rerank: (provider, model, call) => {
    const body = { model, query: 'OK', documents: ['OK'] }
    return provider.rerank?.({ ...call, body, text: JSON.stringify(body) })
  },
  moderation: (provider, model, call) => {
    const body = { model, input: 'OK' }
    return provider.moderation?.({ ...call, body, text: JSON.stringify(body) })
  },
}

export function isProbeable(provider: Provider, category: Category): boolean {
  const offers: Partial<Record<Category, unknown>> = {
    llm: provider.chat,
    embedding: provider.embedding,
    rerank: provider.rerank,
    moderation: provider.moderation,
  }
  return offers[category] !== undefined
}

/**
 * Sends the smallest real request to an upstream. It passes limits, breakers and the ledger by: nobody is charged, and its
 * outcome does not steer other requests.
 */
export async function probeProvider(request: ProbeRequest): Promise<Probe> {
  const { provider, model, upstreamModel, requestId } = request
  const cancellation = new Cancellation()
  const stop = (reason: unknown): void => cancellation.cancel(reason)
  request.cancellation.onCancel(stop)
  const timer = setTimeout(() => stop(tooSlow()), PROBE_MS_MAX)
  const startedMs = performance.now()
  const end = (result: Pick<Probe, 'status' | 'failure' | 'message'> & { isOk: boolean }): Probe => ({
    ...result,
    latencyMs: Math.round(performance.now() - startedMs),
  })
  try {
    const asked = ASK[model.category]?.(provider, model.id, {
      upstreamModel,
      requestId,
      canReason: false,
      timeouts: TIMEOUTS,
      cancellation,
    })
    if (asked === undefined) throw new Error(`${provider.id} cannot be asked as ${model.category}`)
    const isAnswer = await readsAsAnswer(await asked)
    if (isAnswer) return end({ isOk: true, status: null, failure: null, message: null })
    const message = 'The upstream answered with something else than JSON.'
    return end({ isOk: false, status: null, failure: 'invalid_answer', message })
  } catch (error) {
    if (request.cancellation.isCancelled) throw error
    return end({ isOk: false, ...explain(error) })
  } finally {
    clearTimeout(timer)
    request.cancellation.offCancel(stop)
  }
}

async function readsAsAnswer(answer: InferenceAnswer): Promise<boolean> {
  if (answer.kind === 'stream') {
    for await (const batch of answer.batches) if (batch.length > 0) return true
    return false
  }
  try {
    return isRecord(parseJson(answer.payload.toString('utf8')))
  } catch {
    return false
  }
}

function explain(error: unknown): Pick<Probe, 'status' | 'failure' | 'message'> {
  if (error instanceof UpstreamError) {
    const { status = null, failure, upstreamMessage } = error.details
    return { status, failure, message: (upstreamMessage ?? error.message).slice(0, MESSAGE_LENGTH_MAX) }
  }
  if (error instanceof AppError) return { status: null, failure: 'timeout', message: error.message }
  throw error
}

function tooSlow(): AppError {
  return new AppError('timeout', `The upstream did not answer within ${PROBE_MS_MAX / 1000} s.`)
}
