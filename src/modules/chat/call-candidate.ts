import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { InferenceOperation, Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { AnswerContext } from './answer-context.ts'
import { boundDuration } from './bound-duration.ts'
import { finishCompleteAnswer } from './finish-complete-answer.ts'
import type { InferenceRequest } from './inference-request.ts'
import { openStream, type OpenedStream } from './relay-stream.ts'
import type { Candidate } from './select-candidates.ts'

export type StreamableRequest = Pick<ChatRequest, 'model' | 'stream' | 'stream_options'>

/** How one of the two operations is done: everything else is the same for both. */
export interface Operation<Body> {
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  readonly countPromptTokens: (body: Body, countTokens: (text: string) => number) => number
}

interface CallOptions<Body> {
  readonly operation: Operation<Body>
  readonly request: InferenceRequest<Body>
  readonly model: CatalogModel
  readonly startedMs: number
  readonly clock: Clock
  readonly streamDurationMsMax: number
  readonly countTokens: (text: string) => number
}

/** One call of one upstream: an answer that is finished, or a stream whose first chunk is sound. */
export async function callCandidate<Body extends StreamableRequest>(
  { provider, upstreamModel, timeouts }: Candidate,
  options: CallOptions<Body>,
): Promise<string | OpenedStream> {
  const { operation, request, model, startedMs, clock, countTokens } = options
  const { body, record } = request
  const perform = operation.of(provider)
  if (!perform) throw new AppError('unsupported_parameter', `'${model.id}' cannot serve this operation.`)
  const leftMs = startedMs + options.streamDurationMsMax - clock.nowMs()
  const bounded = boundDuration(request.cancellation, leftMs, () => tookTooLong(provider.id))
  const context: AnswerContext = {
    provider: provider.id,
    model,
    requestedModel: body.model,
    record,
    startedMs,
    countPromptTokens: () => operation.countPromptTokens(body, countTokens),
    countTokens,
  }
  let isStreaming = false
  try {
    const answer = await perform({
      body,
      text: request.text,
      upstreamModel,
      canReason: model.capabilities.has('reasoning'),
      requestId: request.requestId,
      timeouts,
      cancellation: bounded.cancellation,
    })
    if (answer.kind === 'complete') return finishCompleteAnswer(answer.payload, context)
    const isUsageAsked = body.stream_options?.include_usage === true
    const opened = await openStream(answer, context, { isUsageAsked, clock, onEnd: bounded.release })
    isStreaming = true
    return opened
  } finally {
    if (!isStreaming) bounded.release()
  }
}

function tookTooLong(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the answer took too long`, { failure: 'timeout', provider })
}
