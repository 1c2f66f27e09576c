import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import type { EventBatch } from '../../../kernel/event-batch.ts'
import type { StreamAnswer } from '../../../providers/provider.ts'
import { UpstreamError, invalidAnswer } from '../../../providers/failures/upstream-error.ts'
import {
  settleAbandonedUsage,
  settleLeftUsage,
  settlePartialUsage,
  settleUsage,
  type AnswerContext,
} from './answer-context.ts'
import type { AnswerForm, StreamReader } from './answer-form.ts'
import { ChunkRun } from './chunk-run.ts'
import {
  AbandonedWork,
  explainFailure,
  type CircuitBreaker,
  type UpstreamWork,
} from '../../inference/inference.ts'

type Batch = EventBatch

const NO_CHUNKS: Batch = []

interface StreamOptions {
  readonly form: AnswerForm
  readonly isUsageAsked: boolean
  readonly cancellation: Cancellation
  readonly breaker: CircuitBreaker | null
  readonly accountId: string
  /** Released when the stream ends, for whatever reason. */
  readonly work: Pick<UpstreamWork, 'cancellation' | 'leave' | 'stopWhenLeft' | 'noteRead' | 'release'>
  /** Whether all that the upstream bills is visible in the stream, and the upstream stops when the stream is closed. */
  readonly isSeenWhole: boolean
  /** How many bytes are read after the client left. */
  readonly drainBytesMax: number
  readonly keepEnd?: ((last: Batch) => Promise<void>) | undefined
}

interface OpenedStream {
  readonly kind: 'stream'
  readonly batches: AsyncIterable<Batch>
}

/** Resolves when a valid first chunk has arrived. After that there is no fallback to another upstream. */
export async function openStream(
  answer: StreamAnswer,
  context: AnswerContext,
  options: StreamOptions,
): Promise<OpenedStream> {
  const upstream = answer.batches[Symbol.asyncIterator]()
  const stream = new RelayedStream({ answer, upstream, context, options })
  try {
    await stream.open()
  } catch (error) {
    await upstream.return?.()
    throw error
  }
  options.breaker?.opened(options.accountId)
  if (options.isSeenWhole) options.work.stopWhenLeft()
  return { kind: 'stream', batches: stream }
}

interface RelayOptions {
  readonly answer: StreamAnswer
  readonly upstream: AsyncIterator<Batch>
  readonly context: AnswerContext
  readonly options: StreamOptions
}

type Next = IteratorResult<Batch, undefined>

/** The metered and charged chunks of one stream. Not a generator, because a generator costs several promises per chunk. */
class RelayedStream implements AsyncIterableIterator<Batch, undefined> {
  readonly #answer: StreamAnswer
  readonly #upstream: AsyncIterator<Batch>
  readonly #context: AnswerContext
  readonly #options: StreamOptions
  readonly #reader: StreamReader
  /** The chunks that opened the stream, until they are read. */
  #head: Batch = NO_CHUNKS
  /** Bytes read after the client left. */
  #unreadBytes = 0
  /** An error after chunks that the client still receives and pays for. */
  #failure: { readonly error: unknown } | null = null
  /** No more chunks are read. */
  #isOver = false
  #isClosed = false
  /** Thrown after the last chunks of an answer whose charge is not confirmed. */
  #doubt: AppError | null = null

  constructor({ answer, upstream, context, options }: RelayOptions) {
    this.#answer = answer
    this.#upstream = upstream
    this.#context = context
    this.#options = options
    this.#reader = options.form.openStream(context, options)
  }

