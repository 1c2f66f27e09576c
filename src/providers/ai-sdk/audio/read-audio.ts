import type { SpeechCall } from '../../media/audio-operations.ts'
import { toUpstreamError } from '../exchange/to-upstream-error.ts'
import type { UpstreamExchange } from '../exchange/upstream-exchange.ts'

interface AudioSource {
  readonly provider: string
  readonly exchange: UpstreamExchange
  readonly call: SpeechCall
  readonly body: ReadableStream<Uint8Array>
  readonly head: Uint8Array | null | undefined
}

/**
 * Returns the audio as it arrives. Not a generator: `return` must release the answer even if reading never began, which a
 * generator's does not.
 */
export function readAudio({ provider, exchange, call, body, head }: AudioSource): AsyncIterable<Uint8Array> {
  const toFailure = (error: unknown): unknown => {
    if (call.cancellation.isCancelled) return call.cancellation.reason
    return exchange.failure ?? toUpstreamError(provider, error, { wasRequestSent: true, nowMs: Date.now() })
  }
  return {
    [Symbol.asyncIterator]() {
      const reader = body.getReader()
      let pending = head
      return {
        async next() {
          if (pending) {
            const value = pending
            pending = null
            return { done: false, value }
          }
          try {
            const { done, value } = await reader.read()
            return done ? { done, value: undefined } : { done, value }
          } catch (error) {
            throw toFailure(error)
          }
        },
        async return() {
          exchange.cancel()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
