import type { Cancellation } from '../kernel/cancellation.ts'
import type { SpeechOperation, TranscriptionOperation } from './audio-operations.ts'
import type { ChatRequest } from '../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../wires/openai-completions/completion-request.ts'
import type { EmbeddingRequest } from '../wires/openai-embeddings/embedding-request.ts'
import type { InputFile, MediaOperation } from './media-operation.ts'
import type { BackgroundRemovalWork, ImageWork, MusicWork, UpscaleWork, VideoWork } from './media-work.ts'
import type { ModerationRequest } from '../wires/openai-moderations/moderation-request.ts'
import type { NativeRequest, NativeWire } from './native-wire.ts'
import type { RerankRequest } from '../wires/rerank/rerank-request.ts'
import type { UpstreamTimeouts } from './upstream-timeouts.ts'

export type { UpstreamTimeouts } from './upstream-timeouts.ts'

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
  /** Those of `BILLED_MEMBERS` that its requests may have, because they are priced or the operator allows them. */
  readonly takenMembers?: ReadonlySet<string>
  /** Charges nothing for media work that is cancelled after it was taken; absent where the vendor bills it. */
  readonly refundsCancelled?: true
  /** What happens to a request whose connection is closed before its end; it `goes on` unless told. */
  readonly whenLeft?: WhenLeft
  /** Its models have no other provider and come and go: there is nothing to break a circuit for. */
  readonly isSingle?: true
  readonly chat?: InferenceOperation
  /** Wires besides the chat form that the upstream speaks itself: requests and answers pass as they are. */
  readonly native?: Readonly<Partial<Record<NativeWire, InferenceOperation<NativeRequest>>>>
  /** Answers `{input_tokens}` to a request of Anthropic's wire, and bills nothing. */
  readonly countMessageTokens?: InferenceOperation<NativeRequest>
  /** Legacy text completion, where the upstream has it. The chat operation serves the route otherwise. */
  readonly completion?: InferenceOperation<CompletionRequest>
  /** Answers OpenAI's `list` of embeddings, in the encoding that was asked for. */
  readonly embedding?: InferenceOperation<EmbeddingRequest>
  /** Answers `{results: [{index, relevance_score}], meta: {billed_units: {search_units}}}`, in any order. */
  readonly rerank?: InferenceOperation<RerankRequest>
  /** Answers OpenAI's moderation. */
  readonly moderation?: InferenceOperation<ModerationRequest>
  /** New images, and edits where the work has images. */
  readonly image?: MediaOperation<ImageWork<InputFile>>
  readonly upscale?: MediaOperation<UpscaleWork<InputFile>>
  readonly backgroundRemoval?: MediaOperation<BackgroundRemovalWork<InputFile>>
  readonly video?: MediaOperation<VideoWork<InputFile>>
  readonly music?: MediaOperation<MusicWork>
  readonly speech?: SpeechOperation
  readonly transcription?: TranscriptionOperation
}

/**
 * `stops`: a server of the operator's own, which stops and bills nobody. `streams stop`: a vendor that stops working and billing when a
 * stream is closed, and goes on with whole answers. `goes on`: a vendor that works, and bills, to the end.
 */
export type WhenLeft = 'stops' | 'streams stop' | 'goes on'

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
  /** Called when the upstream can have begun to read the request. */
  readonly onSent?: (() => void) | undefined
  /** Headers of the client that belong to its wire, as names and values in turn. For upstreams that speak it. */
  readonly headers?: readonly string[] | undefined
  /** How many seconds the client waits for a model that has to be woken, as it says. */
  readonly wakeTimeout?: (() => string | undefined) | undefined
  /** Requests with the same one belong to the same credential, whose account has their prompt in its cache. */
  readonly affinity?: (() => number | null) | undefined
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
