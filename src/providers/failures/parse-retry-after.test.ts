import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from './parse-retry-after.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['0.2', 1],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['999999999', 3600],
  ])('reads %j as %i seconds', (header, seconds) => {
    expect(parseRetryAfter(header, NOW_MS)).toBe(seconds)
  })

  it.each([undefined, '', 'soon', '-1x', ['1', '2']])('ignores %j', (header) => {
    expect(parseRetryAfter(header, NOW_MS)).toBeNull()
  })
})
