import type { Dispatcher } from 'undici'
import type { UpstreamError } from '../failures/upstream-error.ts'
import type { WireRequest } from './post-to-upstream.ts'
import type { AnswerHeaders } from './upstream-http1/post-dispatcher.ts'
import { readUpstreamError } from './read-upstream-error.ts'
import { describeTransportFailure } from './transport-failure.ts'

const ERROR_BYTES_MAX = 64 * 1024

export type BytesResponse =
  | {
      readonly kind: 'bytes'
      readonly status: number
      readonly headers: AnswerHeaders
      /** Chunks in the order of arrival, with backpressure. Ending the iteration early cancels the upstream request. */
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | { readonly kind: 'refusal'; readonly status: number; readonly error: UpstreamError }

/** Sends a POST and streams its answer. */
export async function openBytes(
  dispatcher: Dispatcher,
  { provider, path, headers, body, timeouts, cancellation, onSent }: WireRequest<string>,
): Promise<BytesResponse> {
  cancellation.throwIfCancelled()
  const toFailure = (error: unknown, hasAnswered: boolean): unknown =>
    cancellation.isCancelled
      ? cancellation.reason
      : describeTransportFailure(provider, asError(error), hasAnswered)
  // This dispatcher does not report when the request gets a connection.
  onSent?.()
  let answer: Dispatcher.ResponseData
  try {
    answer = await dispatcher.request({
      path,
      method: 'POST',
      headers,
      body,
      headersTimeout: timeouts.firstByteMs,
      bodyTimeout: timeouts.idleMs,
      signal: cancellation.signal,
    })
  } catch (error) {
    throw toFailure(error, false)
  }
  const { statusCode: status, headers: answerHeaders, body: bytes } = answer
  // Readers get the error from their read. Without a listener, an error between reads would end the process.
  bytes.on('error', () => {})
  if (status >= 200 && status < 300) {
    return {
      kind: 'bytes',
      status,
      headers: answerHeaders,
      chunks: readChunks(bytes, (error) => toFailure(error, true)),
    }
  }
  const page = await readErrorPage(bytes)
  return {
    kind: 'refusal',
    status,
    error: readUpstreamError({ provider, status, headers: answerHeaders, body: page }),
  }
}

/** Not a generator: `return` must release the answer even if reading never began, which a generator's does not. */
function readChunks(
  bytes: Dispatcher.ResponseData['body'],
  toFailure: (error: unknown) => unknown,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks: AsyncIterator<Uint8Array> = bytes[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            return await chunks.next()
          } catch (error) {
            throw toFailure(error)
          }
        },
        async return() {
          bytes.destroy()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

// Only the start of an error page is read. Errors in the rest are ignored.
async function readErrorPage(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of bytes) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= ERROR_BYTES_MAX) break
    }
  } catch {
    // Use what has arrived so far.
  }
  return Buffer.concat(chunks)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
