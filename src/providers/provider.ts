import type { Cancellation } from '../kernel/cancellation.ts'
import type { ChatRequest } from './chat-wire.ts'
import type { CompletionRequest } from './completion-wire.ts'

/**
 * The contract between the gateway and an upstream family. A provider speaks the OpenAI wire towards us, whatever it
 * speaks towards its vendor: payloads are JSON bytes in the shape of `chat.completion` and `chat.completion.chunk`.
 * Bytes rather than objects, because most upstreams already speak that wire and their bytes are forwarded as they come.
 */
export interface Provider {
  readonly id: string
  /** False when the operator has given no credential or address; such routes are never tried. */
  readonly isConfigured: boolean
  /** How many requests a server of the operator's own works on at once, unless the operator says; absent elsewhere. */
  readonly localSlots?: number
  readonly chat?: InferenceOperation
  /** Legacy text completion, where the upstream has it. The chat operation serves the route otherwise. */
  readonly completion?: InferenceOperation<CompletionRequest>
}

/** Throws an `UpstreamError` and nothing else; a cancelled call rejects with the reason of its cancellation. */
export type InferenceOperation<Body = ChatRequest> = (call: InferenceCall<Body>) => Promise<InferenceAnswer>

export interface InferenceCall<Body = ChatRequest> {
  /** The request as validated. `body.model` is the public id; the upstream is asked for `upstreamModel`. */
  readonly body: Body
  /** The JSON text `body` was parsed from. What needs no change is sent as it came. */
  readonly text: string
  readonly upstreamModel: string
  /** Whether the catalog says this model can reason: `think` is ignored where it cannot. */
  readonly canReason: boolean
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

export interface UpstreamTimeouts {
  readonly connectMs: number
  /** From the request being sent to the first byte of the answer's body. */
  readonly firstByteMs: number
  /** Between two reads of the answer. */
  readonly idleMs: number
}

export type InferenceAnswer = CompleteAnswer | StreamAnswer

export interface CompleteAnswer {
  readonly kind: 'complete'
  /** One JSON object. */
  readonly payload: Buffer
}

export interface StreamAnswer {
  readonly kind: 'stream'
  /**
   * Batches of JSON payloads, one an event, without the `data:` framing and without `[DONE]`. A batch holds what
   * arrived together, so that it can leave together. Stopping the iteration cancels the upstream.
   */
  readonly batches: AsyncIterable<readonly Buffer[]>
  /** True once the upstream said that it was done; an end without it may be a cut connection. */
  isTerminated(): boolean
}
