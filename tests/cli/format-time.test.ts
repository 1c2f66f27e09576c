import { afterEach, expect, test, vi } from 'vitest'
import { formatCountOf, formatNumber } from '../../cli/output/format-number.ts'
import { formatRelative } from '../../cli/output/format-time.ts'
import { formatUsd } from '../../cli/output/format-usd.ts'

const NOW_MS = Date.parse('2030-01-31T12:00:00Z')

test.each([
  ['2030-01-31T12:00:00.400Z', 'now'],
  ['2030-01-31T11:59:48Z', '12 s ago'],
  ['2030-01-31T11:55:01Z', '4 min ago'],
  ['2030-01-31T10:00:00Z', '2 h ago'],
  ['2030-01-30T11:00:00Z', '1 day ago'],
  ['2030-02-03T13:00:00Z', 'in 3 days'],
  ['2029-10-01T13:00:00Z', '2029-10-01'],
  ['-', '-'],
])('%s is shown as %s', (timestamp, shown) => {
  expect(formatRelative(timestamp, NOW_MS)).toBe(shown)
})

afterEach(() => vi.unstubAllGlobals())

test('numbers, amounts and days are plain for a program, and as the language writes them for a person', () => {
  const written = (): string[] => [
    formatNumber(12_345.678, 1),
    formatUsd(1_234.5),
    formatUsd(-0.00123),
    formatRelative('2029-10-01T13:00:00Z', NOW_MS),
    formatCountOf(1, 'prompt'),
    formatCountOf(2_000, 'prompt'),
  ]
  expect(written()).toEqual(['12345.7', '$1234.50', '$-0.0012', '2029-10-01', '1 prompt', '2000 prompts'])
  vi.stubGlobal('process', { ...process, stdout: { isTTY: true } })
  const usd = (amount: number, digits: number): string =>
    new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits,
    }).format(amount)
  expect(written()).toEqual([
    (12_345.7).toLocaleString(),
    usd(1_234.5, 2),
    usd(-0.0012, 4),
    new Date('2029-10-01T13:00:00Z').toLocaleDateString(undefined, { dateStyle: 'medium' }),
    '1 prompt',
    `${(2_000).toLocaleString()} prompts`,
  ])
})
