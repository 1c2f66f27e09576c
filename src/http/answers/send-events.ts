import { AppError } from '../../kernel/app-error.ts'
import type { EventBatch } from '../../kernel/event-batch.ts'
import { openAiWire } from '../../wires/openai-chat/openai-wire.ts'
import type { StreamWriter, Wire } from '../../wires/wire.ts'
import { toErrorAnswer, toWireError } from './error-envelope.ts'
import type { Exchange } from '../exchange.ts'
import type { ResponseMessage } from '../message.ts'
import type { Recording } from './replay-recording.ts'

const KEEP_ALIVE_MS = 15_000
const QUIET_TURNS = 3
/** A client that reads nothing for this long counts as disconnected. */
const DRAIN_MS_MAX = 60_000

/** Alternating names and values. */
export const EVENT_STREAM_HEADERS: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
]

/**
 * Writes batches of payloads as Server-Sent Events at the client's pace, and ends with the wire's end marker. A failure in the
 * middle is written as one error frame without that marker. The headers must have been written.
 */
export async function sendEvents(
  response: ResponseMessage,
  batches: AsyncIterable<EventBatch>,
  options: {
    requestId: string
    onError: (error: unknown) => void
    /** The recording of a request with an idempotency key. */
    recording?: Recording | null
    wire?: Wire
    /** Of work that goes on if its caller is refused in the middle. The client is then told at once. */
    exchange?: Pick<Exchange, 'isRefused' | 'tellRefused'>
  },
): Promise<void> {
  const { wire = openAiWire, exchange } = options
  const writer = wire.openStream()
  const isOver = (): boolean => response.destroyed || exchange?.isRefused === true
  const tellRefused = (reason: Error) => {
    options.onError(reason)
    if (!response.destroyed) endWithError(response, reason, options.requestId, writer)
  }
  if (exchange !== undefined && !exchange.isRefused) exchange.tellRefused = tellRefused
  // Counting quiet intervals is cheaper than a new timer for each batch.
  let quietTurns = 0
  const keepAlive = setInterval(() => {
    quietTurns += 1
    if (quietTurns < QUIET_TURNS) return
    quietTurns = 0
    if (!response.writableNeedDrain && !isOver()) response.write(wire.keepAlive)
  }, KEEP_ALIVE_MS / QUIET_TURNS)
  try {
    for await (const batch of batches) {
      if (isOver()) return
      const frames = writer.write(batch)
      if (frames.length > 0 && !response.write(frames)) await drained(response)
      quietTurns = 0
    }
    if (!isOver()) response.end(writer.end())
  } catch (error) {
    if (isOver()) return
    options.onError(error)
    // Everything except the end marker was sent. Store the complete answer, so that a retry gets it and is not charged again.
    if (error instanceof AppError && error.mayBeDone) options.recording?.keepAsEndedWith(writer.end())
    endWithError(response, error, options.requestId, writer)
  } finally {
    clearInterval(keepAlive)
  }
}

/** Ends the response with one error frame. */
export function endWithError(
  response: ResponseMessage,
  error: unknown,
  requestId: string,
  writer: Pick<StreamWriter, 'fail'> = openAiWire.openStream(),
): void {
  response.end(writer.fail(toWireError(toErrorAnswer(error, requestId))))
}

/** Sends keep-alives until there is data, so that no proxy closes the connection. */
export function startKeepAlive(
  response: ResponseMessage,
  { keepAlive }: Pick<Wire, 'keepAlive'> = openAiWire,
): () => void {
  const interval = setInterval(() => response.write(keepAlive), KEEP_ALIVE_MS)
  response.write(keepAlive)
  return () => clearInterval(interval)
}

export const FIRST_KEEP_ALIVE_MS = KEEP_ALIVE_MS

/** Resolves when the client has read the buffer or disconnected. */
export function drained(response: ResponseMessage): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      response.off('drain', finish).off('close', finish)
      resolve()
    }
    const timer = setTimeout(() => response.destroy(), DRAIN_MS_MAX)
    response.on('drain', finish).on('close', finish)
  })
}
