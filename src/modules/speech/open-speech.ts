import { AppError } from '../../kernel/app-error.ts'
import type { SpeechOperation } from '../../providers/media/audio-operations.ts'
import type { SpeechWork } from '../../providers/media/media-work.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import {
  explainFailure,
  type Attempt,
  type Candidate,
  type Inference,
  type ContinuedWork,
  type PaidCall,
  type PricedCount,
} from '../inference/inference.ts'
import type { SpeechOrder } from './speech-order.ts'

export interface SpokenAudio {
  readonly contentType: string
  /** Chunks that are sent together. Throws `AppError` if the upstream fails in the middle. */
  readonly batches: AsyncIterable<readonly Uint8Array[]>
}

export interface SpeechPlan {
  /** Includes only the instructions that its upstreams support. */
  readonly work: SpeechWork
  readonly priced: PricedCount
  readonly continuedWork: ContinuedWork
}

type SpeechCall = PaidCall<SpeechOrder, SpeechPlan>

/** Makes one attempt at one upstream. Resolves with its first bytes. After that, no other upstream is tried. */
export async function openSpeech(
  candidate: Candidate,
  call: SpeechCall,
  inference: Pick<Inference, 'beginAttempt'>,
): Promise<SpokenAudio> {
  const { provider, upstreamModel, timeouts, breaker } = candidate
  const { request, bill } = call
  const { work, continuedWork, priced } = call.plan
  const { record, requestId } = request
  // Do not call the upstream for a client that has disconnected.
  request.body.cancellation.throwIfCancelled()
  const operation = requireSpeech(candidate)
  const attempt = await inference.beginAttempt(candidate, request)
  let upstream: AsyncIterator<Uint8Array> | null = null
  try {
    const { cancellation } = attempt.work
    continuedWork.noteAsked(provider)
    const onKey = attempt.noteKey
    const answer = await operation.speak({ work, upstreamModel, requestId, timeouts, cancellation, onKey })
    upstream = answer.chunks[Symbol.asyncIterator]()
    const first = await nextChunk(upstream)
    if (first === null) throw empty(provider.id)
    record.firstTokenMs = performance.now() - record.startedMs
    // The price is known before the audio, so it can be in the response headers.
    bill.charge(priced.priceNanoUsd, priced.counted)
    breaker?.opened(request.caller.accountId)
    attempt.answered()
    continuedWork.follow()
    const batches = relay({ upstream, first, call, candidate, attempt })
    return { contentType: answer.contentType, batches }
  } catch (error) {
    continuedWork.noteRefused()
    await upstream?.return?.()
    attempt.failed(error)
    throw error
  }
}

interface Relay {
  readonly upstream: AsyncIterator<Uint8Array>
  readonly first: Uint8Array
  readonly call: SpeechCall
  readonly candidate: Candidate
  readonly attempt: Attempt
}

/**
 * Streams the audio, but holds the last byte back until the charge is durable. A client that disconnects pays the full price,
 * because the upstream received the full text. Audio that is cut off is useless and costs nothing.
 */
async function* relay(stream: Relay): AsyncGenerator<readonly Uint8Array[], void> {
  const { upstream, call, candidate, attempt } = stream
  const { request, bill } = call
  const { record } = request
  // The cancellation of the client, not of the work that continues without it.
  const { cancellation } = request.body
  const { accountId } = request.caller
  try {
    let chunk: Uint8Array | null = stream.first
    let held: Uint8Array | null = null
    while (chunk !== null) {
      const end = chunk.length - 1
      const batch: Uint8Array[] = held === null ? [] : [held]
      if (end > 0) batch.push(chunk.subarray(0, end))
      held = chunk.subarray(end)
      if (batch.length > 0) yield batch
      chunk = await nextChunk(upstream)
    }
    record.outcome = 'completed'
    candidate.breaker?.succeeded(accountId)
    await bill.settle({ isDelivered: true })
    if (held !== null) yield [held]
  } catch (error) {
    const isGone = cancellation.isCancelled
    record.outcome = isGone ? 'disconnected' : 'failed'
    if (!isGone) {
      record.costNanoUsd = 0n
      bill.release()
    }
    if (!(error instanceof UpstreamError)) throw error
    candidate.breaker?.failed(accountId)
    throw explainFailure(error)
  } finally {
    if (record.outcome === 'running') record.outcome = 'disconnected'
    const settled = bill.settle({ isDelivered: true }).catch(() => {})
    await upstream.return?.()
    attempt.work.release()
    call.plan.continuedWork.release()
    await settled
  }
}

/** Returns the next chunk that is not empty. Null at the end. */
async function nextChunk(upstream: AsyncIterator<Uint8Array>): Promise<Uint8Array | null> {
  for (;;) {
    const next = await upstream.next()
    if (next.done === true) return null
    if (next.value.length > 0) return next.value
  }
}

function requireSpeech({ provider, upstreamModel }: Candidate): SpeechOperation {
  if (provider.speech) return provider.speech
  throw new AppError('unsupported_parameter', `'${upstreamModel}' cannot speak here.`, { param: 'model' })
}

function empty(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: its audio ended before it began`, {
    failure: 'invalid_answer',
    provider,
  })
}
