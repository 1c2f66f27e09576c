import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import type { StreamAnswer } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import {
  settleAbandonedUsage,
  settlePartialUsage,
  settleUsage,
  type AnswerContext,
} from './answer-context.ts'
import type { AnswerForm, StreamReader } from './answer-form.ts'
import { invalidAnswer } from './answer-payload.ts'
import {
  AbandonedWork,
  explainFailure,
  type CircuitBreaker,
  type UpstreamWork,
} from '../inference/inference.ts'

type Batch = readonly Buffer[]

interface StreamOptions {
  readonly form: AnswerForm
  readonly isUsageAsked: boolean
  readonly cancellation: Cancellation
  readonly breaker: CircuitBreaker | null
  readonly accountId: string
  /** Released when an opened stream is over, however it ended. */
  readonly work: Pick<UpstreamWork, 'cancellation' | 'leave' | 'stopWhenLeft' | 'release'>
  /** Everything the upstream bills can be seen as it comes, and it stops when it is left. */
  readonly isSeenWhole: boolean
  /** How much is read after the client left. */
  readonly drainBytesMax: number
  readonly keepEnd?: ((last: Batch) => Promise<void>) | undefined
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
  const reader = options.form.openStream(context, options)
  const normalise = (batch: Batch): Buffer[] => {
    const chunks: Buffer[] = []
    for (const payload of batch) {
      const chunk = reader.read(payload)
      if (chunk !== null) chunks.push(chunk)
    }
    if (context.record.firstTokenMs === null && !reader.delivered.isEmpty) {
      context.record.firstTokenMs = performance.now() - context.record.startedMs
    }
    return chunks
  }
  try {
    let head: Buffer[] = []
    // Until there is something for the client, another upstream can still take over.
    while (head.length === 0) {
      const next = await upstream.next()
      if (next.done === true) throw invalidAnswer(context.provider, 'its stream ended before it began')
      head = normalise(next.value)
    }
    options.breaker?.opened(options.accountId)
    if (options.isSeenWhole) options.work.stopWhenLeft()
    return {
      kind: 'stream',
      batches: relay({ answer, upstream, head, normalise, reader, context, options, unreadBytes: 0 }),
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
  readonly reader: StreamReader
  /** Bytes that were read after the client left. */
  unreadBytes: number
  readonly context: AnswerContext
  readonly options: StreamOptions
}

async function* relay(stream: Relay): AsyncGenerator<Batch, void> {
  const { upstream, reader, context, options } = stream
  const { record } = context
  const { cancellation } = options
  try {
    let chunks: Buffer[] | null = stream.head
    while (chunks !== null) {
      // Whoever left is given nothing more; the rest is read to learn what it costs.
      if (chunks.length > 0 && !cancellation.isCancelled) yield chunks
      chunks = await readOn(stream)
    }
    const usage = settleUsage(context, reader.reportedUsage, reader.delivered)
    record.outcome = cancellation.isCancelled ? 'disconnected' : 'completed'
    options.breaker?.succeeded(options.accountId)
    // More was used than was held: what else there is decides what it costs.
    if (context.bill.covering !== null) await context.bill.covering
    // The end of the stream leaves when its charge is durable.
    const doubt = await context.bill.settle({ isDelivered: true }).then(() => null, requireDoubt)
    const last = reader.end(usage, record.costNanoUsd ?? 0n)
    if (doubt === null && !cancellation.isCancelled) await options.keepEnd?.(last)
    if (last.length > 0) yield last
    if (doubt !== null) throw doubt
  } catch (error) {
    record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
    if (error instanceof AbandonedWork) settleAbandonedUsage(context, reader.reportedUsage, reader.delivered)
    if (!(error instanceof UpstreamError)) throw error
    options.breaker?.failed(options.accountId)
    throw explainFailure(error)
  } finally {
    if (record.outcome === 'running') await leaveStream(stream)
    // What was delivered is metered however the stream ended.
    if (record.usage === null) settlePartialUsage(context, reader.reportedUsage, reader.delivered)
    const settled = context.bill.settle({ isDelivered: true }).catch(() => {})
    await upstream.return?.()
    options.work.release()
    await settled
  }
}

/** An answer whose charge is only not confirmed is complete but for that word. */
function requireDoubt(error: unknown): AppError {
  if (error instanceof AppError && error.mayBeDone) return error
  throw error
}

/** The next chunks for the client; null at the end of the stream. */
async function readOn(stream: Relay): Promise<Buffer[] | null> {
  const { answer, upstream, normalise, reader, context, options } = stream
  const next = await upstream.next()
  if (next.done === true) {
    if (!answer.isTerminated() && !reader.hasFinished) throw cut(context.provider)
    return null
  }
  const chunks = normalise(next.value)
  if (!options.cancellation.isCancelled) return chunks
  stream.unreadBytes += sizeOf(next.value)
  if (stream.unreadBytes > options.drainBytesMax)
    throw new AbandonedWork('too much came after the client left')
  return chunks
}

/** Nobody reads on. Where the upstream bills to its end, that is read to learn what it costs. */
async function leaveStream(stream: Relay): Promise<void> {
  const { context, reader, options } = stream
  context.record.outcome = 'disconnected'
  options.work.leave(new ClientDisconnected('nobody reads the stream'))
  try {
    while ((await readOn(stream)) !== null);
    settleUsage(context, reader.reportedUsage, reader.delivered)
  } catch (error) {
    if (error instanceof AbandonedWork) settleAbandonedUsage(context, reader.reportedUsage, reader.delivered)
  }
}

function sizeOf(batch: Batch): number {
  let bytes = 0
  for (const payload of batch) bytes += payload.length
  return bytes
}

function cut(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the stream ended in the middle`, { failure: 'cut', provider })
}
