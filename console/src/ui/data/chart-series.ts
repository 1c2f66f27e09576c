export interface ChartSeries {
  readonly label: string
  /** One value for each time. Null where there is none. */
  readonly values: readonly (number | null)[]
}

export type ChartKind = 'line' | 'bars'

/** Colours that people with any kind of colour vision can tell apart, after Okabe and Ito, for either background. */
const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#a6407c', '#8a6d00', '#3a9bd9', '#5b5b5b', '#e69f00']
const DARK = ['#56b4e9', '#e69f00', '#2fc79b', '#e08cbc', '#f0e442', '#4f8fd9', '#b0b0b0', '#f2784b']

export function seriesColour(index: number, isDark: boolean): string {
  const palette = isDark ? DARK : LIGHT
  return palette[index % palette.length] ?? '#888888'
}

/** Adds each series onto those before it, for bars that stand on each other. */
export function stackSeries(series: readonly ChartSeries[]): ChartSeries[] {
  const sums: number[] = []
  return series.map(({ label, values }) => ({
    label,
    values: values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0)
      return sums[index] ?? 0
    }),
  }))
}

/** As many as there are colours. */
const SERIES_MAX = LIGHT.length

/** Adds up the last series, so that each of the others has a colour of its own. For bars, which may be added. */
export function foldSeries(series: readonly ChartSeries[]): readonly ChartSeries[] {
  if (series.length <= SERIES_MAX) return series
  const shown = series.slice(0, SERIES_MAX - 1)
  const folded = series.slice(SERIES_MAX - 1)
  const length = Math.max(...folded.map(({ values }) => values.length))
  const values = Array.from({ length }, (_, index) =>
    folded.every(({ values: own }) => (own[index] ?? null) === null)
      ? null
      : folded.reduce((sum, { values: own }) => sum + (own[index] ?? 0), 0),
  )
  return [...shown, { label: `${folded.length} others`, values }]
}
