import { expect, test } from 'vitest'
import { unifiedDiff } from '../../../cli/connect/unified-diff.ts'

const lines = (count: number, prefix = 'line') =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}\n`).join('')

test('a difference shows changed lines with three lines around them', () => {
  const before = lines(20)
  expect(unifiedDiff(before, before.replace('line 9\n', 'new\n')).join('|')).toBe(
    '@@ -7,7 +7,7 @@| line 6| line 7| line 8|-line 9|+new| line 10| line 11| line 12',
  )
  expect(unifiedDiff(before, before)).toEqual([])
  expect(unifiedDiff('', 'a\n')).toEqual(['@@ -0,0 +1,1 @@', '+a'])
})

test('long texts that have nothing in common are shown as replaced', () => {
  const shown = unifiedDiff(lines(20_000), lines(20_000, 'other'))
  expect(shown[0]).toMatch(/^@@ -1,\d+ \+1,\d+ @@$/)
  expect(shown.filter((line) => line.startsWith('-')).length).toBeGreaterThanOrEqual(20_000)
})
