import { expect, test } from 'vitest'
import { pickCoding } from './pick-coding.ts'

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5 , identity', 'gzip'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['br; q=0, gzip ; q=0.000', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['br;q=0, *', 'gzip'],
  ['brotli, xgzip', 'identity'],
  ['gzip;q=nonsense', 'identity'],
  [`${' '.repeat(500)}gzip`, 'identity'],
])('Accept-Encoding %j gives %s', (header, coding) => {
  expect(pickCoding(header)).toBe(coding)
})
