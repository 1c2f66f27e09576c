import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isStorable, isStorableJson, toStorable, toStorableJson } from './storable-text.ts'

describe('text that the database can store', () => {
  test.each([
    ['plain', true],
    ['a pair \u{1F600}', true],
    ['a zero \0', false],
    ['half a pair \ud83d', false],
    ['the other half \ude00', false],
  ])('%j', (text, isKept) => {
    expect(isStorable(text)).toBe(isKept)
  })

  test('is recognised in a JSON text by its strings', () => {
    const character = fc.oneof(
      fc.constantFrom('\0', '\ud83d', '\ude00', '\\', '"', 'u', '0', '\n'),
      fc.string({ unit: 'binary', maxLength: 2 }),
    )
    const text = fc.array(character, { maxLength: 8 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, fc.boolean(), (value, name, isEscaped) => {
        const plain = JSON.stringify({ [name]: [value] })
        const json = isEscaped ? escapeAll(plain) : plain
        expect(isStorableJson(json)).toBe(isStorable(value) && isStorable(name))
      }),
      { numRuns: 500 },
    )
  })
})

describe('text that is made storable', () => {
  test('is unchanged except for characters that cannot be stored', () => {
    const text = fc.string({ unit: fc.constantFrom('\0', '\ud83d', '\ude00', '\\', 'u0000', '"', 'a') })
    fc.assert(
      fc.property(text, text, (value, name) => {
        expect(toStorable(value)).toBe(value.replaceAll('\0', '\ufffd').toWellFormed())
        const json = toStorableJson({ [name]: [value] })
        expect(isStorableJson(json)).toBe(true)
        expect(JSON.parse(json)).toEqual({ [toStorable(name)]: [toStorable(value)] })
      }),
      { numRuns: 500 },
    )
  })
})

/** Writes every non-ASCII character as an escape. */
function escapeAll(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase(),
  )
}
