import type { Logger } from '../kernel/logger.ts'
import type { TokenCounts } from './token-counts.ts'

/** Traces of what the gateway asks of models, in the words of OpenTelemetry's GenAI conventions. */
export interface Tracer {
  startInference(start: InferenceStart): InferenceSpan
  /** Sends what is queued, waits for it a bounded time, and stops. Never rejects. */
  shutdown(): Promise<void>
}

export interface InferenceStart {
  /** The conventions name the first four; the others are words of our own, which they allow. */
  readonly operation:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'generate_content'
    | 'rerank'
    | 'moderation'
    | 'transcription'
  /** What it was by our own names, where several are one to the conventions. */
  readonly work?: string
  /** The model as the client named it, or the catalog's id of it. */
  readonly model: string
  readonly requestId?: string
  readonly accountId?: string
  readonly isStream?: boolean
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly choiceCount?: number
  readonly seed?: number
  /** Since the Unix epoch; now unless told. */
  readonly startedAtMs?: number
  /** The client's W3C header; the span joins its trace. */
  readonly traceparent?: string
}

/** One logical operation, with all its retries and fallbacks. */
export interface InferenceSpan {
  /** The upstream that answered, as the conventions name it. */
  setProvider(upstream: { provider: string }): void
  /** The catalog's id of the model that answered. */
  setResponse(response: { model: string }): void
  setFirstToken(firstTokenMs: number): void
  setUsage(usage: TokenCounts): void
  /** Ends the span; later calls change nothing. */
  finish(end: { status: number; error?: { type: string; message?: string }; attempts?: number }): void
}

export interface TracingOptions {
  /** The collector's base address, as in `OTEL_EXPORTER_OTLP_ENDPOINT`; no tracing without it. */
  readonly endpoint: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** The part of the traces begun here that is kept; a client's own decision is followed. */
  readonly sampleRatio?: number
  /** How long a stop may wait for the collector; 3 s unless told. */
  readonly shutdownTimeoutMs?: number
  readonly logger?: Logger
}
