import { useEffect, useRef } from 'react'
import UPlot, { type Options, type Series } from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTimeIn, type ChartZone } from '../format/format-time.ts'
import { useIsDark } from '../theme.ts'
import { seriesColour, stackSeries, type ChartKind, type ChartSeries } from './chart-series.ts'

interface ChartCanvasProps {
  readonly label: string
  /** Seconds since 1970, rising. */
  readonly timesSeconds: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly kind: ChartKind
  readonly heightPx: number
  readonly formatValue: (value: number) => string
  readonly zone: ChartZone
}

const BAR_PX_MIN = 2
const CHART_MEASURE = 'chart drawn'

/** Draws a chart. Loaded only where a page has one. */
export function ChartCanvas(props: ChartCanvasProps) {
  const { label, timesSeconds, series, kind, heightPx, formatValue, zone } = props
  const place = useRef<HTMLDivElement>(null)
  const isDark = useIsDark()
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const startedAtMs = performance.now()
    const drawn = kind === 'bars' ? stackSeries(series) : series
    const drawnTimes = alignFirst(timesSeconds)
    const stepSeconds = stepOf(drawnTimes)
    // Bars are drawn from the highest sum to the lowest, so that each covers the rest of the one behind it.
    const order = kind === 'bars' ? drawn.toReversed() : drawn
    const style = getComputedStyle(element)
    // Bars of less than a few pixels look like an area, which is drawn much faster.
    const isDense = timesSeconds.length * BAR_PX_MIN > element.clientWidth
    const options: Options = {
      width: element.clientWidth,
      height: heightPx,
      tzDate: (timeSeconds) => {
        const at = new Date(timeSeconds * 1000)
        return zone === 'UTC' ? UPlot.tzDate(at, 'Etc/UTC') : at
      },
      legend: { show: false },
      cursor: { y: false, points: { size: 6 } },
      padding: [8, 16, 0, 0],
      scales: {
        // A bar is drawn to the right of its time, so the last bar needs space.
        x: { range: (_, first, last) => [first, last + (kind === 'bars' ? stepSeconds : 0)] },
        y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.08 : 1] },
      },
      // The computed colours of the element, because a canvas does not understand the variables of the theme.
      axes: axesOf({ ink: style.color, line: style.borderTopColor, formatValue, stepSeconds, zone }),
      series: [
        {},
        ...order.map((one) =>
          drawnSeries(
            one.label,
            seriesColour(drawn.indexOf(one), isDark),
            isDense && kind === 'bars' ? 'area' : kind,
          ),
        ),
      ],
      hooks: {
        setCursor: [(chart) => showReading(chart, element, { timesSeconds, series, formatValue, zone })],
        // For the tools of the browser, and for the benchmark.
        ready: [() => performance.measure(CHART_MEASURE, { start: startedAtMs })],
      },
    }
    const chart = new UPlot(options, [[...drawnTimes], ...order.map(({ values }) => [...values])], element)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPx }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [timesSeconds, series, kind, heightPx, formatValue, zone, isDark])
  return (
    <div
      role="img"
      aria-label={label}
      ref={place}
      className="relative min-w-0 overflow-hidden border-line text-ink-faint"
      style={{ height: heightPx }}
    >
      <div
        data-reading=""
        className="pointer-events-none absolute top-1 left-16 z-10 hidden rounded-md border border-line bg-surface px-2 py-1 text-xs text-ink shadow-float"
      />
    </div>
  )
}

interface AxesParts extends Pick<ChartCanvasProps, 'formatValue' | 'zone'> {
  readonly ink: string
  readonly line: string
  readonly stepSeconds: number
}

function axesOf({ ink, line, formatValue, stepSeconds, zone }: AxesParts): NonNullable<Options['axes']> {
  const shared = { stroke: ink, font: '11px system-ui', ticks: { show: false } }
  return [
    {
      ...shared,
      grid: { show: false },
      size: 28,
      // Days are not divided into hours that no value has.
      ...(stepSeconds >= DAY_SECONDS && { incrs: DAYS_BETWEEN.map((days) => days * DAY_SECONDS) }),
      values: (_, times, __, ___, step) => nameTimes(times, step, zone),
    },
    { ...shared, grid: { stroke: line, width: 1 }, size: 64, values: (_, values) => values.map(formatValue) },
  ]
}

// Sums are those of hours and days in UTC. In local time a bar could have the name of the day before.
const axisFormats = (timeZone: string | undefined) => ({
  hour: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZone }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone }),
})
const AXIS = { UTC: axisFormats('UTC'), local: axisFormats(undefined) }

/** Names the times of the axis: hours, and the day where one begins, or days only. */
function nameTimes(timesSeconds: readonly number[], stepSeconds: number, zone: ChartZone): string[] {
  return timesSeconds.map((timeSeconds) => {
    const at = new Date(timeSeconds * 1000)
    const [hours, minutes] =
      zone === 'UTC' ? [at.getUTCHours(), at.getUTCMinutes()] : [at.getHours(), at.getMinutes()]
    const isDay = stepSeconds >= DAY_SECONDS || (hours === 0 && minutes === 0)
    return AXIS[zone][isDay ? 'day' : 'hour'].format(at)
  })
}

function drawnSeries(label: string, colour: string, kind: ChartKind | 'area'): Series {
  // Points show a value whose neighbours are missing, which a line alone would not.
  if (kind === 'line') return { label, stroke: colour, width: 1.75, points: { size: 4 }, spanGaps: false }
  const paths = kind === 'bars' ? UPlot.paths.bars?.({ size: [0.72, 48], align: 1 }) : UPlot.paths.linear?.()
  return { label, fill: colour, stroke: colour, width: 0, points: { show: false }, ...(paths && { paths }) }
}

const DAY_SECONDS = 86_400
/** Between the names on an axis of days. */
const DAYS_BETWEEN = [1, 2, 7, 14, 28, 91, 182, 364]

/** A range may begin within its first hour or day. Its bar stands where the whole one would, so that all have the same width. */
function alignFirst(timesSeconds: readonly number[]): readonly number[] {
  const [first, second, third] = timesSeconds
  if (first === undefined || second === undefined || third === undefined) return timesSeconds
  const begun = second - (third - second)
  return begun < first ? [begun, ...timesSeconds.slice(1)] : timesSeconds
}

/** The time from one value to the next. */
function stepOf([first, second]: readonly number[]): number {
  return first === undefined || second === undefined ? DAY_SECONDS : second - first
}

/** Shows time and values under the pointer. */
function showReading(
  chart: UPlot,
  element: HTMLElement,
  {
    timesSeconds,
    series,
    formatValue,
    zone,
  }: Pick<ChartCanvasProps, 'timesSeconds' | 'series' | 'formatValue' | 'zone'>,
): void {
  const reading = element.querySelector('[data-reading]')
  if (!(reading instanceof HTMLElement)) return
  const index = chart.cursor.idx
  const time = index === null || index === undefined ? undefined : timesSeconds[index]
  reading.classList.toggle('hidden', time === undefined)
  if (time === undefined) return
  const lines = series.map(
    ({ label, values }) => `${label}: ${formatOrNothing(values[index ?? 0], formatValue)}`,
  )
  reading.replaceChildren(
    ...[formatTimeIn(zone, time * 1000), ...lines].map((text) => {
      const row = document.createElement('div')
      row.textContent = text
      return row
    }),
  )
}

function formatOrNothing(value: number | null | undefined, formatValue: (value: number) => string): string {
  return value === null || value === undefined ? 'none' : formatValue(value)
}
