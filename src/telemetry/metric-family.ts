import type { Aggregator, Metric, Registry } from 'prom-client'
import type { Exemplar } from './open-metrics.ts'

/**
 * The value of a counter or gauge with fixed labels. Callers keep series and update them in place, so labels cost nothing after
 * the first call. prom-client would build a string from the labels on each call.
 */
export interface Series {
  value: number
}

export interface HistogramSeries {
  /** Observations per bucket, not cumulative. The last one counts values above the highest bound. */
  readonly counts: Float64Array
  readonly bounds: readonly number[]
  sum: number
  /** The last sampled trace of each bucket. Null until there is one. */
  exemplars: (Exemplar | undefined)[] | null
}

export interface Family<Kind> {
  /** Returns the series of these label values, in the order of the label names. Creates it on first use. */
  series(...labelValues: string[]): Kind
  /** All series with their label values by name. */
  all(): readonly LabelledSeries<Kind>[]
}

interface LabelledSeries<Kind> {
  readonly labels: Readonly<Record<string, string>>
  readonly series: Kind
}

interface FamilyOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  /** How the series of several processes are combined. */
  readonly aggregator?: Aggregator
}

interface Sample {
  readonly metricName: string
  readonly labels: Record<string, string | number>
  readonly value: number
  readonly exemplar?: Exemplar
}

// Above this number, further label values share one series, so that scrapes and memory stay bounded.
const SERIES_MAX = 5_000
const OVERFLOW_LABEL = 'other'

export function createCounterFamily(registry: Registry, options: FamilyOptions): Family<Series> {
  return createValueFamily(registry, 'counter', options)
}

export function createGaugeFamily(registry: Registry, options: FamilyOptions): Family<Series> {
  return createValueFamily(registry, 'gauge', options)
}

export function createHistogramFamily(
  registry: Registry,
  options: FamilyOptions & { readonly bounds: readonly number[] },
): Family<HistogramSeries> {
  const { bounds, name } = options
  const store = createSeriesStore(options.labelNames, () => ({
    counts: new Float64Array(bounds.length + 1),
    bounds,
    sum: 0,
    exemplars: null,
  }))
  register(registry, 'histogram', options, () =>
    store.all().flatMap(({ labels, series }) => sampleHistogram(name, labels, series)),
  )
  return store
}

/** @param traceId the trace that the observation is an example for, if it is sampled */
export function observe(series: HistogramSeries, value: number, traceId?: string | null): void {
  const { bounds, counts } = series
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1
  counts[bucket] = (counts[bucket] ?? 0) + 1
  series.sum += value
  if (traceId === undefined || traceId === null) return
  series.exemplars ??= []
  series.exemplars[bucket] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1e3 }
}

/** Registers a summary without a sum and a count: values that are quantiles of what was observed elsewhere. */
export function registerQuantiles(
  registry: Registry,
  options: {
    readonly name: string
    readonly help: string
    readonly quantiles: readonly number[]
    readonly read: () => readonly number[]
  },
): void {
  const { name, help, quantiles, read } = options
  register(registry, 'summary', { name, help, labelNames: ['quantile'], aggregator: 'max' }, () => {
    const values = read()
    return quantiles.map((quantile, index) => ({
      metricName: name,
      labels: { quantile },
      value: values[index] ?? 0,
    }))
  })
}

function createValueFamily(
  registry: Registry,
  type: 'counter' | 'gauge',
  options: FamilyOptions,
): Family<Series> {
  const store = createSeriesStore(options.labelNames, (): Series => ({ value: 0 }))
  register(registry, type, options, () =>
    store.all().map(({ labels, series }) => ({ metricName: options.name, labels, value: series.value })),
  )
  return store
}

function createSeriesStore<Kind>(labelNames: readonly string[], createSeries: () => Kind) {
  const byLabels = new Map<string, { labels: Record<string, string>; series: Kind }>()

  const find = (labelValues: readonly string[]): Kind => {
    const key = labelValues.length === 1 ? (labelValues[0] ?? '') : labelValues.join('\u0000')
    const known = byLabels.get(key)
    if (known) return known.series
    if (byLabels.size >= SERIES_MAX && labelValues.some((value) => value !== OVERFLOW_LABEL)) {
      return find(labelNames.map(() => OVERFLOW_LABEL))
    }
    const labels = Object.fromEntries(labelNames.map((label, index) => [label, labelValues[index] ?? '']))
    const series = createSeries()
    byLabels.set(key, { labels, series })
    return series
  }

  return { series: (...labelValues: string[]) => find(labelValues), all: () => [...byLabels.values()] }
}

function sampleHistogram(name: string, labels: Record<string, string>, series: HistogramSeries): Sample[] {
  let total = 0
  const buckets = [...series.bounds, '+Inf'].map((bound, index): Sample => {
    total += series.counts[index] ?? 0
    const exemplar = series.exemplars?.[index]
    const sample = { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: total }
    return exemplar === undefined ? sample : { ...sample, exemplar }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: series.sum },
    { metricName: `${name}_count`, labels, value: total },
  ]
}

function register(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram' | 'summary',
  options: FamilyOptions,
  sample: () => Sample[],
): void {
  const { name, help, labelNames, aggregator = 'sum' } = options
  const metric = {
    name,
    help,
    type,
    labelNames,
    aggregator,
    get: async () => ({ name, help, type, aggregator, values: sample() }),
  }
  // The registry uses only these members, but its type accepts only prom-client's four classes.
  registry.registerMetric(metric as unknown as Metric)
}
