import { property, assert, dictionary, jsonValue, string, constantFrom } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasJsonMember, NotJson, setJsonString } from '../../../cli/connect/edit/edit-json.ts'

describe('setJsonString', () => {
  it('sets the member and nothing else, however the object is written', () => {
    const objects = dictionary(string(), jsonValue())
    assert(
      property(objects, string(), string(), constantFrom(0, 2, '\t'), (object, key, value, space) => {
        const { ['env']: _, ...rest } = object
        const edited = JSON.parse(setJsonString(JSON.stringify(rest, null, space), ['env', key], value))
        expect(edited).toEqual({
          ...JSON.parse(JSON.stringify(rest)),
          env: JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`),
        })
      }),
    )
  })

  it('keeps comments, trailing commas, line ends and indentation', () => {
    const text =
      '\uFEFF// mine\r\n{\r\n\t"a": [1, /* } */ 2,],\r\n\t"env": {\r\n\t\t"B": "x", // b\r\n\t},\r\n}\r\n'
    expect(setJsonString(text, ['env', 'A'], 'y')).toBe(
      text.replace('"env": {\r\n', '"env": {\r\n\t\t"A": "y",\r\n'),
    )
    expect(setJsonString(text, ['env', 'B'], 'y')).toBe(text.replace('"B": "x"', '"B": "y"'))
  })

  it('makes an object of an empty file, and keeps the only comment of an empty object', () => {
    expect(setJsonString('', ['env', 'A'], 'x')).toBe('{\n  "env": {\n    "A": "x"\n  }\n}\n')
    expect(setJsonString('{ /* none */ }', ['A'], 'x')).toBe('{\n  "A": "x" /* none */\n}')
  })

  it.each([
    '[]',
    '{',
    '{"a" 1}',
    '{"a": 1} x',
    '{"env": 3}',
    '{"a": oops}',
    '{"a": 1 "b": 2}',
    '/* {}',
    `{"a": ${'['.repeat(5_000)}}`,
    `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    '{"env": {"A": "1"}, "env": {"A": "2"}}',
    '{"env": {"A": "1", "A": "2"}}',
  ])('refuses %j', (text) => {
    expect(() => setJsonString(text, ['env', 'A'], 'x')).toThrow(NotJson)
  })
})

it('hasJsonMember finds members by their path', () => {
  expect(hasJsonMember('{"env": {"A": "x"}}', ['env', 'A'])).toBe(true)
  expect(hasJsonMember('{"env": {"A": "x"}}', ['env', 'B'])).toBe(false)
  expect(hasJsonMember('{"env": 1}', ['env', 'B'])).toBe(false)
  expect(hasJsonMember('', ['env'])).toBe(false)
})
