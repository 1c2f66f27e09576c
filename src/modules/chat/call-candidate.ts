import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { InferenceAnswer, InferenceOperation, Provider } from '../../providers/provider.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type {
  Candidate,
  Inference,
  InferenceRequest,
  RequestBill,
  WholeAnswer,
} from '../inference/inference.ts'
import type { AnswerContext } from './answer-context.ts'
import { finishCompleteAnswer } from './finish-complete-answer.ts'
import type { Estimate } from './hold-credit.ts'
import { openStream, type Batch } from './relay-stream.ts'

export type StreamableRequest = Pick<ChatRequest, 'model' | 'stream' | 'stream_options' | 'max_tokens'>

interface StreamResult {
  readonly kind: 'stream'
  /** Throws an `AppError` when the upstream fails in the middle. */
  readonly batches: AsyncIterable<Batch>
}

export type InferenceResult = WholeAnswer | StreamResult

/** Its charge is on its way, and it must not leave before that is durable. */
interface UnchargedAnswer extends WholeAnswer {
  readonly charged: Promise<void>
}

/** How one of the two operations is done: everything else is the same for both. */
export interface Operation<Body> {
  readonly name: 'chat' | 'completion'
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  readonly countPromptTokens: (body: Body, countTokens: (text: string) => number) => number
  readonly estimate: Estimate<Body>
  /** Members that change the bill and are in its estimate. */
  readonly pricedMembers: ReadonlySet<string>
}

/** What is asked, the same for every upstream that is tried. */
export interface Question<Body> {
  readonly operation: Operation<Body>
  readonly request: InferenceRequest<Body>
  readonly model: CatalogModel
  readonly bill: RequestBill
  readonly startedMs: number
}

interface CallOptions {
  readonly inference: Pick<Inference, 'beginAttempt'>
  readonly clock: Clock
  readonly countTokens: (text: string) => number
}

/** One call of one upstream: an answer that is finished, or a stream whose first chunk is sound, which settles where it ends. */
export async function callCandidate<Body extends StreamableRequest>(
  candidate: Candidate,
  question: Question<Body>,
  options: CallOptions,
): Promise<UnchargedAnswer | StreamResult> {
  const { operation, request, model, startedMs } = question
  const perform = operation.of(candidate.provider)
  if (!perform) throw new AppError('unsupported_parameter', `'${model.id}' cannot serve this operation.`)
  const beginning = options.inference.beginAttempt(candidate, request, startedMs)
  const attempt = beginning instanceof Promise ? await beginning : beginning
  try {
    const answer = await perform({
      body: request.body,
      text: request.text,
      upstreamModel: candidate.upstreamModel,
      canReason: model.capabilities.has('reasoning'),
      requestId: request.requestId,
      timeouts: candidate.timeouts,
      cancellation: attempt.work.cancellation,
    })
    const reading = readAnswer(answer, { candidate, question, options, release: attempt.work.release })
    const result = reading instanceof Promise ? await reading : reading
    attempt.answered()
    return result
  } catch (error) {
    attempt.failed(error)
    throw error
  }
}

interface Call<Body> {
  readonly candidate: Candidate
  readonly question: Question<Body>
  readonly options: CallOptions
  /** When the work at the upstream is over. */
  readonly release: () => void
}

function readAnswer<Body extends StreamableRequest>(
  answer: InferenceAnswer,
  { candidate, question, options, release }: Call<Body>,
): UnchargedAnswer | Promise<StreamResult> {
  const { operation, request, model, bill, startedMs } = question
  const { countTokens } = options
  const context: AnswerContext = {
    provider: candidate.provider.id,
    operation: operation.name,
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
      accountId: request.caller.accountId,
      onEnd: release,
    })
  }
  const payload = finishCompleteAnswer(answer.payload, context)
  request.record.provider = candidate.provider.id
  request.record.outcome = 'completed'
  const charged = bill.settle({ isDelivered: false })
  release()
  candidate.breaker?.succeeded(request.caller.accountId)
  return { kind: 'complete', payload, charged }
}
