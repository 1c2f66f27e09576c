import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editJsonObject } from './edit-json-object.ts'

const edit = (text: string, edits: Record<string, string | null>) =>
  editJsonObject(text, new Map(Object.entries(edits)))

describe('editJsonObject', () => {
  it('replaces a value and keeps all other bytes', () => {
    expect(edit('{ "model" : "a",  "x": 1.50 }', { model: '"b"' })).toBe('{"model":"b","x": 1.50}')
  })

  it('adds missing members and removes those set to null', () => {
    expect(edit('{"think":true,"n":1}', { think: null, stream: 'true' })).toBe('{"n":1,"stream":true}')
    expect(edit('{"think":true}', { think: null })).toBe('{}')
    expect(edit('{}', { a: '1' })).toBe('{"a":1}')
  })

  it('does not match inside strings or nested values', () => {
    const text = '{"a":"\\"model\\":\\\\","b":{"model":"inner"},"model":"outer"}'
    expect(JSON.parse(edit(text, { model: '"new"' }) ?? '')).toEqual({
      a: '"model":\\',
      b: { model: 'inner' },
      model: 'new',
    })
  })

  it('refuses an object that readers could interpret in two ways', () => {
    expect(edit('{"model":"cheap","model":"dear"}', { model: '"x"' })).toBeNull()
    expect(edit('{"mod\\u0065l":"dear"}', { model: '"x"' })).toBeNull()
    expect(edit('[1]', { model: '"x"' })).toBeNull()
  })

  it('agrees with parse, change and stringify on every object', () => {
    const plainKey = fc
      .string({ unit: 'grapheme' })
      .filter((key) => JSON.stringify(key) === `"${key}"` && key !== '__proto__')
    fc.assert(
      fc.property(
        fc.dictionary(plainKey, fc.jsonValue(), { noNullPrototype: true }),
        fc.dictionary(plainKey, fc.option(fc.jsonValue()), { noNullPrototype: true }),
        fc.constantFrom(undefined, 2),
        (object, changes, indent) => {
          const edits = Object.fromEntries(
            Object.entries(changes).map(([key, value]) => [
              key,
              value === null ? null : JSON.stringify(value),
            ]),
          )
          const expected: Record<string, unknown> = { ...object, ...changes }
          for (const [key, value] of Object.entries(changes)) if (value === null) delete expected[key]
          const edited = edit(JSON.stringify(object, null, indent), edits)
          expect(JSON.parse(edited ?? 'null')).toEqual(JSON.parse(JSON.stringify(expected)))
        },
      ),
      { numRuns: 1000 },
    )
  })
})
