import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { InferenceAnswer, InferenceOperation, Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { AnswerContext } from './answer-context.ts'
import { boundDuration, type BoundedWork } from './bound-duration.ts'
import { finishCompleteAnswer } from './finish-complete-answer.ts'
import type { Estimate } from './hold-credit.ts'
import type { AttemptRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import { occupySlot, type AcquireSlot } from './occupy-slot.ts'
import { recordAttempt } from './record-attempt.ts'
import { openStream, type Batch } from './relay-stream.ts'
import type { RequestBill } from './request-bill.ts'
import type { Candidate } from './select-candidates.ts'

export type StreamableRequest = Pick<ChatRequest, 'model' | 'stream' | 'stream_options' | 'max_tokens'>

export type InferenceResult =
  | { readonly kind: 'complete'; readonly text: string }
  /** Throws an `AppError` when the upstream fails in the middle. */
  | { readonly kind: 'stream'; readonly batches: AsyncIterable<Batch> }

/** How one of the two operations is done: everything else is the same for both. */
export interface Operation<Body> {
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  readonly countPromptTokens: (body: Body, countTokens: (text: string) => number) => number
  readonly estimate: Estimate<Body>
}

/** What is asked, the same for every upstream that is tried. */
export interface Inference<Body> {
  readonly operation: Operation<Body>
  readonly request: InferenceRequest<Body>
  readonly model: CatalogModel
  readonly bill: RequestBill
  readonly startedMs: number
}

interface CallOptions {
  readonly clock: Clock
  /** The longest an answer may take, whole or streamed. */
  readonly streamDurationMsMax: number
  readonly countTokens: (text: string) => number
  readonly acquireSlot: AcquireSlot
  readonly onAttempt: (attempt: AttemptRecord) => void
}

/** One call of one upstream: an answer that is finished, or a stream whose first chunk is sound. */
export async function callCandidate<Body extends StreamableRequest>(
  candidate: Candidate,
  inference: Inference<Body>,
  options: CallOptions,
): Promise<InferenceResult> {
  const { operation, request, model, startedMs } = inference
  const { provider } = candidate
  const perform = operation.of(provider)
  if (!perform) throw new AppError('unsupported_parameter', `'${model.id}' cannot serve this operation.`)
  const acquired = options.acquireSlot(provider, request.caller.accountId, request.cancellation)
  const slot = acquired instanceof Promise ? await acquired : acquired
  const attempt = recordAttempt({ ...options, request, provider: provider.id })
  const leftMs = startedMs + options.streamDurationMsMax - options.clock.nowMs()
  const work = boundDuration(request.cancellation, leftMs, () => tookTooLong(provider.id))
  const bounded = occupySlot(work, slot)
  try {
    const answer = await perform({
      body: request.body,
      text: request.text,
      upstreamModel: candidate.upstreamModel,
      canReason: model.capabilities.has('reasoning'),
      requestId: request.requestId,
      timeouts: candidate.timeouts,
      cancellation: bounded.cancellation,
    })
    const result = await readAnswer(answer, { candidate, inference, options, bounded })
    attempt.answered()
    return result
  } catch (error) {
    bounded.release()
    attempt.failed(error)
    throw error
  }
}

interface Call<Body> {
  readonly candidate: Candidate
  readonly inference: Inference<Body>
  readonly options: CallOptions
  readonly bounded: BoundedWork
}

function readAnswer<Body extends StreamableRequest>(
  answer: InferenceAnswer,
  { candidate, inference, options, bounded }: Call<Body>,
): InferenceResult | Promise<InferenceResult> {
  const { operation, request, model, bill, startedMs } = inference
  const { countTokens } = options
  const context: AnswerContext = {
    provider: candidate.provider.id,
    model,
    requestedModel: request.body.model,
    record: request.record,
    bill,
    startedMs,
    countPromptTokens: () => operation.countPromptTokens(request.body, countTokens),
    countTokens,
  }
  if (answer.kind === 'stream') {
    return openStream(answer, context, {
      isUsageAsked: request.body.stream_options?.include_usage === true,
      clock: options.clock,
      cancellation: request.cancellation,
      breaker: candidate.breaker,
      onEnd: bounded.release,
    })
  }
  const text = finishCompleteAnswer(answer.payload, context)
  bounded.release()
  candidate.breaker?.succeeded()
  request.record.outcome = 'completed'
  return { kind: 'complete', text }
}

function tookTooLong(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the answer took too long`, { failure: 'timeout', provider })
}
