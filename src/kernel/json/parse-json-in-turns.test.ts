import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonExcess, parseJson } from './parse-json.ts'
import { parseJsonInTurns } from './parse-json-in-turns.ts'

const outcomeOf = async (parse: () => unknown): Promise<unknown> => {
  try {
    return { value: await parse() }
  } catch (error) {
    return error instanceof JsonExcess ? error.limit : error instanceof SyntaxError
  }
}

const expectSame = async (text: string): Promise<void> => {
  const inTurns = await outcomeOf(async () => (await parseJsonInTurns(text)).value)
  expect(inTurns).toStrictEqual(await outcomeOf(() => parseJson(text)))
}

const MARKS = ['{', '}', '[', ']', ':', ',', '"', '"a"', '"__proto__"', ' ', '\n', '\t', '\u00a0']
const ESCAPES = ['\\', '\\"', '\\u00e9', '\\ud83d', '\u0000', '\u2028']
const SCALARS = ['1', '-', '0', '01', '.5', '1.5e+3', '1e400', 'true', 'false', 'null', 'nul']

/** Pieces of JSON in any order, most of which is invalid. */
const pieces = fc
  .array(fc.constantFrom(...MARKS, ...ESCAPES, ...SCALARS), { maxLength: 20 })
  .map((parts) => parts.join(''))

describe('parseJsonInTurns', () => {
  test('accepts and refuses what parseJson does, with the same value', async () => {
    const spaced = fc.jsonValue().map((value) => ` ${JSON.stringify(value, null, 2)} `)
    await fc.assert(fc.asyncProperty(fc.oneof(fc.json(), spaced, pieces, fc.string()), expectSame), {
      numRuns: 500,
    })
  })

  test('keeps the order of members, repeated names and __proto__ as JSON.parse does', async () => {
    const text = '{"b":1,"a":{"__proto__":{"x":1},"2":0,"1":0},"b":2,"":[{}]}'
    const { value } = await parseJsonInTurns(text)
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
    await expectSame(text)
  })

  test('decodes long texts whole, wherever they are cut', async () => {
    const units = ['a', '\\n', '\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', '😀', '\\\\u', '\\\\\\"']
    for (const unit of units)
      for (let shift = 0; shift < 6; shift += 1) {
        const text = `{"a":["${'x'.repeat(shift)}${unit.repeat(Math.ceil(270_000 / unit.length))}"]}`
        const { value } = await parseJsonInTurns(text)
        expect(JSON.stringify(value) === JSON.stringify(JSON.parse(text)), unit).toBe(true)
      }
    await expectSame(`"${'x'.repeat(600_000)}\n"`)
    await expectSame(`"${'x'.repeat(600_000)}`)
  })

  test('refuses more values than later steps can read at once', async () => {
    const many = `[${'{"a text":"of some length"},'.repeat(50_001)}0]`
    await expect(parseJsonInTurns(many)).rejects.toThrow('too many')
    await expect(parseJsonInTurns(`[${'1,'.repeat(500_001)}0]`)).rejects.toThrow('too many')
    await expect(parseJsonInTurns(`[${' '.repeat(70_000)}0]`)).rejects.toThrow('spaces')
    await expect(parseJsonInTurns('1'.repeat(70_000))).rejects.toThrow('number')
  })

  test('has the other limits of parseJson', async () => {
    const texts = [
      '['.repeat(101) + ']'.repeat(101),
      `[${'{},'.repeat(40_000)}0]`,
      `{${Array.from({ length: 10_001 }, (_, index) => `"name_${index}":0`).join()}}`,
    ]
    for (const text of texts) await expectSame(text)
  })

  test('lets other work run in between', async () => {
    let turns = 0
    const count = setInterval(() => (turns += 1), 1)
    await parseJsonInTurns(`[${'"a text",'.repeat(400_000)}0]`)
    clearInterval(count)
    expect(turns).toBeGreaterThan(2)
  })

  test('names the place of a text that is refused', async () => {
    const check = (text: string, path: () => string[]): void => {
      if (text === 'bad') throw new Error(path().join('.'))
    }
    await expect(parseJsonInTurns('{"a":[1,{"b":"bad"}]}', { checkText: check })).rejects.toThrow('a.1.b')
    await expect(parseJsonInTurns('{"a":[{"bad":1}]}', { checkText: check })).rejects.toThrow('a.0')
  })

  test('tells a member that occurs twice in one object', async () => {
    const repeatedIn = async (text: string) => (await parseJsonInTurns(text)).repeatedMember
    expect(await repeatedIn('{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}')).toBe(null)
    expect(await repeatedIn('{"a":1,"b":{"c":1,"d":2,"\\u0063":3}}')).toBe('c')
    expect(await repeatedIn('{"__proto__":1,"__proto__":2}')).toBe('__proto__')
    expect(await repeatedIn('{"toString":1}')).toBe(null)
  })
})
