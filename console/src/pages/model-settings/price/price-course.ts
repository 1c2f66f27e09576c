import type { ModelPriceList } from '../../../api/model-settings.ts'
import type { ChartSeries } from '../../../ui/data/chart-series.ts'

interface PriceCourse {
  readonly timesSeconds: readonly number[]
  readonly series: readonly ChartSeries[]
}

const DAY_SECONDS = 86_400
/** Shown before the first change and after the last one. */
const MARGIN_DAYS = 30

/**
 * The prices of a model over time as steps: each moment has the amounts before and after it. The list of the file has no beginning,
 * so it begins before the first of the others.
 */
export function courseOfPrices(prices: readonly ModelPriceList[], nowMs: number): PriceCourse {
  const now = Math.floor(nowMs / 1000)
  const moments = prices
    .filter(({ state }) => state !== 'withdrawn')
    .map(({ effective_from: from, price }) => ({
      fromSeconds: from === null ? -Infinity : Math.floor(Date.parse(from) / 1000),
      price,
    }))
    .toSorted((left, right) => left.fromSeconds - right.fromSeconds)
  const changes = moments.map(({ fromSeconds }) => fromSeconds).filter(Number.isFinite)
  const first = Math.min(now, ...changes) - MARGIN_DAYS * DAY_SECONDS
  const last = Math.max(now, ...changes) + MARGIN_DAYS * DAY_SECONDS
  const times = [first, ...changes.flatMap((change) => [change - 1, change]), last].filter(
    (time, index, all) => index === 0 || time > (all[index - 1] ?? -Infinity),
  )
  const priceAt = (time: number) => moments.findLast(({ fromSeconds }) => fromSeconds <= time)?.price
  const isOfTokens = moments.every(({ price }) => price.unit === 'token')
  const shown = isOfTokens ? (['input_usd_per_1m', 'output_usd_per_1m'] as const) : (['usd'] as const)
  const series = shown.map((name) => ({
    label: LABELS[name],
    values: times.map((time) => priceAt(time)?.[name] ?? null),
  }))
  return {
    timesSeconds: times,
    series: series.filter(({ values }) => values.some((value) => value !== null && value > 0)),
  }
}

const LABELS = { input_usd_per_1m: 'Input', output_usd_per_1m: 'Output', usd: 'Price' } as const
