import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LINEAR_MS_MAX, LONG_TEXT_LENGTH } from '../../../tests/support/linear-work.ts'
import { HeadReader } from './head-reader.ts'
import { readHead } from './read-head.ts'

const START = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n'

/** Much longer than a head may be, so that a parser whose time is not in proportion to the length does not end. */
const fillWith = (unit: string): string =>
  unit.repeat(Math.ceil(LONG_TEXT_LENGTH / unit.length)).slice(0, LONG_TEXT_LENGTH)

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
const random = fc.sample(
  fc
    .tuple(
      fc.constantFrom(...STARTS),
      fc.array(fc.tuple(fc.constantFrom(...UNITS, 'GET / HTTP/1.1'), fc.nat(20_000)), {
        minLength: 1,
        maxLength: 20,
      }),
      fc.constantFrom(...ENDS),
    )
    .map(([start, runs, end]) => {
      const middle = runs.map(([unit, count]) => unit.repeat(count)).join('')
      return START + start + middle.slice(0, LONG_TEXT_LENGTH) + end
    }),
  200,
)
/** As many fields as fit, all with different names. */
const manyFields = `${START}${Array.from({ length: 20_000 }, (_, index) => `${index.toString(36)}:`).join('\r\n')}`

describe('a head is read in proportion to its length', () => {
  test.each(UNITS)(
    'if it is full of %j, whatever is before and behind',
    (unit) => {
      const text = fillWith(unit)
      for (const start of STARTS)
        for (const end of ENDS) expect(() => readHead(START + start + text + end)).not.toThrow()
    },
    LINEAR_MS_MAX,
  )

  test(
    'if it is a mixture of such texts, or has very many fields',
    () => {
      for (const head of [...random, manyFields]) expect(() => readHead(head)).not.toThrow()
    },
    LINEAR_MS_MAX,
  )

  test.each(UNITS)(
    'if another head full of %j came before it on the same connection',
    (unit) => {
      const head = `${START}x-text: ${fillWith(unit)}`
      const reader = new HeadReader()
      reader.read(`${START}x-text: a`)
      reader.read(head)
      expect(() => reader.read(`${head}\u00e9`)).not.toThrow()
    },
    LINEAR_MS_MAX,
  )
})
