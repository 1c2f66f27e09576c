import type { Dispatcher } from 'undici'
import type { UpstreamError } from '../upstream-error.ts'
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
      /** As they arrive; the upstream is read no faster than this is. Stopping the iteration cancels the upstream. */
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | { readonly kind: 'refusal'; readonly status: number; readonly error: UpstreamError }

/** One POST whose answer is passed on while it comes. */
export async function openBytes(
  dispatcher: Dispatcher,
  { provider, path, headers, body, timeouts, cancellation, onSent }: WireRequest<string>,
): Promise<BytesResponse> {
  cancellation.throwIfCancelled()
  const toFailure = (error: unknown, hasAnswered: boolean): unknown =>
    cancellation.isCancelled
      ? cancellation.reason
      : describeTransportFailure(provider, asError(error), hasAnswered)
  // Its dispatcher does not tell when a connection is found.
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
  // Whoever reads is told by the read; an error while nobody does must not end the process.
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

/** A generator would not let go of an answer that nobody began to read; this does. */
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

// The start of an error page says enough; the rest, and whatever happens to it, does not matter.
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
    // What has come by then is read all the same.
  }
  return Buffer.concat(chunks)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
