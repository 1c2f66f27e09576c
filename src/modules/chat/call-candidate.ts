import { AppError } from '../../kernel/app-error.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type {
  CompleteAnswer,
  InferenceAnswer,
  InferenceOperation,
  Provider,
} from '../../providers/provider.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import {
  AbandonedWork,
  type Attempt,
  type Candidate,
  type Inference,
  type InferenceRequest,
  type InferenceResult,
  type PaidCall,
  type WholeAnswer,
} from '../inference/inference.ts'
import type { FindOptions, InlinedUse, OwnFiles } from '../media/media.ts'
import { settleAbandonedUsage, type AnswerContext } from './answer/answer-context.ts'
import type { AnswerForm } from './answer/answer-form.ts'
import { DeliveredText } from './answer/delivered-text.ts'
import { asksForHourCache } from './estimate/hour-cache.ts'
import type { WorstCase } from './estimate/estimate-cost.ts'
import { estimateProfileOf } from './estimate/estimate-profile.ts'
import { boundRequest, type Estimate } from './estimate/hold-worst-case.ts'
import { parseAnswer, type ParsedAnswer } from './answer/parse-answer.ts'
import { openStream } from './answer/relay-stream.ts'
import type { RequestAudio } from './audio/audio-tokens.ts'

export type StreamableRequest = Pick<ChatRequest, 'model' | 'stream' | 'stream_options'>

type CountPrompt<Body> = (model: CatalogModel, body: Body, countTokens: (text: string) => number) => number

/** The parts in which the operations differ. Everything else is shared. */
export interface Operation<Body> {
  readonly form: AnswerForm
  readonly of: (provider: Provider, upstreamModel: string) => InferenceOperation<Body> | undefined
  /** Counts a prompt for an upstream of the operator that reports no usage. */
  readonly countOwnTokens: CountPrompt<Body>
  /** Counts a prompt that a vendor may bill without a report. */
  readonly countHeldTokens: CountPrompt<Body>
  /** Whether the tokens of the prompt can be counted without the vendor. */
  readonly isMeasured: (body: Body) => boolean
  readonly estimate: Estimate<Body>
  /** Members that change the bill and that the estimate includes. */
  readonly pricedMembers: (model: CatalogModel, body: Body) => ReadonlySet<string>
  /** Returns the candidates that may serve the audio in the request. Throws if none may. */
  readonly filterByAudio: (
    model: CatalogModel,
    body: Body,
    candidates: readonly Candidate[],
  ) => readonly Candidate[]
  readonly audioOf: (body: Body) => RequestAudio
  /** Members of the answer whose values only the gateway knows. */
  readonly ownMembers?: (body: Body) => Readonly<Record<string, unknown>>
  /**
   * For wires that some providers speak natively: returns the candidates that support what the request asks for. Throws if none
   * does.
   */
  readonly filterByWire?: (body: Body, candidates: readonly Candidate[]) => readonly Candidate[]
  /** How a request refers to files by their address. */
  readonly files?: {
    find(media: OwnFiles, body: Body, options: FindOptions): InlinedUse[]
    inline(
      media: OwnFiles,
      request: InferenceRequest<Body>,
      uses: readonly InlinedUse[],
    ): Promise<InferenceRequest<Body>>
  }
}

interface CallOptions {
  readonly inference: Pick<Inference, 'beginAttempt' | 'drains'>
  readonly countTokens: (text: string) => number
}

/** Calls one upstream. Returns a finished answer, or a stream with a valid first chunk, which settles the bill at its end. */
export async function callCandidate<Body extends StreamableRequest>(
  candidate: Candidate,
  operation: Operation<Body>,
  call: PaidCall<Body>,
  options: CallOptions,
): Promise<InferenceResult> {
  const { request, model } = call
  const perform = operation.of(candidate.provider, candidate.upstreamModel)
  if (!perform) throw new AppError('unsupported_parameter', `'${model.id}' cannot serve this operation.`)
  const beginning = options.inference.beginAttempt(candidate, request)
  const attempt = beginning instanceof Promise ? await beginning : beginning
  try {
    const answer = await perform({
      body: request.body,
      text: request.text,
      upstreamModel: candidate.upstreamModel,
      canReason: model.capabilities.has('reasoning'),
      requestId: request.requestId,
      timeouts: request.body.stream === true ? candidate.streamTimeouts : candidate.timeouts,
      cancellation: attempt.work.cancellation,
      handOver: request.handOver,
      onSent: attempt.work.noteSent,
      onKey: attempt.noteKey,
      onEnd: attempt.work.onEnd,
      headers: request.headers,
      traceparent: attempt.traceparent,
      wakeTimeout: request.wakeTimeout,
      keyId: request.caller.keyId,
      giveWay: request.giveWay,
      affinity: call.affinity,
    })
    const reading = readAnswer(answer, { candidate, operation, call, options, attempt })
    const result = reading instanceof Promise ? await reading : reading
    attempt.answered()
    return result
  } catch (error) {
    attempt.failed(error)
    // The client left before an answer arrived, and the vendor bills the work.
    if (error instanceof AbandonedWork)
      settleAbandonedUsage(
        contextOf({ candidate, operation, call, options, attempt }),
        null,
        new DeliveredText(),
      )
    throw error
  }
}

