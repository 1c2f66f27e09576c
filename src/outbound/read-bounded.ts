import { OutboundFailed } from './outbound-error.ts'

interface BoundedBody {
  readonly body: AsyncIterable<Uint8Array>
  readonly contentLength: number | null
  readonly bytesMax: number
  readonly signal: AbortSignal
  /** Called at the end, whether it succeeded or failed. */
  readonly end: () => void
  readonly discard: () => void
}

/** Yields the body up to its limit. Throws before reading if its content-length exceeds the limit. */
export async function* readBounded(options: BoundedBody): AsyncGenerator<Uint8Array, void> {
  const { body, contentLength, bytesMax, signal, end, discard } = options
  let bytes = 0
  try {
    if (contentLength !== null && contentLength > bytesMax) throw tooLarge(bytesMax)
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      yield chunk
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof OutboundFailed) throw error
    throw new OutboundFailed('unreachable', 'The answer of the address broke off.', { cause: error })
  } finally {
    end()
    discard()
  }
}

function tooLarge(bytesMax: number): OutboundFailed {
  return new OutboundFailed('too_large', `The answer of the address is larger than ${bytesMax} bytes.`)
}
