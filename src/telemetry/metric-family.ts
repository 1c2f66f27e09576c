import type { Aggregator, Metric, Registry } from 'prom-client'

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
  }))
  register(registry, 'histogram', options, () =>
    store.all().flatMap(({ labels, series }) => sampleHistogram(name, labels, series)),
  )
  return store
}

export function observe(series: HistogramSeries, value: number): void {
  const { bounds, counts } = series
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1
  counts[bucket] = (counts[bucket] ?? 0) + 1
  series.sum += value
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
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: series.sum },
    { metricName: `${name}_count`, labels, value: total },
  ]
}

function register(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram',
  options: FamilyOptions,
  sample: () => Sample[],
): void {
  const { name, help, aggregator = 'sum' } = options
  const metric = {
    name,
    help,
    type,
    aggregator,
    get: async () => ({ name, help, type, aggregator, values: sample() }),
  }
  // The registry uses only these members, but its type accepts only prom-client's four classes.
  registry.registerMetric(metric as unknown as Metric)
}
