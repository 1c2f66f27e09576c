import { expect, test } from 'vitest'
import { calendarRange, type CalendarWindow } from './calendar-range.ts'

const NOW = '2026-11-18T23:30:00.000Z'

test.each<[CalendarWindow, string, string, string, string]>([
  ['today', 'UTC', NOW, '2026-11-18T00:00:00.000Z', NOW],
  ['today', 'Europe/Zurich', NOW, '2026-11-18T23:00:00.000Z', NOW],
  ['yesterday', 'UTC', NOW, '2026-11-17T00:00:00.000Z', '2026-11-18T00:00:00.000Z'],
  ['yesterday', 'Asia/Kolkata', NOW, '2026-11-17T18:30:00.000Z', '2026-11-18T18:30:00.000Z'],
  ['this_week', 'UTC', NOW, '2026-11-16T00:00:00.000Z', NOW],
  ['this_week', 'UTC', '2026-11-22T12:00:00.000Z', '2026-11-16T00:00:00.000Z', '2026-11-22T12:00:00.000Z'],
  [
    'this_month',
    'America/New_York',
    '2026-11-01T02:00:00.000Z',
    '2026-10-01T04:00:00.000Z',
    '2026-11-01T02:00:00.000Z',
  ],
  ['last_month', 'UTC', '2026-01-31T10:00:00.000Z', '2025-12-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  // A month with a change of the clocks has an hour less or more.
  ['last_month', 'Europe/Zurich', NOW, '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
  // Clocks went from 0:00 to 1:00, so that the day began at 1:00.
  [
    'today',
    'America/Sao_Paulo',
    '2018-11-04T12:00:00.000Z',
    '2018-11-04T03:00:00.000Z',
    '2018-11-04T12:00:00.000Z',
  ],
  // Clocks went from 1:00 to 0:00, so that midnight was twice.
  [
    'today',
    'America/Havana',
    '2026-11-01T12:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
    '2026-11-01T12:00:00.000Z',
  ],
  // A day that began at 23:00 of UTC with 25 hours.
  [
    'yesterday',
    'Europe/Zurich',
    '2026-10-26T10:00:00.000Z',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ],
])('%s in %s at %s', (window, zone, now, from, to) => {
  const { fromMs, toMs, isUntilNow } = calendarRange(window, zone, Date.parse(now))
  expect([new Date(fromMs).toISOString(), new Date(toMs).toISOString()]).toEqual([from, to])
  expect(isUntilNow).toBe(to === now)
})

test('a day is not empty at its first instant, and an unknown zone is refused', () => {
  const midnight = Date.parse('2026-11-18T00:00:00Z')
  expect(calendarRange('today', 'UTC', midnight)).toEqual({
    fromMs: midnight,
    toMs: midnight + 1,
    isUntilNow: true,
  })
  expect(() => calendarRange('today', 'Mars/Olympus', midnight)).toThrow(/time_zone/)
})
