import { lazy, Suspense, useMemo, useState } from 'react'
import { Skeleton } from '../feedback/skeleton.tsx'
import { formatTimeIn, nameOfZone, type ChartZone } from '../format/format-time.ts'
import { Button } from '../forms/button.tsx'
import { useIsDark } from '../theme.ts'
import { foldSeries, seriesColour, type ChartKind, type ChartSeries } from './chart-series.ts'
import { DataTable, type Column } from './data-table.tsx'

interface ChartProps {
  /** What is shown, with its unit: "Spend in US dollars". */
  readonly title: string
  /** Seconds since 1970, rising. Keep the array the same between renders while the data is. */
  readonly timesSeconds: readonly number[]
  readonly series: readonly ChartSeries[]
  /** Bars of several series are stacked. */
  readonly kind?: ChartKind | undefined
  readonly formatValue: (value: number) => string
  readonly heightPx?: number | undefined
  /** Sums of hours and days are those of UTC. Measurements of moments are shown in the reader's zone. */
  readonly zone?: ChartZone | undefined
}

const ChartCanvas = lazy(async () => ({ default: (await import('./chart-canvas.tsx')).ChartCanvas }))

/** A chart over time with its legend, and the same data as a table. */
export function Chart({
  title,
  timesSeconds,
  series,
  kind = 'line',
  formatValue,
  heightPx = 240,
  zone = 'UTC',
}: ChartProps) {
  const [isTable, setIsTable] = useState(false)
  // The table has all of them.
  const drawn = useMemo(() => (kind === 'bars' ? foldSeries(series) : series), [kind, series])
  return (
    <figure className="flex min-w-0 flex-col gap-3">
      <figcaption className="flex flex-wrap items-center justify-between gap-2">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span className="text-sm font-medium">{title}</span>
          <span className="text-xs text-ink-faint">{nameOfZone(zone)}</span>
        </span>
        <Button kind="quiet" icon={isTable ? 'usage' : 'log'} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </figcaption>
      {isTable ? (
        <ChartTable {...{ title, timesSeconds, series, formatValue, zone }} />
      ) : (
        <>
          <Suspense fallback={<Skeleton className="h-60 w-full" />}>
            <ChartCanvas
              label={title}
              {...{ timesSeconds, series: drawn, kind, heightPx, formatValue, zone }}
            />
          </Suspense>
          {drawn.length > 1 && <Legend series={drawn} />}
        </>
      )}
    </figure>
  )
}

function Legend({ series }: { readonly series: readonly ChartSeries[] }) {
  const isDark = useIsDark()
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
      {series.map(({ label }, index) => (
        <li key={label} className="flex items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2.5 rounded-sm"
            style={{ backgroundColor: seriesColour(index, isDark) }}
          />
          {label}
        </li>
      ))}
    </ul>
  )
}

interface ChartRow {
  readonly timeSeconds: number
  readonly values: readonly (number | null)[]
}

function ChartTable({
  title,
  timesSeconds,
  series,
  formatValue,
  zone = 'UTC',
}: Omit<ChartProps, 'kind' | 'heightPx'>) {
  const rows = timesSeconds.map((timeSeconds, index): ChartRow => ({
    timeSeconds,
    values: series.map(({ values }) => values[index] ?? null),
  }))
  const columns: Column<ChartRow>[] = [
    {
      id: 'time',
      header: 'Time',
      value: ({ timeSeconds }) => new Date(timeSeconds * 1000).toISOString(),
      width: '216px',
      render: ({ timeSeconds }) => formatTimeIn(zone, timeSeconds * 1000),
    },
    ...series.map(({ label }, index): Column<ChartRow> => ({
      // People have named keys and tags, also twice the same.
      id: `series_${index}`,
      fileHeader: label,
      header: label,
      value: ({ values }) => values[index],
      align: 'right',
      render: ({ values }) => {
        const value = values[index]
        return value === null || value === undefined ? '' : formatValue(value)
      },
    })),
  ]
  return (
    <DataTable
      label={title}
      tools={{ id: `chart_${nameOfChart(title)}` }}
      columns={columns}
      rows={rows.toReversed()}
      rowId={({ timeSeconds }) => String(timeSeconds)}
      heightClass="max-h-72"
    />
  )
}

/** Charts of one page differ in the first words of their titles. */
function nameOfChart(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}
