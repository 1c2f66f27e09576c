import { describe, expect, test } from 'vitest'
import { checkExpected, scoreOutput } from './score-output.ts'

describe('what is expected', () => {
  test.each([
    ['a text is compared whole, but for space around it', 'Paris', ' Paris\n', 1],
    ['a text that is only part of the answer does not do', 'Paris', 'Paris, France', 0],
    ['any other JSON is compared as JSON', { a: [1, 2] }, '{"a":[1,2]}', 1],
    [
      'members may come in any order, and in a fenced block',
      { a: 1, b: 2 },
      '```json\n{"b":2,"a":1}\n```',
      1,
    ],
    ['what is no JSON is not equal to any', { a: 1 }, 'a is 1', 0],
    ['a number is JSON', 4, '4', 1],
    ['a text may be contained in any case', { type: 'contains', value: 'PARIS' }, 'It is Paris.', 1],
    ['a pattern is looked for', { type: 'regex', value: '^it .*paris', flags: 'is' }, 'It is\nParis', 1],
    ['a judge says so later', { type: 'judge', value: 'polite' }, 'Please.', null],
    ['nothing is scored where nothing is expected', null, 'anything', null],
  ])('%s', async (_, expected, output, score) => {
    expect(await scoreOutput(expected, output)).toBe(score)
  })

  test('a pattern that never ends is given up, others go on, and nobody waits for it twice', async () => {
    const endless = { type: 'regex', value: '^(\\w+\\s?)*!$' }
    const text = 'word '.repeat(40)
    const [given, other] = await Promise.all([
      scoreOutput(endless, text),
      scoreOutput({ type: 'regex', value: 'word' }, text),
    ])
    expect([given, other]).toEqual([null, 1])
    expect(await scoreOutput(endless, text)).toBeNull()
  })

  test.each([
    ['a pattern that is none', { type: 'regex', value: '(' }],
    ['a pattern that is too long', { type: 'regex', value: 'a'.repeat(1001) }],
    ['flags that make no sense', { type: 'regex', value: 'a', flags: 'g' }],
    ['a text that is none', { type: 'contains', value: 4 }],
  ])('%s is refused at once', (_, expected) => {
    expect(() => checkExpected(expected, 'prompts.0.expected')).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
  })
})
