import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastCostMs } from '../../tests/support/least-cost.ts'
import { JSON_DEPTH_MAX, JsonTooDeep, parseJson } from './parse-json.ts'

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
        else expect(() => parseJson(json)).toThrow(JsonTooDeep)
      }),
    )
  })

  test('refuses a text that never closes what it opens', () => {
    expect(() => parseJson('['.repeat(5_000_000))).toThrow(JsonTooDeep)
    expect(() => parseJson('{"a":'.repeat(1_000_000))).toThrow(JsonTooDeep)
  })

  test('takes linear time', () => {
    const units = ['"', '\\', '\\"', '"a"', '[]', '[],', '{"a":1},', '"\\\\",', 'a', ' ']
    for (const unit of units) {
      const cost = (length: number): number => {
        const text = nest(JSON_DEPTH_MAX, '[],'.repeat(2) + unit.repeat(Math.ceil(length / unit.length)))
        return leastCostMs(() => {
          try {
            parseJson(text)
          } catch {
            // Not JSON; detecting this must take linear time too.
          }
        })
      }
      cost(20_000)
      expect(cost(2_000_000), unit).toBeLessThan(200 * Math.max(cost(100_000), 0.05))
    }
  })
})
