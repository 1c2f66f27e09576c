import { expect, test } from 'vitest'
import { formatRelative } from '../../cli/output/format-time.ts'

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
