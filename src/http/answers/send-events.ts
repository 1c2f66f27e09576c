import { AppError } from '../../kernel/app-error.ts'
import { openAiWire } from '../../wires/openai-chat/openai-wire.ts'
import type { StreamWriter, Wire } from '../../wires/wire.ts'
import { toErrorAnswer, toWireError } from './error-envelope.ts'
import type { ResponseMessage } from '../message.ts'
import type { Recording } from './replay-recording.ts'

const KEEP_ALIVE_MS = 15_000
const QUIET_TURNS = 3
/** A client that reads nothing for this long counts as disconnected. */
const DRAIN_MS_MAX = 60_000

/** Names and values in turn. */
export const EVENT_STREAM_HEADERS: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
]

/**
 * Writes batches of payloads as Server-Sent Events, at the pace of the client, and closes with the end that the wire has. A
 * failure in the middle is one error frame and no such end. The headers must have been written.
 */
export async function sendEvents(
  response: ResponseMessage,
  batches: AsyncIterable<readonly Buffer[]>,
  options: {
    requestId: string
    onError: (error: unknown) => void
    /** Of a request with an idempotency key. */
    recording?: Recording | null
    wire?: Wire
  },
): Promise<void> {
  const { wire = openAiWire } = options
  const writer = wire.openStream()
  // Counting quiet turns costs less than setting a timer anew for each batch.
  let quietTurns = 0
  const keepAlive = setInterval(() => {
    quietTurns += 1
    if (quietTurns < QUIET_TURNS) return
    quietTurns = 0
    if (!response.writableNeedDrain) response.write(wire.keepAlive)
  }, KEEP_ALIVE_MS / QUIET_TURNS)
  try {
    for await (const batch of batches) {
      if (response.destroyed) return
      const frames = writer.write(batch)
      if (frames.length > 0 && !response.write(frames)) await drained(response)
      quietTurns = 0
    }
    response.end(writer.end())
  } catch (error) {
    if (response.destroyed) return
    options.onError(error)
    // Everything but the end was sent: store the complete answer, so that a retry gets it and pays once.
    if (error instanceof AppError && error.mayBeDone) options.recording?.keepAsEndedWith(writer.end())
    endWithError(response, error, options.requestId, writer)
  } finally {
    clearInterval(keepAlive)
  }
}

/** One error frame, and nothing behind it. */
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
