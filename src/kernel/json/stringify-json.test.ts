import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringifyJson } from './stringify-json.ts'

const DEPTH = 20_000

test('a value of any depth is written as it was read', () => {
  const text = `${'{"a":['.repeat(DEPTH)}1,"b",null${']}'.repeat(DEPTH)}`
  expect(stringifyJson(JSON.parse(text)) === text).toBe(true)
})

test('shallow values around a deep one are written as by JSON.stringify', () => {
  const deep = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const whole = stringifyJson([value, JSON.parse(deep)])
      expect(whole === `[${JSON.stringify(value)},${deep}]`).toBe(true)
    }),
    { numRuns: 5 },
  )
})
