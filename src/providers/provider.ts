import type { BatchApi } from './batch/batch-api.ts'
import type { HandOver } from './batch/hand-over.ts'
import type { Cancellation } from '../kernel/cancellation.ts'
import type { SpeechOperation, TranscriptionOperation } from './media/audio-operations.ts'
import type { ChatRequest } from '../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../wires/openai-completions/completion-request.ts'
import type { EmbeddingRequest } from '../wires/openai-embeddings/embedding-request.ts'
import type { InputFile, MediaOperation } from './media/media-operation.ts'
import type {
  BackgroundRemovalWork,
  ImageWork,
  MusicWork,
  UpscaleWork,
  VideoWork,
} from './media/media-work.ts'
import type { ModerationRequest } from '../wires/openai-moderations/moderation-request.ts'
import type { NativeRequest, NativeWire } from './native-wire.ts'
import type { RerankRequest } from '../wires/rerank/rerank-request.ts'
import type { KeyUse } from './connection/key-limits.ts'
import type { UpstreamTimeouts } from './connection/upstream-timeouts.ts'

export type { UpstreamTimeouts } from './connection/upstream-timeouts.ts'

/**
 * The contract between the gateway and a kind of upstream. A provider exposes the OpenAI wire to the gateway, whatever wire its
 * vendor uses: payloads are JSON bytes in the shape of `chat.completion` and `chat.completion.chunk`. They are bytes rather than
 * objects because most upstreams already speak that wire and their bytes are forwarded unchanged.
 */
export interface Provider {
  readonly id: string
  /** False if the operator configured neither a credential nor an address. Routes to such a provider are never tried. */
  readonly isConfigured: boolean
  /** The host of its address, with a port if it is not the usual one. Absent if only its adapter knows it. */
  readonly address?: string
  /** The time limits that the operator gave it. Those of a route come first. */
  readonly timeouts?: Partial<UpstreamTimeouts>
  /**
   * Default number of concurrent requests of a self-hosted server, unless the operator configures it. Absent for other providers.
   */
  readonly localSlots?: number
  /** Members of `BILLED_MEMBERS` that its requests may have, because they are priced or the operator allows them. */
  readonly takenMembers?: ReadonlySet<string>
  /** The vendor does not charge for media work that is cancelled after it was accepted. Absent if the vendor bills it. */
  readonly refundsCancelled?: true
  /** What the upstream does when the connection of a request is closed early. The default is `continues`. */
  readonly onDisconnect?: OnDisconnect
  /** A server in the operator's network. It gets no addresses to fetch, and no members that only engines know. */
  readonly isOwnServer?: true
  /** Its models have no other provider and are not permanent, so its routes have no circuit breaker. */
  readonly isSingle?: true
  readonly chat?: InferenceOperation
  /** Wires besides the chat form that the upstream speaks natively. Requests and answers are forwarded in that wire. */
  readonly native?: Readonly<Partial<Record<NativeWire, InferenceOperation<NativeRequest>>>>
  /** Whether it serves a model in its `native` wires. Absent if it serves all of them. */
  readonly isNative?: (upstreamModel: string) => boolean
  /** Gets the billing line of Claude Code, which defeats the prompt caches of all others. */
  readonly readsBillingLine?: true
  /** Answers `{input_tokens}` to a request in Anthropic's wire, free of charge. */
  readonly countMessageTokens?: InferenceOperation<NativeRequest>
  /** Legacy text completion, if the upstream has it. Otherwise the chat operation serves the route. */
  readonly completion?: InferenceOperation<CompletionRequest>
  /** Answers OpenAI's `list` of embeddings in the requested encoding. */
  readonly embedding?: InferenceOperation<EmbeddingRequest>
  /** Answers `{results: [{index, relevance_score}], meta: {billed_units: {search_units}}}`, in any order. */
  readonly rerank?: InferenceOperation<RerankRequest>
  /** Answers in the form of OpenAI's moderation. */
  readonly moderation?: InferenceOperation<ModerationRequest>
  /** Creates images, or edits them if the work contains images. */
  readonly image?: MediaOperation<ImageWork<InputFile>>
  readonly upscale?: MediaOperation<UpscaleWork<InputFile>>
  readonly backgroundRemoval?: MediaOperation<BackgroundRemovalWork<InputFile>>
  readonly video?: MediaOperation<VideoWork<InputFile>>
  readonly music?: MediaOperation<MusicWork>
  readonly speech?: SpeechOperation
  readonly transcription?: TranscriptionOperation
  /** Takes requests in batches, at a price of its own. Absent if the vendor has no such API. */
  readonly batch?: BatchApi
}

/**
 * `stops`: a self-hosted server, which stops working and bills nothing. `streams stop`: a vendor that stops working and billing
 * when a stream is closed, but completes answers that are not streamed. `continues`: a vendor that completes and bills every
 * answer.
 */
export type OnDisconnect = 'stops' | 'streams stop' | 'continues'

/** Throws only `UpstreamError`. A cancelled call rejects with the reason of its cancellation. */
export type InferenceOperation<Body = ChatRequest> = (call: InferenceCall<Body>) => Promise<InferenceAnswer>

export interface InferenceCall<Body = ChatRequest> {
  /** The validated request. `body.model` is the public id; the upstream receives `upstreamModel`. */
  readonly body: Body
  /** The JSON text from which `body` was parsed. Parts that need no change are forwarded as this text. */
  readonly text: string
  readonly upstreamModel: string
  /** Whether the model can reason according to the catalog. If not, `think` is ignored. */
  readonly canReason: boolean
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Hands the request over instead of sending it. */
  readonly handOver?: HandOver | undefined
  /** Called as soon as the upstream may have started to read the request. */
  readonly onSent?: (() => void) | undefined
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
  /** Calls a listener when the work is over: the answer was read to its end, or nobody reads it any more. Once or more often. */
  readonly onEnd?: ((listener: () => void) => void) | undefined
  /** The W3C header of the trace, for upstreams that are told of it. */
  readonly traceparent?: string | undefined
  /** The client's headers that belong to its wire, as alternating names and values. For upstreams that speak that wire. */
  readonly headers?: readonly string[] | undefined
  /** The client's `x-wake-timeout` header: the seconds it waits for a stopped model to start. */
  readonly wakeTimeout?: (() => string | undefined) | undefined
  /** The key of the client. Where requests wait for a slot, keys take turns. */
  readonly keyId?: string | undefined
  /** Set for work that nobody waits for. It is called when somebody needs its slot, and cancels it. */
  readonly giveWay?: (() => void) | undefined
  /** Requests with the same affinity use the same credential, because that account has their prompt in its cache. */
  readonly affinity?: (() => number | null) | undefined
}

export type InferenceAnswer = CompleteAnswer | StreamAnswer

export interface CompleteAnswer {
  readonly kind: 'complete'
  /** One JSON object. */
  readonly payload: Buffer
  /** The same object, if it was not parsed from the payload but written into it. */
  readonly value?: object
}

export interface StreamAnswer {
  readonly kind: 'stream'
  /**
   * Batches of JSON payloads, one for each event, without the `data:` framing and without `[DONE]`. A batch holds the events that
   * arrived together, so that they can be sent together. Ending the iteration early cancels the upstream request.
   */
  readonly batches: AsyncIterable<readonly Buffer[]>
  /** True once the upstream signalled the end of the stream. Without that signal, the connection may have been cut. */
  isTerminated(): boolean
}
