import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { StreamAnswer } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import { settlePartialUsage, settleUsage, type AnswerContext } from './answer-context.ts'
import { garbage } from './answer-payload.ts'
import { ChunkNormaliser } from './chunk-normaliser.ts'
import { explainFailure, formatUsage, type CircuitBreaker } from '../inference/inference.ts'

export type Batch = readonly Buffer[]

interface StreamOptions {
  readonly isUsageAsked: boolean
  readonly clock: Clock
  readonly cancellation: Cancellation
  readonly breaker: CircuitBreaker | null
  readonly accountId: string
  /** Called when an opened stream is over, however it ended. */
  readonly onEnd: () => void
}

interface OpenedStream {
  readonly kind: 'stream'
  readonly batches: AsyncGenerator<Batch, void>
}

/** Resolves when the first chunk has arrived and is sound: from there on there is no falling back to another upstream. */
export async function openStream(
  answer: StreamAnswer,
  context: AnswerContext,
  options: StreamOptions,
): Promise<OpenedStream> {
  const upstream = answer.batches[Symbol.asyncIterator]()
  const normaliser = new ChunkNormaliser(context, options)
  const normalise = (batch: Batch): Buffer[] => {
    const chunks: Buffer[] = []
    for (const payload of batch) {
      const chunk = normaliser.normalise(payload)
      if (chunk !== null) chunks.push(chunk)
    }
    if (context.record.firstTokenMs === null && !normaliser.delivered.isEmpty) {
      context.record.firstTokenMs = options.clock.nowMs() - context.startedMs
    }
    return chunks
  }
  try {
    let head: Buffer[] = []
    // Until there is something for the client, another upstream can still take over.
    while (head.length === 0) {
      const next = await upstream.next()
      if (next.done === true) throw garbage(context.provider, 'its stream ended before it began')
      head = normalise(next.value)
    }
    options.breaker?.opened(options.accountId)
    return {
      kind: 'stream',
      batches: relay({ answer, upstream, head, normalise, normaliser, context, options }),
    }
  } catch (error) {
    await upstream.return?.()
    throw error
  }
}

interface Relay {
  readonly answer: StreamAnswer
  readonly upstream: AsyncIterator<Batch>
  readonly head: Buffer[]
  readonly normalise: (batch: Batch) => Buffer[]
  readonly normaliser: ChunkNormaliser
  readonly context: AnswerContext
  readonly options: StreamOptions
}

async function* relay(stream: Relay): AsyncGenerator<Batch, void> {
  const { upstream, normaliser, context, options } = stream
  const { record, provider } = context
  try {
    yield stream.head
    for (;;) {
      const next = await upstream.next()
      if (next.done === true) break
      const chunks = stream.normalise(next.value)
      if (chunks.length > 0) yield chunks
    }
    if (!stream.answer.isTerminated() && !normaliser.hasFinished) throw cut(provider)
    const usage = settleUsage(context, normaliser.reportedUsage, normaliser.delivered)
    record.outcome = 'completed'
    options.breaker?.succeeded(options.accountId)
    // The end of the stream leaves when its charge is durable.
    const doubt = await context.bill.settle({ isDelivered: true }).then(() => null, requireDoubt)
    if (options.isUsageAsked) {
      yield [normaliser.usageChunk(formatUsage(usage, record.costNanoUsd ?? 0n, normaliser.usageMembers))]
    }
    if (doubt !== null) throw doubt
  } catch (error) {
    record.outcome = options.cancellation.isCancelled ? 'disconnected' : 'failed'
    if (!(error instanceof UpstreamError)) throw error
    options.breaker?.failed(options.accountId)
    throw explainFailure(error)
  } finally {
    if (record.outcome === 'running') record.outcome = 'disconnected'
    // What was delivered is metered however the stream ended.
    if (record.usage === null) settlePartialUsage(context, normaliser.reportedUsage, normaliser.delivered)
    const settled = context.bill.settle({ isDelivered: true }).catch(() => {})
    await upstream.return?.()
    options.onEnd()
    await settled
  }
}

/** An answer whose charge is only not confirmed is complete but for that word. */
function requireDoubt(error: unknown): AppError {
  if (error instanceof AppError && error.mayBeDone) return error
  throw error
}

function cut(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the stream ended in the middle`, { failure: 'cut', provider })
}
