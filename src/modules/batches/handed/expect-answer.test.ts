import { expect, test } from 'vitest'
import { expectAnswer } from './expect-answer.ts'

test.each([
  ['{"max_tokens":1000}', 6_048],
  ['{"generationConfig":{"maxOutputTokens":1000}}', 6_048],
  ['{"messages":[]}', 204_800],
  // Text of a client does not count as a member.
  [JSON.stringify({ messages: '"max_tokens":5' }), 204_800],
])('the answer to %s may have %i bytes', (body, bytes) => {
  expect(expectAnswer(body)).toBe(bytes)
})
