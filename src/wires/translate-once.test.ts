import { expect, test } from 'vitest'
import type { MessagesRequest } from './anthropic-messages/messages-request.ts'
import { toChatRequest } from './anthropic-messages/to-chat-request.ts'
import { translateOnce } from './translate-once.ts'

test('a request is translated once, and another one with the same content by itself', () => {
  let count = 0
  const translate = translateOnce(({ name }: { name: string }) => {
    count += 1
    return { translated: name }
  })
  const request = { name: 'a' }
  expect(translate(request)).toBe(translate(request))
  expect(translate({ name: 'a' })).toEqual({ translated: 'a' })
  expect(count).toBe(2)
})

test('an estimate and the attempts of a message share its translation', () => {
  const request: MessagesRequest = {
    model: 'm',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
  }
  const first = toChatRequest(request)
  expect(toChatRequest(request)).toBe(first)
  expect(first.text).toBe(first.text)
})