  /** Until there is a chunk for the client, another upstream can still take over. */
  async open(): Promise<void> {
    while (this.#head.length === 0) {
      const next = await this.#upstream.next()
      if (next.done === true) throw invalidAnswer(this.#context.provider, 'its stream ended before it began')
      this.#head = this.#normalise(next.value)
      this.#throwFailure()
    }
  }

  next(): Promise<Next> {
    if (this.#isOver) return this.#end()
    const head = this.#head
    // A client that left receives nothing more. The rest is read to learn its cost.
    if (head.length === 0 || this.#options.cancellation.isCancelled) return this.#readOn()
    this.#head = NO_CHUNKS
    return Promise.resolve({ done: false, value: head })
  }

  /** The consumer stopped reading. If the upstream bills to the end, the rest is read to learn its cost. */
  async return(): Promise<Next> {
    if (!this.#isOver) await this.#drain()
    await this.#close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #readOn(): Promise<Next> {
    if (this.#failure !== null) return this.#onFailure(this.#failure.error)
    return this.#upstream.next().then(this.#onNext, this.#onFailure)
  }

  readonly #onNext = (next: IteratorResult<Batch>): Next | Promise<Next> => {
    try {
      if (next.done === true) return this.#finish()
      const chunks = this.#take(next.value)
      if (chunks.length > 0 && !this.#options.cancellation.isCancelled) return { done: false, value: chunks }
    } catch (error) {
      return this.#onFailure(error)
    }
    return this.#readOn()
  }

  #take(batch: Batch): Batch {
    this.#options.work.noteRead()
    const chunks = this.#normalise(batch)
    if (this.#options.cancellation.isCancelled) {
      for (const payload of batch) this.#unreadBytes += payload.length
      if (this.#unreadBytes > this.#options.drainBytesMax)
        throw new AbandonedWork('too much came after the client left')
    }
    return chunks
  }

  #normalise(batch: Batch): Batch {
    const { record } = this.#context
    const chunks = this.#readAll(batch)
    if (record.firstTokenMs === null && !this.#reader.delivered.isEmpty) {
      record.firstTokenMs = performance.now() - record.startedMs
    }
    return chunks
  }

  #readAll(batch: Batch): Batch {
    const reader = this.#reader
    const run = batch.length > 1 && reader.readAll !== undefined ? new ChunkRun() : null
    const chunks: Buffer[] = []
    try {
      if (run !== null) reader.readAll?.(batch, run)
      else
        for (const payload of batch) {
          const chunk = reader.read(payload)
          if (chunk !== null) chunks.push(chunk)
        }
    } catch (error) {
      this.#failure = { error }
    }
    return run === null ? chunks : run.finish()
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  #requireEnd(): void {
    if (!this.#answer.isTerminated() && !this.#reader.hasFinished) throw cut(this.#context.provider)
  }

  /** Called when the upstream has ended its stream. Charges the answer and returns the last chunks. */
  async #finish(): Promise<Next> {
    const context = this.#context
    const reader = this.#reader
    const { cancellation, breaker, accountId, keepEnd } = this.#options
    const { record } = context
    let last: Batch
    try {
      this.#requireEnd()
      const usage = settleUsage(context, reader.reportedUsage, reader.delivered)
      record.finishReason = reader.finishReason ?? null
      record.outcome = cancellation.isCancelled ? 'disconnected' : 'completed'
      breaker?.succeeded(accountId)
      // The answer costs more than was held. How much more the account has decides the charge.
      if (context.bill.covering !== null) await context.bill.covering
      // The end of the stream is sent once the charge is durable.
      this.#doubt = await context.bill.settle({ isDelivered: true }).then(() => null, requireDoubt)
      last = reader.end(usage, record.costNanoUsd ?? 0n)
      if (this.#doubt === null && !cancellation.isCancelled) await keepEnd?.(last)
    } catch (error) {
      return this.#onFailure(error)
    }
    this.#isOver = true
    return last.length > 0 ? { done: false, value: last } : this.#end()
  }

  async #end(): Promise<Next> {
    await this.#close()
    const doubt = this.#doubt
    this.#doubt = null
    if (doubt !== null) throw doubt
    return { done: true, value: undefined }
  }

  readonly #onFailure = async (error: unknown): Promise<never> => {
    const context = this.#context
    const { cancellation, breaker, accountId } = this.#options
    context.record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
    const told = error instanceof UpstreamError ? explainFailure(error) : error
    if (told instanceof AppError) context.record.errorCode = told.code
    if (error instanceof AbandonedWork) this.#settleAbandoned()
    if (error instanceof UpstreamError) breaker?.failed(accountId)
    await this.#close()
    throw told
  }

  async #drain(): Promise<void> {
    const context = this.#context
    context.record.outcome = 'disconnected'
    this.#options.work.leave(new ClientDisconnected('nobody reads the stream'))
    try {
      for (;;) {
        const next = await this.#upstream.next()
        if (next.done === true) break
        this.#take(next.value)
        this.#throwFailure()
      }
      this.#requireEnd()
      settleUsage(context, this.#reader.reportedUsage, this.#reader.delivered)
    } catch (error) {
      if (error instanceof AbandonedWork) this.#settleAbandoned()
    }
  }

  #settleAbandoned(): void {
    const { reportedUsage, delivered, hasFinished } = this.#reader
    // Reports before the end of an answer do not count what the upstream has not shown yet.
    const settle = hasFinished && reportedUsage !== null ? settlePartialUsage : settleAbandonedUsage
    settle(this.#context, reportedUsage, delivered)
  }

  #settlePartial(): void {
    const { reportedUsage, delivered } = this.#reader
    // A vendor has read the prompt of a stream that was left before its first word, and bills it. A stream that failed is not billed.
    const isBilled = this.#options.isSeenWhole && this.#context.record.outcome === 'disconnected'
    const settle = isBilled ? settleLeftUsage : settlePartialUsage
    settle(this.#context, reportedUsage, delivered)
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return
    this.#isOver = true
    this.#isClosed = true
    const context = this.#context
    // What was delivered is metered, whatever ended the stream.
    if (context.record.usage === null) this.#settlePartial()
    const settled = context.bill.settle({ isDelivered: true }).catch(() => {})
    await this.#upstream.return?.()
    this.#options.work.release()
    await settled
  }
}

/** Returns the error if the charge is only unconfirmed: the answer itself is complete. Throws any other error. */
function requireDoubt(error: unknown): AppError {
  if (error instanceof AppError && error.mayBeDone) return error
  throw error
}

function cut(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the stream ended in the middle`, { failure: 'cut', provider })
}
