import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type Tracer as OtlpTracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  SamplingDecision,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace'
import { silentLogger, type Logger } from '../kernel/logger.ts'
import { createSpanId, createTraceId, planSpan } from './trace-ids.ts'
import { parseTraceparent } from './traceparent.ts'
import type { AttemptSpan, InferenceSpan, InferenceStart, Tracer, TracingOptions } from './tracer.ts'

const QUEUE_SPANS_MAX = 4_096
const BATCH_SPANS_MAX = 512
const BATCH_DELAY_MS = 2_000
const EXPORT_TIMEOUT_MS = 10_000

/** Creates the OTLP tracer. Only this file imports OpenTelemetry, and it is loaded only if tracing is on. */
export function createOtlpTracer(options: TracingOptions & { endpoint: string }): Tracer {
  const { serviceName = 'parkway', serviceVersion, sampleRatio = 1, shutdownTimeoutMs = 3_000 } = options
  const logger = options.logger ?? silentLogger
  reportExportErrors(logger)
  const root = new TraceIdRatioBasedSampler(sampleRatio)
  const ids = new PlannedIds()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...(serviceVersion === undefined ? {} : { 'service.version': serviceVersion }),
      'telemetry.sdk.language': 'nodejs',
      ...options.resourceAttributes,
      'service.name': serviceName,
    }),
    sampler: new ParentBasedSampler({ root }),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
          headers: { ...options.headers },
          timeoutMillis: EXPORT_TIMEOUT_MS,
          concurrencyLimit: 4,
        }),
        maxQueueSize: QUEUE_SPANS_MAX,
        maxExportBatchSize: BATCH_SPANS_MAX,
        scheduledDelayMillis: BATCH_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('parkway', serviceVersion)

  const isSampled = (traceId: string): boolean =>
    root.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED

  return {
    plan: (traceparent) => planSpan(traceparent, isSampled),
    startInference: (start) => {
      const name = `${start.operation} ${start.model}`
      const attributes = describeStart(start)
      const { startedAtMs: startTime } = start
      const times = startTime === undefined ? {} : { startTime }
      ids.use(start.ids ?? null)
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, ...times }, parentOf(start))
      return openSpan(span, (attempt) =>
        recordAttempt({ tracer, ids, span, operation: start.operation }, attempt),
      )
    },
    shutdown: () => shutdown(provider, { timeoutMs: shutdownTimeoutMs, logger }),
  }
}

function parentOf({ traceparent }: InferenceStart): Context {
  const parent = parseTraceparent(traceparent)
  if (!parent) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  })
}

function describeStart(start: InferenceStart): Attributes {
  return {
    'gen_ai.operation.name': start.operation,
    // Required at the start, and replaced when an upstream is chosen.
    'gen_ai.provider.name': 'parkway',
    'gen_ai.request.model': start.model,
    'gen_ai.request.stream': start.isStream,
    'gen_ai.request.max_tokens': start.maxTokens,
    'gen_ai.request.temperature': start.temperature,
    'gen_ai.request.top_p': start.topP,
    'gen_ai.request.choice.count': start.choiceCount === 1 ? undefined : start.choiceCount,
    'gen_ai.request.seed': start.seed,
    'parkway.operation': start.work,
    'parkway.request.id': start.requestId,
    'parkway.account.id': start.accountId,
  }
}

/** Gives a span the ids that were planned for it, or random ones. */
class PlannedIds implements IdGenerator {
  #planned: { readonly traceId: string | null; readonly spanId: string } | null = null

  /** Called before each span. */
  use(planned: { readonly traceId: string | null; readonly spanId: string } | null): void {
    this.#planned = planned
  }

  generateSpanId(): string {
    return this.#planned?.spanId ?? createSpanId()
  }

  generateTraceId(): string {
    return this.#planned?.traceId ?? createTraceId()
  }
}

interface AttemptParent {
  readonly tracer: OtlpTracer
  readonly ids: PlannedIds
  readonly span: Span
  readonly operation: string
}

function recordAttempt({ tracer, ids, span, operation }: AttemptParent, attempt: AttemptSpan): void {
  if (!span.isRecording()) return
  const { provider, model, address, startedAtMs, durationMs, resends, status, errorType, spanId } = attempt
  ids.use(spanId === null ? null : { traceId: null, spanId })
  const [host, port] = splitAddress(address)
  const child = tracer.startSpan(
    `${operation} ${model}`,
    {
      kind: SpanKind.CLIENT,
      startTime: startedAtMs,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': model,
        'server.address': host,
        'server.port': port,
        'http.request.resend_count': resends === 0 ? undefined : resends,
        'http.response.status_code': status ?? undefined,
        'error.type': errorType ?? undefined,
      },
    },
    trace.setSpan(ROOT_CONTEXT, span),
  )
  if (errorType !== null) child.setStatus({ code: SpanStatusCode.ERROR })
  child.end(startedAtMs + durationMs)
}

function splitAddress(address: string | null): [string | undefined, number | undefined] {
  if (address === null) return [undefined, undefined]
  const url = new URL(`https://${address}`)
  return [url.hostname, url.port === '' ? 443 : Number(url.port)]
}

function openSpan(span: Span, addAttempt: (attempt: AttemptSpan) => void): InferenceSpan {
  return {
    traceId: span.isRecording() ? span.spanContext().traceId : null,
    addAttempt,
    setFinishReason: (reason) => setKnown(span, { 'gen_ai.response.finish_reasons': [reason] }),
    setProvider: ({ provider }) => setKnown(span, { 'gen_ai.provider.name': provider }),
    setResponse: ({ model }) => setKnown(span, { 'gen_ai.response.model': model }),
    setFirstToken: (firstTokenMs) =>
      setKnown(span, { 'gen_ai.response.time_to_first_chunk': firstTokenMs / 1e3 }),
    setUsage: ({ prompt, completion, cached, cacheWrite, reasoning }) =>
      setKnown(span, {
        'gen_ai.usage.input_tokens': prompt,
        'gen_ai.usage.output_tokens': completion,
        'gen_ai.usage.cache_read.input_tokens': cached,
        'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
        'gen_ai.usage.reasoning.output_tokens': reasoning,
      }),
    finish: ({ status, error, attempts }) => {
      setKnown(span, { 'http.response.status_code': status, 'parkway.upstream.attempts': attempts })
      if (error !== undefined || status >= 400) {
        span.setAttribute('error.type', error?.type ?? String(status))
        const message = error?.message
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
      }
      span.end()
    },
  }
}

function setKnown(span: Span, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(name, value)
  }
}

function reportExportErrors(logger: Logger): void {
  const warn = (message: string) => logger.warn({ reason: message }, 'traces could not be exported')
  const ignore = () => {}
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

async function shutdown(
  provider: TracerProvider,
  { timeoutMs, logger }: { timeoutMs: number; logger: Logger },
): Promise<void> {
  // The exporter retries an unavailable collector for longer than a shutdown may take.
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    await Promise.race([provider.shutdown(), timedOut])
  } catch (cause) {
    logger.warn({ err: cause }, 'the last traces could not be exported')
  } finally {
    clearTimeout(timer)
  }
}