interface Attempted<Body> {
  readonly candidate: Candidate
  readonly operation: Operation<Body>
  readonly call: PaidCall<Body>
  readonly options: CallOptions
  readonly attempt: Attempt
}

function readAnswer<Body extends StreamableRequest>(
  answer: InferenceAnswer,
  attempted: Attempted<Body>,
): WholeAnswer | Promise<InferenceResult> {
  const { candidate, operation, call, options, attempt } = attempted
  const { request } = call
  if (answer.kind === 'stream') {
    return openStream(answer, contextOf(attempted), {
      form: operation.form,
      isUsageAsked: request.body.stream_options?.include_usage === true,
      cancellation: request.cancellation,
      breaker: candidate.breaker,
      accountId: request.caller.accountId,
      work: attempt.work,
      isSeenWhole: isSeenWhole(candidate, call.model) && operation.isMeasured(request.body),
      drainBytesMax: options.inference.drains.limits.drainBytesMax,
      keepEnd: request.keepEnd,
    })
  }
  return finishAnswer(answer, attempted)
}

function finishAnswer<Body extends StreamableRequest>(
  received: CompleteAnswer,
  attempted: Attempted<Body>,
): WholeAnswer | Promise<WholeAnswer> {
  const parsed = parseAnswer(received)
  const { payload } = received
  if (parsed instanceof Promise) return parsed.then((answer) => finishParsed(answer, payload, attempted))
  return finishParsed(parsed, payload, attempted)
}

function finishParsed<Body extends StreamableRequest>(
  answer: ParsedAnswer,
  received: Buffer,
  attempted: Attempted<Body>,
): WholeAnswer | Promise<WholeAnswer> {
  const { candidate, operation, call, attempt } = attempted
  const payload = operation.form.finish(answer, contextOf(attempted))
  // The answer costs more than was held. Write it again once it is known how much of the price the account can cover. It is parsed
  // again, because its members were completed in place.
  if (call.bill.covering !== null)
    return call.bill.covering.then(() => finishAnswer({ kind: 'complete', payload: received }, attempted))
  attempt.work.release()
  candidate.breaker?.succeeded(call.request.caller.accountId)
  return { kind: 'complete', payload }
}

/**
 * Whether the delivered text is all of the output that is billed: the vendor stops when the stream is closed, and the model does
 * not reason.
 */
function isSeenWhole({ provider }: Candidate, { capabilities }: CatalogModel): boolean {
  return provider.onDisconnect === 'streams stop' && !capabilities.has('reasoning')
}

function contextOf<Body extends StreamableRequest>(attempted: Attempted<Body>): AnswerContext {
  const { candidate, operation, call, options, attempt } = attempted
  const { request, model, bill, startedMs } = call
  const { countTokens } = options
  const { body, record } = request
  return {
    provider: candidate.provider.id,
    model,
    requestedModel: body.model,
    requestId: request.requestId,
    ownMembers: operation.ownMembers?.(body),
    record,
    bill,
    startedMs,
    countPromptTokens: () =>
      candidate.provider.onDisconnect === 'stops'
        ? operation.countOwnTokens(model, body, countTokens)
        : operation.countHeldTokens(model, body, countTokens),
    boundPromptTokens: () => boundPromptTokens(operation, request, { model, countTokens }),
    countTokens,
    audioOf: () => operation.audioOf(body),
    asksForHourCache: () => asksForHourCache(request.text),
    boundOutputTokens: () => {
      if (attempt.work.sentAtMs === null || isSeenStream(candidate, call)) return 0
      return outputTokensOf(boundRequest(operation.estimate.bound(model, body, request.bytes), request))
    },
  }
}

/** Returns how many tokens the prompt can have at most at a vendor that bills it without a report. */
export function boundPromptTokens<Body extends StreamableRequest>(
  operation: Pick<Operation<Body>, 'countHeldTokens' | 'isMeasured' | 'estimate'>,
  { body, bytes }: { readonly body: Body; readonly bytes: number },
  { model, countTokens }: { readonly model: CatalogModel; readonly countTokens: (text: string) => number },
): number {
  const counted = operation.countHeldTokens(model, body, countTokens)
  if (operation.isMeasured(body)) return counted
  const { promptTokensMax } = operation.estimate.bound(model, body, bytes)
  return Math.max(counted, Math.min(promptTokensMax, estimateProfileOf(model).contextTokens))
}

/** A stream that shows all of its tokens. A complete answer shows none before its end. */
function isSeenStream<Body extends StreamableRequest>(candidate: Candidate, call: PaidCall<Body>): boolean {
  return call.request.body.stream === true && isSeenWhole(candidate, call.model)
}

/**
 * Returns how many tokens an upstream can write at most. How long it has worked says nothing: a vendor that bills work that was
 * left goes on with it.
 */
export function outputTokensOf({ outputTokensMax, choices }: WorstCase): number {
  return outputTokensMax * choices
}
