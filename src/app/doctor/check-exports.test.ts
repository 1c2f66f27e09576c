import { expect, test } from 'vitest'
import type { SinkState } from '../../modules/exports/exports.ts'
import { checkExports } from './check-exports.ts'

const NOW_MS = Date.parse('2026-11-20T12:00:00Z')
const HOUR_MS = 3_600_000
const expected = { names: ['lake'], nowMs: NOW_MS, isPaused: false }
const healthy: SinkState = {
  name: 'lake',
  isWorkedOn: true,
  waiting: 5,
  waitedMs: 4_000,
  sent: 1_000,
  skipped: 0,
  refused: 0,
  failures: 0,
  lastError: null,
  failedAtMs: null,
  confirmedAtMs: NOW_MS - 1_000,
  createdAtMs: NOW_MS - HOUR_MS,
  seenAtMs: NOW_MS,
}

test.each<[string, Partial<SinkState>, string[]]>([
  ['is well', {}, []],
  ['is behind', { waitedMs: HOUR_MS }, ['export_behind']],
  ['fails', { failures: 2, lastError: 'the receiver answered with status 401' }, ['export_failing']],
  ['fails for long', { failures: 90, waitedMs: HOUR_MS, lastError: 'away' }, ['export_behind']],
  ['has no worker', { isWorkedOn: false }, ['export_without_worker']],
  ['was just added', { isWorkedOn: false, createdAtMs: NOW_MS - 1_000 }, []],
  ['missed requests', { skipped: 12 }, ['export_skipped']],
])('a sink that %s', (_, state, codes) => {
  const findings = checkExports([{ ...healthy, ...state }], expected)
  expect(findings.map(({ code }) => code)).toEqual(codes)
  for (const { message, mend, subject } of findings) {
    expect(subject).toBe('lake')
    expect(message.length).toBeGreaterThan(10)
    expect(mend.length).toBeGreaterThan(10)
  }
})

test('a sink of the settings that never began is found, but not in a restored copy', () => {
  expect(checkExports([], expected).map(({ code }) => code)).toEqual(['export_not_begun'])
  expect(checkExports([], { ...expected, isPaused: true })).toEqual([])
})
