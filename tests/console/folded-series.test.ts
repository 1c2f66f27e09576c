import { describe, expect, test } from 'vitest'
import { foldSeries, seriesColour, type ChartSeries } from '../../console/src/ui/data/chart-series.ts'

const series = (count: number): ChartSeries[] =>
  Array.from({ length: count }, (_, index) => ({ label: `model ${index}`, values: [index, null, 1] }))

describe('the series of a chart', () => {
  test('are as they are while each has a colour of its own', () => {
    const eight = series(8)
    expect(foldSeries(eight)).toBe(eight)
  })

  test.each([true, false])(
    'the series of a chart never share a colour, and add up to the same (dark: %s)',
    (isDark) => {
      const drawn = foldSeries(series(11))
      expect(new Set(drawn.map((_, index) => seriesColour(index, isDark))).size).toBe(drawn.length)
      expect(drawn.at(-1)).toEqual({ label: '4 others', values: [7 + 8 + 9 + 10, null, 4] })
    },
  )
})
