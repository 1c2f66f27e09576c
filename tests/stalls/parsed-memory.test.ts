import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { parseBody, parseLargeBody, isLargeText } from '../../src/http/bodies/parse-body.ts'
import { WORST_BODIES } from './worst-bodies.ts'

const KIBIBYTE = 1024
/** However short the text is. */
const BASE_BYTES = 2 * KIBIBYTE * KIBIBYTE
const FACTOR_MAX = 10

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

function heapBytes(): number {
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

test('no body takes more than ten times its size in memory', async () => {
  const large: string[] = []
  let parsed = 0
  for (const [shape, make] of Object.entries(WORST_BODIES))
    for (const kibibytes of [250, 800]) {
      const text = Buffer.from(make(kibibytes * KIBIBYTE)).toString()
      const before = heapBytes()
      const kept: unknown[] = []
      try {
        kept.push(isLargeText(text) ? await parseLargeBody(text) : parseBody(text))
        parsed += 1
      } catch {
        // Refused.
      }
      const factor = (heapBytes() - before - BASE_BYTES) / text.length
      if (factor > FACTOR_MAX) large.push(`${shape} of ${kibibytes} KiB: ${factor.toFixed(1)} times`)
      expect(kept.length).toBeLessThan(2)
    }
  expect(parsed).toBeGreaterThan(10)
  expect(large).toEqual([])
})
