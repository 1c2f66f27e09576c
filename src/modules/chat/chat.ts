import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { CompletionRequest } from '../../providers/completion-wire.ts'
import { completionThroughChat } from '../../providers/completion-through-chat.ts'
import type { InferenceOperation, Provider, UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Caller } from '../keys/keys.ts'
import type { AnswerContext } from './answer-context.ts'
import { attemptRoutes } from './attempt-routes.ts'
import { checkMessages } from './check-messages.ts'
import { createCircuitBreaker, type BreakerState, type CircuitBreaker } from './circuit-breaker.ts'
import { countChatPromptTokens, countCompletionPromptTokens } from './count-prompt-tokens.ts'
import { explainFailure } from './explain-failure.ts'
import { finishCompleteAnswer } from './finish-complete-answer.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import { observeAttempts } from './observe-attempts.ts'
import { openStream, type Batch, type OpenedStream } from './relay-stream.ts'
import { createCandidateSelector, type Candidate } from './select-candidates.ts'

export { createInferenceRecord, type InferenceRecord } from './inference-record.ts'
export { isSandboxEnvironment } from './select-candidates.ts'

export interface InferenceRequest<Body> {
  readonly caller: Caller
  readonly body: Body
  readonly rawBody: Buffer
  readonly requestId: string
  readonly record: InferenceRecord
  readonly signal: AbortSignal
}

export type InferenceResult =
  | { readonly kind: 'complete'; readonly payload: Buffer }
  /** Throws an `AppError` when the upstream fails in the middle. */
  | { readonly kind: 'stream'; readonly batches: AsyncIterable<Batch> }

export interface Chat {
  chat(request: InferenceRequest<ChatRequest>): Promise<InferenceResult>
  completion(request: InferenceRequest<CompletionRequest>): Promise<InferenceResult>
}

export interface ChatObserver {
  attempted(attempt: AttemptRecord): void
  breakerChanged(provider: string, state: BreakerState): void
}

interface ChatOptions {
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly clock: Clock
  readonly timeouts: UpstreamTimeouts
  readonly streamDurationMsMax: number
  readonly countTokens: (text: string) => number
  readonly observer: ChatObserver
}

type StreamableRequest = Pick<ChatRequest, 'model' | 'stream' | 'stream_options'>

/** How one of the two operations is done: everything else is the same for both. */
interface Operation<Body> {
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  readonly countPromptTokens: (body: Body, countTokens: (text: string) => number) => number
}

const CHAT: Operation<ChatRequest> = {
  of: (provider) => provider.chat,
  countPromptTokens: countChatPromptTokens,
}

const COMPLETION: Operation<CompletionRequest> = {
  of: (provider) =>
    provider.completion ?? (provider.chat && completionThroughChat(provider.id, provider.chat)),
  countPromptTokens: countCompletionPromptTokens,
}

export function createChat(options: ChatOptions): Chat {
  const { catalog, providers, clock, countTokens, observer } = options
  const breakers = new Map<string, CircuitBreaker>()
  const breakerOf = (provider: string): CircuitBreaker => {
    const known = breakers.get(provider)
    if (known) return known
    const breaker = createCircuitBreaker({
      clock,
      onChange: (state) => observer.breakerChanged(provider, state),
    })
    breakers.set(provider, breaker)
    return breaker
  }
  const selector = createCandidateSelector({ catalog, providers, breakerOf })

  const infer = async <Body extends StreamableRequest>(
    operation: Operation<Body>,
    request: InferenceRequest<Body>,
  ): Promise<InferenceResult> => {
    const { body, record, signal, caller } = request
    const startedMs = clock.nowMs()
    const model = selector.resolveModel(caller, body.model)
    record.model = model.id

    const attempt = async ({
      provider,
      upstreamModel,
      timeouts,
    }: Candidate): Promise<Buffer | OpenedStream> => {
      const perform = operation.of(provider)
      if (!perform) throw new AppError('unsupported_parameter', `'${model.id}' cannot serve this operation.`)
      const answer = await perform({
        body,
        rawBody: request.rawBody,
        upstreamModel,
        canReason: model.capabilities.has('reasoning'),
        requestId: request.requestId,
        timeouts: { ...options.timeouts, ...timeouts },
        signal,
      })
      const context: AnswerContext = {
        provider: provider.id,
        model,
        requestedModel: body.model,
        record,
        startedMs,
        countPromptTokens: () => operation.countPromptTokens(body, countTokens),
        countTokens,
      }
      if (answer.kind === 'complete') return finishCompleteAnswer(answer.payload, context)
      const isUsageAsked = body.stream_options?.include_usage === true
      return openStream(answer, context, {
        isUsageAsked,
        durationMsMax: options.streamDurationMsMax,
        clock,
      })
    }

    try {
      const candidates = selector.select(caller, model)
      const observed = observeAttempts(attempt, {
        clock,
        record,
        onAttempt: (attempted) => observer.attempted(attempted),
      })
      const answer = await attemptRoutes({ candidates, attempt: observed, signal })
      if (!Buffer.isBuffer(answer)) {
        return { kind: 'stream', batches: explainFailures(answer.batches(signal), breakerOf, record) }
      }
      record.outcome = 'completed'
      return { kind: 'complete', payload: answer }
    } catch (error) {
      record.outcome = signal.aborted ? 'disconnected' : 'failed'
      throw error instanceof UpstreamError ? explainFailure(error) : error
    }
  }

  return {
    chat: async (request) => {
      checkMessages(request.body.messages)
      return infer(CHAT, request)
    },
    completion: (request) => infer(COMPLETION, request),
  }
}

/** An upstream that dies in the middle of a stream is a failure of that upstream, and an error the client can read. */
async function* explainFailures(
  batches: AsyncGenerator<Batch, void>,
  breakerOf: (provider: string) => CircuitBreaker,
  record: InferenceRecord,
): AsyncGenerator<Batch, void> {
  try {
    yield* batches
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    if (record.provider !== null) breakerOf(record.provider).failed()
    throw explainFailure(error)
  }
}
