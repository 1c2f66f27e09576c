import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastCostMs } from '../../../tests/support/least-cost.ts'
import { HeadReader } from './head-reader.ts'
import { readHead } from './read-head.ts'

const HEAD_BYTES_MAX = 16 * 1024
const START = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n'
/** How much slower the worst head may be than a common one of the same size. A quadratic parser is thousands of times slower. */
const FACTOR_MAX = 40

const fillWith = (unit: string): string =>
  unit.repeat(Math.ceil(HEAD_BYTES_MAX / unit.length)).slice(0, HEAD_BYTES_MAX)
const COMMON = `${START}x-text: ${fillWith('some words of a header ')}`

/** Names and values that can make a parser backtrack. */
const UNITS = [
  ' ',
  '\t',
  ' \t',
  'a',
  'a ',
  ' a',
  '!',
  ':',
  ': ',
  'a:',
  'a: b\r\n',
  ',',
  ', ',
  '\r',
  '\n',
  '\r\n',
  '\r\n ',
  '\u00e9',
]
const STARTS = ['', 'x', 'x:', 'x: ', 'x: a', 'content-length:', 'connection: ', ' ']
const ENDS = ['', ' ', 'a', '\u00e9', '\u0000', '\r', ':', ' a', '\t']
const crafted = UNITS.flatMap((unit) =>
  STARTS.flatMap((start) => ENDS.map((end) => START + start + fillWith(unit) + end)),
)
const random = fc.sample(
  fc
    .tuple(
      fc.constantFrom(...STARTS),
      fc.array(fc.tuple(fc.constantFrom(...UNITS, 'GET / HTTP/1.1'), fc.nat(2_000)), {
        minLength: 1,
        maxLength: 20,
      }),
      fc.constantFrom(...ENDS),
    )
    .map(([start, runs, end]) => {
      const middle = runs.map(([unit, count]) => unit.repeat(count)).join('')
      return START + start + middle.slice(0, HEAD_BYTES_MAX) + end
    }),
  200,
)
/** As many fields as fit, all with different names. */
const manyFields = `${START}${Array.from({ length: 2_000 }, (_, index) => `${index.toString(36)}:`).join('\r\n')}`

describe('the most expensive head of the maximum size', () => {
  test('costs a small multiple of a common one', () => {
    const commonMs = leastCostMs(() => readHead(COMMON), 50)
    const heads = [...crafted, ...random, manyFields]
    const costs = heads.map((head) => ({ head, ms: leastCostMs(() => readHead(head)) }))
    const dearest = costs.toSorted((a, b) => b.ms - a.ms)[0]
    expect(heads.length).toBeGreaterThan(1_000)
    expect({ head: dearest?.head.slice(0, 120), isDear: (dearest?.ms ?? 0) > commonMs * FACTOR_MAX }).toEqual(
      {
        head: dearest?.head.slice(0, 120),
        isDear: false,
      },
    )
  })

  test('costs no more after another one on the same connection', () => {
    const read = (head: string, next: string) => () => {
      const reader = new HeadReader()
      reader.read(START + 'x-text: a')
      reader.read(head)
      reader.read(next)
    }
    const commonMs = leastCostMs(read(COMMON, `${COMMON}s`), 50)
    for (const unit of UNITS) {
      const head = `${START}x-text: ${fillWith(unit)}`
      expect(leastCostMs(read(head, `${head}\u00e9`)), unit).toBeLessThan(commonMs * FACTOR_MAX)
    }
  })
})
