import { toErrorAnswer } from './error-envelope.ts'
import { AppError } from '../kernel/app-error.ts'
import type { ResponseMessage } from './message.ts'
import type { Recording } from './replay-recording.ts'

const KEEP_ALIVE_MS = 15_000
/** A client that reads nothing for this long is taken for gone. */
const DRAIN_MS_MAX = 60_000

const FRAME_START = Buffer.from('data: ')
const FRAME_END = Buffer.from('\n\n')
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n')
const DONE = Buffer.from('data: [DONE]\n\n')

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
 * Writes batches of payloads as Server-Sent Events, at the pace of the client, and closes with `[DONE]`. A failure in
 * the middle is one error frame and no `[DONE]`. The headers must have been written.
 */
export async function sendEvents(
  response: ResponseMessage,
  batches: AsyncIterable<readonly Buffer[]>,
  options: {
    requestId: string
    onError: (error: unknown) => void
    /** Of a request with an idempotency key. */
    recording?: Recording | null
  },
): Promise<void> {
  const keepAlive = setTimeout(() => {
    if (!response.writableNeedDrain) response.write(KEEP_ALIVE)
    keepAlive.refresh()
  }, KEEP_ALIVE_MS)
  try {
    for await (const batch of batches) {
      if (response.destroyed) return
      if (!response.write(frame(batch))) await drained(response)
      keepAlive.refresh()
    }
    response.end(DONE)
  } catch (error) {
    if (response.destroyed) return
    options.onError(error)
    // All of it was given but for its end: whoever asks again is given that, and pays once.
    if (error instanceof AppError && error.mayBeDone) options.recording?.keepAsEndedWith(DONE)
    endWithError(response, error, options.requestId)
  } finally {
    clearTimeout(keepAlive)
  }
}

/** One error frame, and no `[DONE]` behind it. */
export function endWithError(response: ResponseMessage, error: unknown, requestId: string): void {
  response.end(frame([Buffer.from(JSON.stringify(toErrorAnswer(error, requestId).body))]))
}

/** Comments until there is something to say, so that nobody on the way takes the connection for dead. */
export function startKeepAlive(response: ResponseMessage): () => void {
  const interval = setInterval(() => response.write(KEEP_ALIVE), KEEP_ALIVE_MS)
  response.write(KEEP_ALIVE)
  return () => clearInterval(interval)
}

export const FIRST_KEEP_ALIVE_MS = KEEP_ALIVE_MS

function frame(batch: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = []
  for (const payload of batch) pieces.push(FRAME_START, payload, FRAME_END)
  return Buffer.concat(pieces)
}

/** Resolves when the client has caught up, or is gone. */
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
