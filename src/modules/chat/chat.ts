import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { CompletionRequest } from '../../providers/completion-wire.ts'
import { completionThroughChat } from '../../providers/completion-through-chat.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { attemptRoutes } from './attempt-routes.ts'
import {
  callCandidate,
  type InferenceResult,
  type Operation,
  type StreamableRequest,
} from './call-candidate.ts'
import { checkMessages } from './check-messages.ts'
import { createCircuitBreaker, type BreakerState, type CircuitBreaker } from './circuit-breaker.ts'
import { countChatPromptTokens, countCompletionPromptTokens } from './count-prompt-tokens.ts'
import { estimateChat, estimateCompletion, refineChat, refineCompletion } from './estimate-cost.ts'
import { explainFailure } from './explain-failure.ts'
import { holdCredit } from './hold-credit.ts'
import type { AttemptRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { AcquireSlot } from './occupy-slot.ts'
import { RequestBill } from './request-bill.ts'
import { createCandidateSelector } from './select-candidates.ts'

export { createInferenceRecord, type InferenceRecord } from './inference-record.ts'
export type { InferenceResult } from './call-candidate.ts'
export type { InferenceRequest } from './inference-request.ts'
export { isSandboxEnvironment } from './select-candidates.ts'

export interface Chat {
  chat(request: InferenceRequest<ChatRequest>): Promise<InferenceResult>
  completion(request: InferenceRequest<CompletionRequest>): Promise<InferenceResult>
}

interface ChatObserver {
  attempted(attempt: AttemptRecord): void
  breakerChanged(provider: string, state: BreakerState): void
}

interface ChatOptions {
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly ledger: Pick<Ledger, 'hold' | 'knownBalanceNanoUsd'>
  readonly clock: Clock
  readonly timeouts: UpstreamTimeouts
  /** The longest an answer may take, whole or streamed. */
  readonly streamDurationMsMax: number
  readonly countTokens: (text: string) => number
  readonly acquireSlot: AcquireSlot
  readonly observer: ChatObserver
}

const CHAT: Operation<ChatRequest> = {
  of: (provider) => provider.chat,
  countPromptTokens: countChatPromptTokens,
  estimate: { bound: estimateChat, refine: refineChat, isLimitedByModel: true },
}

const COMPLETION: Operation<CompletionRequest> = {
  of: (provider) =>
    provider.completion ?? (provider.chat && completionThroughChat(provider.id, provider.chat)),
  countPromptTokens: countCompletionPromptTokens,
  // Without a limit it is OpenAI's default, which not every upstream keeps.
  estimate: { bound: estimateCompletion, refine: refineCompletion, isLimitedByModel: false },
}

export function createChat(options: ChatOptions): Chat {
  const { catalog, providers, ledger, clock, observer } = options
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

  const callOptions = { ...options, onAttempt: (attempt: AttemptRecord) => observer.attempted(attempt) }

  const infer = async <Body extends StreamableRequest>(
    operation: Operation<Body>,
    request: InferenceRequest<Body>,
  ): Promise<InferenceResult> => {
    const { body, record, cancellation, caller } = request
    const startedMs = clock.nowMs()
    const model = selector.resolveModel(caller, body.model)
    record.model = model.id

    let bill: RequestBill | null = null
    try {
      const candidates = selector.select(caller, model)
      const covering = holdCredit(ledger, operation.estimate, model, request, startedMs)
      const covered = covering instanceof Promise ? await covering : covering
      const { hold } = covered
      bill = new RequestBill({ hold, request: covered.request, ledger, clock, startedMs })
      const inference = { operation, request: covered.request, model, bill, startedMs }
      const result = await attemptRoutes({
        candidates,
        attempt: (candidate) => callCandidate(candidate, inference, callOptions),
        cancellation,
      })
      // A stream settles where it ends.
      if (result.kind === 'complete') await bill.settle({ isDelivered: false })
      return result
    } catch (error) {
      bill?.release()
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
