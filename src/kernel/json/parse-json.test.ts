import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LINEAR_MS_MAX, LONG_TEXT_LENGTH } from '../../../tests/support/linear-work.ts'
import { JSON_DEPTH_MAX, JsonExcess, parseJson } from './parse-json.ts'

const nest = (depth: number, core: string, open = '[', close = ']'): string =>
  open.repeat(depth) + core + close.repeat(depth)

describe('parseJson', () => {
  test('accepts what JSON.parse accepts, and refuses what it refuses', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ maxDepth: 8 }), fc.string()), (text) => {
        const read = (parse: (text: string) => unknown): unknown => {
          try {
            return { value: parse(text) }
          } catch (error) {
            return error instanceof SyntaxError
          }
        }
        expect(read(parseJson)).toEqual(read(JSON.parse))
      }),
    )
  })

  test('accepts nesting up to the limit and no deeper, whatever strings contain', () => {
    const bracket = fc.constantFrom('[', '{', ']', '}', '"', '\\', 'a', '\\"', '\u00e9')
    const text = fc.array(bracket, { maxLength: 300 }).map((parts) => JSON.stringify(parts.join('')))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), text, fc.boolean(), (depth, core, isObject) => {
        const json = isObject ? nest(depth, core, '{"a":', '}') : nest(depth, core)
        const flat = `[${core},${Array.from({ length: 120 }, () => '[{}]').join(',')}]`
        expect(parseJson(flat)).toEqual(JSON.parse(flat))
        if (depth <= JSON_DEPTH_MAX) expect(parseJson(json)).toEqual(JSON.parse(json))
        else expect(() => parseJson(json)).toThrow(JsonExcess)
      }),
    )
  })

  test('refuses a text that never closes what it opens', () => {
    expect(() => parseJson('['.repeat(5_000_000))).toThrow(JsonExcess)
    expect(() => parseJson('{"a":'.repeat(1_000_000))).toThrow(JsonExcess)
  })

  test('refuses more values than its size explains, and more members of one object than anybody needs', () => {
    const list = (count: number, item: string): string => `[${`${item},`.repeat(count)}0]`
    expect(() => parseJson(list(40_000, '{}'))).toThrow('too many')
    expect(() => parseJson(list(40_000, '[]'))).toThrow('too many')
    expect(() => parseJson(list(8_000_001, '1'))).toThrow('too many')
    expect(parseJson(list(400_000, '1'))).toHaveLength(400_001)
    expect(parseJson(list(20_000, '{"type":"text","text":"Hi"}'))).toHaveLength(20_001)
    const members = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"name_${index}":0`).join()}}`
    expect(parseJson(members(10_000))).toHaveProperty('name_9999')
    expect(() => parseJson(members(10_001))).toThrow('members')
    expect(() => parseJson(`[${members(9_000)},${members(10_001)}]`)).toThrow('members')
  })

  test.each(['"', '\\', '\\"', '"a"', '[]', '[],', '{"a":1},', '"\\\\",', 'a', ' '])(
    'takes time in proportion to the length of %j, also if it is not JSON',
    (unit) => {
      const units = unit.repeat(Math.ceil(LONG_TEXT_LENGTH / unit.length))
      expect(() => parseJson(nest(JSON_DEPTH_MAX, `[],[],${units}`))).toThrow(SyntaxError)
    },
    LINEAR_MS_MAX,
  )
})
