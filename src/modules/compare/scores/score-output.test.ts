import { describe, expect, test } from 'vitest'
import { checkExpected, scoreOutput } from './score-output.ts'

describe('expected answers', () => {
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
    expect(await scoreOutput(expected, output, 'an account')).toBe(score)
  })

  test('a pattern that never ends is given up, others continue, and it is not tried again', async () => {
    const endless = { type: 'regex', value: '^(\\w+\\s?)*!$' }
    const text = 'word '.repeat(40)
    const [given, other] = await Promise.all([
      scoreOutput(endless, text, 'an account'),
      scoreOutput({ type: 'regex', value: 'word' }, text, 'an account'),
    ])
    expect([given, other]).toEqual([null, 1])
    expect(await scoreOutput(endless, text, 'an account')).toBeNull()
  })

  test('a pattern that was too slow for one account is still tried for another', async () => {
    const pattern = { type: 'regex', value: '^(\\w+\\s?)*[!.]$' }
    expect(await scoreOutput(pattern, 'word '.repeat(40), 'the slow one')).toBeNull()
    expect(await scoreOutput(pattern, 'word.', 'the slow one')).toBeNull()
    expect(await scoreOutput(pattern, 'word.', 'another')).toBe(1)
  })

  // With quadratic work, each blocks the event loop for 1 to 20 seconds; with linear work, for milliseconds.
  test.each([
    ['a fence and 100,000 lines', { a: 1 }, `\`\`\`json${'\n'.repeat(100_000)}x`, 0],
    [
      'a fence, 100,000 lines and the answer',
      { a: 1 },
      `\`\`\`json${'\n'.repeat(100_000)}{"a":1}\n\`\`\``,
      1,
    ],
    ['100,000 brackets', { a: 1 }, '['.repeat(100_000), 0],
    [
      'a long text that is nearly in it everywhere',
      { type: 'contains', value: `${'a'.repeat(200_000)}b${'A'.repeat(200_000)}` },
      'a'.repeat(1_000_000),
      0,
    ],
    ['200,000 spaces', 'x', `${' '.repeat(200_000)}x`, 1],
  ])('%s do not delay other requests', async (_, expected, output, score) => {
    expect(await scoreOutput(expected, output, 'an account')).toBe(score)
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
