import { observe, type HistogramSeries, type Series } from './metric-family.ts'
import type { Families } from './request-families.ts'
import type { TokenCounts } from './token-counts.ts'

export interface FinishedRequest {
  /** The route pattern with parameters as `:id`, or `unmatched`. Never the client's path. */
  readonly route: string
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly firstTokenMs?: number | undefined
  readonly usage?: TokenCounts | undefined
  /** What the account was charged. */
  readonly costUsd?: number | undefined
  /** The name of the operation on a model in OpenTelemetry's GenAI conventions. */
  readonly operation?: string | undefined
  /** The trace of the request, if it is sampled. */
  readonly traceId?: string | null | undefined
}

/** The series that one kind of request is counted in. */
interface RequestSeries {
  readonly requests: Series
  readonly inFlight: Series
  readonly duration: HistogramSeries
  /** Null for requests without a model. */
  readonly inference: InferenceSeries | null
}

interface InferenceSeries {
  readonly firstToken: HistogramSeries
  readonly prompt: Series
  readonly completion: Series
  readonly cached: Series
  readonly reasoning: Series
  readonly spend: Series
  /** Null without the name of an operation. */
  readonly operation: OperationSeries | null
}

/** By the GenAI conventions. */
interface OperationSeries {
  readonly duration: HistogramSeries
  readonly input: HistogramSeries
  readonly output: HistogramSeries
}

interface Labels {
  readonly isKnownModel: (modelId: string) => boolean
  readonly traceNameOf: (provider: string) => string
}

const REQUEST_KINDS_MAX = 10_000

/** Returns a function that finds all series of a kind of request with one lookup. */
export function createRequestSeries(families: Families, labels: Labels) {
  const known = new Map<string, RequestSeries>()

  return ({ route, model, provider = '', status, operation = '' }: FinishedRequest): RequestSeries => {
    const found = known.get(`${route}\u0000${model}\u0000${provider}\u0000${status}\u0000${operation}`)
    if (found) return found
    // Use only labels as keys, so that client input cannot grow the map.
    const label = labelModel(model, labels.isKnownModel)
    const shown = label === '' ? undefined : label
    const key = `${route}\u0000${shown}\u0000${provider}\u0000${status}\u0000${operation}`
    const existing = known.get(key)
    if (existing) return existing
    const series = {
      requests: families.requests.series(route, label, provider, String(status)),
      inFlight: families.inFlight.series(route),
      duration: families.duration.series(route, label, provider),
      inference:
        label === ''
          ? null
          : createInferenceSeries(families, labels, { model: label, provider, status, operation }),
    }
    if (known.size < REQUEST_KINDS_MAX) known.set(key, series)
    return series
  }
}

interface InferenceKind {
  readonly model: string
  readonly provider: string
  readonly status: number
  readonly operation: string
}

function createInferenceSeries(families: Families, labels: Labels, kind: InferenceKind): InferenceSeries {
  const { model, provider, operation } = kind
  return {
    firstToken: families.firstToken.series(model, provider),
    prompt: families.tokens.series(model, provider, 'prompt'),
    completion: families.tokens.series(model, provider, 'completion'),
    cached: families.tokens.series(model, provider, 'cached'),
    reasoning: families.tokens.series(model, provider, 'reasoning'),
    spend: families.spend.series(model, provider),
    operation: operation === '' ? null : createOperationSeries(families, labels, kind),
  }
}

function createOperationSeries(
  { operationDuration, tokenUsage }: Families,
  { traceNameOf }: Labels,
  { model, provider, status, operation }: InferenceKind,
): OperationSeries {
  const name = provider === '' ? 'parkway' : traceNameOf(provider)
  return {
    duration: operationDuration.series(operation, name, model, status < 400 ? '' : String(status)),
    input: tokenUsage.series(operation, name, model, 'input'),
    output: tokenUsage.series(operation, name, model, 'output'),
  }
}

export function recordRequest(
  series: RequestSeries,
  { durationMs, firstTokenMs, usage, costUsd, traceId }: FinishedRequest,
): void {
  const { inference } = series
  series.requests.value += 1
  series.inFlight.value -= 1
  observe(series.duration, durationMs / 1e3, traceId)
  if (!inference) return
  const { operation } = inference
  if (operation !== null) observe(operation.duration, durationMs / 1e3, traceId)
  if (firstTokenMs !== undefined) observe(inference.firstToken, firstTokenMs / 1e3, traceId)
  if (costUsd !== undefined) inference.spend.value += costUsd
  if (!usage) return
  inference.prompt.value += usage.prompt
  inference.completion.value += usage.completion
  inference.cached.value += usage.cached ?? 0
  inference.reasoning.value += usage.reasoning ?? 0
  if (operation === null) return
  observe(operation.input, usage.prompt)
  observe(operation.output, usage.completion)
}

export function labelModel(model: string | undefined, isKnownModel: (modelId: string) => boolean): string {
  if (model === undefined) return ''
  if (model.startsWith('byom-')) return 'byom'
  return isKnownModel(model) ? model : 'unknown'
}
