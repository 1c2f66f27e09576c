import type { NanoUsd } from '../../../kernel/money.ts'
import { DAY_MS, floorDay } from '../usage-range.ts'

/** What a month will probably have cost at its end. */
export interface MonthForecast {
  readonly spentNanoUsd: NanoUsd
  /** The interval that the sum is in with this confidence, if days go on as they were. */
  readonly lowNanoUsd: NanoUsd
  readonly highNanoUsd: NanoUsd
  readonly confidence: number
  /** Of how many whole days it is told. */
  readonly days: number
}

/** What one day of UTC cost. */
export interface DaySpend {
  readonly dayMs: number
  readonly spentNanoUsd: NanoUsd
}

interface ForecastParts {
  /** Of whole days before today. Days without spending may be missing. */
  readonly days: readonly DaySpend[]
  /** Of this month, until now. */
  readonly spentNanoUsd: NanoUsd
  readonly monthEndsMs: number
  readonly nowMs: number
}

export const FORECAST_DAYS = 28
const DAYS_MIN = 3
/** From two of each weekday on, weekends are told from working days. */
const WEEKDAY_DAYS_MIN = 14
const FORECAST_CONFIDENCE = 0.8
/** The 90th percentile of Student's t by degrees of freedom, from 2 on. */
const T_90 = [1.886, 1.638, 1.533, 1.476, 1.44, 1.415, 1.397, 1.383, 1.372, 1.363, 1.356, 1.35, 1.345]
const T_90_MANY = 1.32

/**
 * Adds what the rest of the month usually costs to what is spent. The interval is a prediction interval of a sum of days that do not
 * depend on each other. Returns null before three whole days of history.
 */
export function forecastMonth(parts: ForecastParts): MonthForecast | null {
  const { spentNanoUsd, monthEndsMs, nowMs } = parts
  const history = fillDays(parts)
  const days = history.length
  if (days < DAYS_MIN) return null
  const usualOf = readUsual(history)
  const residuals = history.map(({ dayMs, spent }) => spent - usualOf(dayMs))
  const free = days - (days >= WEEKDAY_DAYS_MIN ? 7 : 1)
  const variance = residuals.reduce((sum, each) => sum + each ** 2, 0) / free

  const todayMs = floorDay(nowMs)
  let daysLeft = (todayMs + DAY_MS - nowMs) / DAY_MS
  let rest = usualOf(todayMs) * daysLeft
  for (let dayMs = todayMs + DAY_MS; dayMs < monthEndsMs; dayMs += DAY_MS) {
    rest += usualOf(dayMs)
    daysLeft += 1
  }
  const quantile = T_90[free - 2] ?? T_90_MANY
  const width = quantile * Math.sqrt(variance * daysLeft * (1 + daysLeft / days))
  const plus = (amount: number): NanoUsd => spentNanoUsd + BigInt(Math.round(Math.max(0, amount)))
  return {
    spentNanoUsd: plus(rest),
    lowNanoUsd: plus(rest - width),
    highNanoUsd: plus(rest + width),
    confidence: FORECAST_CONFIDENCE,
    days,
  }
}

interface FilledDay {
  readonly dayMs: number
  readonly spent: number
}

/** Every day from the first one with spending until yesterday. */
function fillDays({ days, nowMs }: ForecastParts): FilledDay[] {
  const spent = new Map(days.map(({ dayMs, spentNanoUsd }) => [dayMs, Number(spentNanoUsd)]))
  const todayMs = floorDay(nowMs)
  const firstMs = Math.max(todayMs - FORECAST_DAYS * DAY_MS, Math.min(todayMs, ...spent.keys()))
  const filled: FilledDay[] = []
  for (let dayMs = firstMs; dayMs < todayMs; dayMs += DAY_MS)
    filled.push({ dayMs, spent: spent.get(dayMs) ?? 0 })
  return filled
}

/** The mean of a day: of its weekday where there are enough days. */
function readUsual(history: readonly FilledDay[]): (dayMs: number) => number {
  const mean = meanOf(history)
  if (history.length < WEEKDAY_DAYS_MIN) return () => mean
  const byWeekday = Map.groupBy(history, ({ dayMs }) => weekdayOf(dayMs))
  const means = new Map([...byWeekday].map(([weekday, days]) => [weekday, meanOf(days)]))
  return (dayMs) => means.get(weekdayOf(dayMs)) ?? mean
}

function meanOf(days: readonly FilledDay[]): number {
  return days.reduce((sum, { spent }) => sum + spent, 0) / days.length
}

function weekdayOf(dayMs: number): number {
  return new Date(dayMs).getUTCDay()
}
