import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { CompletionRequest } from '../../providers/completion-wire.ts'
import { completionThroughChat } from '../../providers/completion-through-chat.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { attemptRoutes } from './attempt-routes.ts'
import { callCandidate, type Operation, type StreamableRequest } from './call-candidate.ts'
import { checkMessages } from './check-messages.ts'
import { createCircuitBreaker, type BreakerState, type CircuitBreaker } from './circuit-breaker.ts'
import { countChatPromptTokens, countCompletionPromptTokens } from './count-prompt-tokens.ts'
import { explainFailure } from './explain-failure.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import { observeAttempts } from './observe-attempts.ts'
import type { Batch } from './relay-stream.ts'
import { createCandidateSelector, type Candidate } from './select-candidates.ts'

export { createInferenceRecord, type InferenceRecord } from './inference-record.ts'
export type { InferenceRequest } from './inference-request.ts'
export { isSandboxEnvironment } from './select-candidates.ts'

export type InferenceResult =
  | { readonly kind: 'complete'; readonly text: string }
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
  /** The longest an answer may take, whole or streamed. */
  readonly streamDurationMsMax: number
  readonly countTokens: (text: string) => number
  readonly observer: ChatObserver
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
  const { catalog, providers, clock, observer } = options
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
  const selector = createCandidateSelector({ catalog, providers, breakerOf, timeouts: options.timeouts })

  const infer = async <Body extends StreamableRequest>(
    operation: Operation<Body>,
    request: InferenceRequest<Body>,
  ): Promise<InferenceResult> => {
    const { body, record, cancellation, caller } = request
    const startedMs = clock.nowMs()
    const model = selector.resolveModel(caller, body.model)
    record.model = model.id

    const attempt = (candidate: Candidate) =>
      callCandidate(candidate, { operation, request, model, startedMs, ...options })
    try {
      const candidates = selector.select(caller, model)
      const observed = observeAttempts(attempt, {
        clock,
        record,
        cancellation,
        onAttempt: (attempted) => observer.attempted(attempted),
      })
      const answer = await attemptRoutes({ candidates, attempt: observed, cancellation })
      if (typeof answer !== 'string') {
        return { kind: 'stream', batches: explainFailures(answer.batches(cancellation), breakerOf, record) }
      }
      record.outcome = 'completed'
      return { kind: 'complete', text: answer }
    } catch (error) {
      record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
      throw error instanceof UpstreamError ? explainFailure(error) : error
    }
  }

  return {
    chat: (request) => {
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
