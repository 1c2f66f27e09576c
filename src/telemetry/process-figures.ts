import type { Family, HistogramSeries, Series } from './metric-family.ts'

/** Sums since the process started, from the counters of its metrics. */
export interface ProcessFigures {
  /** Requests to the API, without those of operators and of the console. */
  readonly requests: number
  /** Those that the gateway or its upstreams failed: a status of 500 or above. */
  readonly errors: number
  /** Those that were refused: a status from 400 to 499. */
  readonly refused: number
  readonly inFlight: number
  /** How long requests to models took, counted by the bounds of the histogram. */
  readonly durations: readonly number[]
  readonly promptTokens: number
  readonly completionTokens: number
  readonly byProvider: ReadonlyMap<string, ProviderFigures>
  /** Without those that are closed. */
  readonly breakers: readonly OpenBreaker[]
}

export interface ProviderFigures {
  /** Calls of the upstream. */
  readonly attempts: number
  readonly failures: number
  /** How long requests took that it answered, or was the last one to fail. */
  readonly durations: readonly number[]
}

interface OpenBreaker {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  readonly state: 'closed' | 'half-open' | 'open'
  /** Accounts that are kept away because only their requests fail. */
  readonly accounts: number
}

interface FigureFamilies {
  readonly requests: Family<Series>
  readonly inFlight: Family<Series>
  readonly duration: Family<HistogramSeries>
  readonly tokens: Family<Series>
  readonly attempts: Family<Series>
  readonly breakers: Family<Series>
  readonly breakerAccounts: Family<Series>
}

export function readFigures(families: FigureFamilies): ProcessFigures {
  const requests = families.requests.all().filter(({ labels }) => isCounted(labels['route']))
  const statusFrom = (least: number, most: number) =>
    sum(
      requests.filter(({ labels }) => Number(labels['status']) >= least && Number(labels['status']) <= most),
    )
  const tokens = (direction: string) =>
    sum(families.tokens.all().filter(({ labels }) => labels['direction'] === direction))
  const ofModels = families.duration.all().filter(({ labels }) => labels['model'] !== '')
  return {
    requests: sum(requests),
    errors: statusFrom(500, 599),
    refused: statusFrom(400, 498),
    inFlight: sum(families.inFlight.all().filter(({ labels }) => isCounted(labels['route']))),
    durations: addCounts(ofModels.map(({ series }) => series.counts)),
    promptTokens: tokens('prompt'),
    completionTokens: tokens('completion'),
    byProvider: readProviders(families),
    breakers: readBreakers(families),
  }
}

function isCounted(route = ''): boolean {
  return route.startsWith('/v1/') && !route.startsWith('/v1/admin/')
}

function readProviders({ attempts, duration }: FigureFamilies): Map<string, ProviderFigures> {
  const durations = Map.groupBy(duration.all(), ({ labels }) => labels['provider'] ?? '')
  const calls = Map.groupBy(attempts.all(), ({ labels }) => labels['provider'] ?? '')
  return new Map(
    [...calls].map(([provider, all]) => [
      provider,
      {
        attempts: sum(all),
        failures: sum(all.filter(({ labels }) => !HARMLESS.has(labels['outcome']))),
        durations: addCounts((durations.get(provider) ?? []).map(({ series }) => series.counts)),
      },
    ]),
  )
}

/** A client that disconnects says nothing about the upstream. */
const HARMLESS: ReadonlySet<string | undefined> = new Set(['ok', 'aborted'])

const STATES = ['closed', 'half-open', 'open'] as const

function readBreakers({ breakers, breakerAccounts }: FigureFamilies): OpenBreaker[] {
  return breakers.all().flatMap(({ labels, series }) => {
    const { provider = '', model = '' } = labels
    const accounts = breakerAccounts.series(provider, model).value
    const state = STATES[series.value] ?? 'closed'
    return state === 'closed' && accounts === 0 ? [] : [{ provider, model, state, accounts }]
  })
}

function sum(all: readonly { readonly series: Series }[]): number {
  return all.reduce((total, { series }) => total + series.value, 0)
}

/** Adds histograms with the same bounds. */
export function addCounts(histograms: readonly ArrayLike<number>[]): number[] {
  const lengthMax = Math.max(0, ...histograms.map(({ length }) => length))
  return Array.from({ length: lengthMax }, (_, bucket) =>
    histograms.reduce((total, counts) => total + (counts[bucket] ?? 0), 0),
  )
}
