import { expect, test } from 'vitest'
import { endOfDay, startOfDay } from '../../console/src/api/days.ts'
import { formatCountOf, formatShortCount } from '../../console/src/ui/format/format-count.ts'
import { describeChange } from '../../console/src/ui/format/describe-change.ts'
import { formatExactUsd, formatUsd } from '../../console/src/ui/format/format-usd.ts'

/** As the language of this machine writes it, so that the test holds in any. */
const dollars = (amount: string, digits: number): string =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
  }).format(amount as `${number}`)

test.each([
  [0, '0', 2],
  [12.4, '12.40', 2],
  [-0.0031, '-0.0031', 4],
  [0.000000001, '0.000000001', 9],
])('an amount of %d has the digits that tell it from zero', (amount, text, digits) => {
  expect(formatUsd(amount)).toBe(
    new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(text as `${number}`),
  )
})

test('whole nano-dollars lose no digit, however many there are', () => {
  const written = formatExactUsd('-123456789012123456789')
  expect(written.replaceAll(/\D/g, '')).toBe('123456789012123456789')
  expect(formatExactUsd('12400000000')).toBe(dollars('12.40', 2))
})

test('words follow their number', () => {
  expect(formatCountOf(1, 'task')).toBe('1 task')
  expect(formatCountOf(0, 'task')).toBe('0 tasks')
  expect(formatCountOf(2, 'process', 'processes')).toBe('2 processes')
  expect(formatShortCount(9_999)).toBe(new Intl.NumberFormat().format(9_999))
})

test.each([
  ['2026-11-17', 'UTC', '2026-11-17T00:00:00.000Z', '2026-11-18T00:00:00.000Z'],
  ['2026-11-17', 'Europe/Zurich', '2026-11-16T23:00:00.000Z', '2026-11-17T23:00:00.000Z'],
  ['2026-11-17', 'Asia/Kathmandu', '2026-11-16T18:15:00.000Z', '2026-11-17T18:15:00.000Z'],
  // The clocks go back: this day has 25 hours.
  ['2026-10-25', 'Europe/Zurich', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  // The clocks go forward: this day has 23 hours.
  ['2026-03-08', 'America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
])('the day %s in %s is from %s to %s', (day, zone, from, to) => {
  expect([startOfDay(day, zone), endOfDay(day, zone)]).toEqual([from, to])
})

test('a change that is too small to be told is none', () => {
  expect([0, 0.0004, -0.0004].map((change) => describeChange(change))).toEqual([
    'As much as before',
    'About as much as before',
    'About as much as before',
  ])
  expect(describeChange(0.5)).toMatch(/more than before$/)
})

test.each([
  [12_345, 'K'],
  [999_999, 'M'],
  [1_500_000, 'M'],
  [2_000_000_000, 'B'],
])('a large count has the same unit in every language: %d', (count, unit) => {
  expect(formatShortCount(count)).toMatch(new RegExp(`^[\\d.,\\s]+${unit}$`))
})
