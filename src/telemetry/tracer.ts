import type { Logger } from '../kernel/logger.ts'
import type { TokenCounts } from './token-counts.ts'
import type { TraceIds } from './trace-ids.ts'

/** Traces model calls by OpenTelemetry's GenAI conventions. */
export interface Tracer {
  /** Chooses the ids of a span that is recorded later, because others are told of it before. */
  plan(traceparent: string | null): TraceIds
  startInference(start: InferenceStart): InferenceSpan
  /** Sends the queued spans within a time limit, then stops. Never rejects. */
  shutdown(): Promise<void>
}

export interface InferenceStart {
  /** The first four are names of the conventions, the others our own, which the conventions allow. */
  readonly operation:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'generate_content'
    | 'rerank'
    | 'moderation'
    | 'transcription'
  /** Our own name of the operation, if several share one name in the conventions. */
  readonly work?: string
  /** The model as the client named it, or its id in the catalog. */
  readonly model: string
  readonly requestId?: string
  readonly accountId?: string
  readonly isStream?: boolean
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly choiceCount?: number
  readonly seed?: number
  /** Milliseconds since the Unix epoch. Default: now. */
  readonly startedAtMs?: number
  /** The client's W3C header. The span becomes part of its trace. */
  readonly traceparent?: string
  /** The ids that were planned for it. */
  readonly ids?: TraceIds | undefined
}

/** One call of an upstream. */
export interface AttemptSpan {
  /** By its name in the conventions. */
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  /** The host and port of the upstream. */
  readonly address: string | null
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** The number of calls of this request before it. */
  readonly resends: number
  readonly status: number | null
  /** Null if the upstream answered. */
  readonly errorType: string | null
  /** The id that the upstream was told. */
  readonly spanId: string | null
}

/** One logical operation, including its retries and fallbacks. */
export interface InferenceSpan {
  /** The id of its trace, or null if it is not sampled. */
  readonly traceId: string | null
  /** Sets the upstream that answered, by its name in the conventions. */
  setProvider(upstream: { provider: string }): void
  /** Sets the catalog id of the model that answered. */
  setResponse(response: { model: string }): void
  setFirstToken(firstTokenMs: number): void
  setUsage(usage: TokenCounts): void
  setFinishReason(reason: string): void
  /** Records a call of an upstream as a span below this one. */
  addAttempt(attempt: AttemptSpan): void
  /** Ends the span. Later calls have no effect. */
  finish(end: { status: number; error?: { type: string; message?: string }; attempts?: number }): void
}

export interface TracingOptions {
  /** The collector's base URL, as in `OTEL_EXPORTER_OTLP_ENDPOINT`. Without it there is no tracing. */
  readonly endpoint: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** What `OTEL_RESOURCE_ATTRIBUTES` says of this process. */
  readonly resourceAttributes?: Readonly<Record<string, string>>
  /** The share of traces started here that is sampled. A client's own sampling decision is respected. */
  readonly sampleRatio?: number
  /** How long a shutdown may wait for the collector. Default: 3 s. */
  readonly shutdownTimeoutMs?: number
  readonly logger?: Logger
}
