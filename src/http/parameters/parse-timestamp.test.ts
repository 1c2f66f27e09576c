import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTimestamp } from './parse-timestamp.ts'

test('every timestamp that the gateway writes is read back as the same time', () => {
  const years = {
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  }
  fc.assert(
    fc.property(fc.date(years), (date) => {
      expect(parseTimestamp('expires_at', date.toISOString())).toBe(date.getTime())
    }),
  )
})

test('an offset is taken into account', () => {
  expect(parseTimestamp('expires_at', '2030-01-31t12:00:00+02:00')).toBe(Date.UTC(2030, 0, 31, 10))
})

test('a date means its start in UTC', () => {
  expect(parseTimestamp('from', '2026-11-01')).toBe(Date.UTC(2026, 10, 1))
})

test('a value that is neither a date nor a full time with a zone is refused by name', () => {
  for (const text of [
    '',
    'tomorrow',
    '2030-02-30',
    '2030-13-01',
    '2030-01-31T12:00:00',
    '2030-13-31T12:00:00Z',
    '1900000000',
  ]) {
    expect(() => parseTimestamp('expires_at', text), text).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'expires_at' }),
    )
  }
})
