import { assert, property, string, uuid } from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBusMessage, encodeBusMessage, PAYLOAD_BYTES_MAX } from './bus-message.ts'

const payloads = string({ unit: 'binary', maxLength: 2_000 }).filter(
  (text) => !text.includes('\0') && Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX,
)

test('an encoded message is decoded to the same and fits into a notification', () => {
  assert(
    property(payloads, uuid(), uuid(), (payload, id, replyTo) => {
      const message = { topic: 'keys.revoked', id, replyTo, payload }
      const text = encodeBusMessage(message)
      expect(Buffer.byteLength(text)).toBeLessThan(8_000)
      expect(decodeBusMessage(text)).toEqual(message)
    }),
  )
})

test('a message that cannot be sent is refused', () => {
  const encode = (topic: string, payload: string) => () =>
    encodeBusMessage({ topic, id: '', replyTo: '', payload })
  expect(encode('news', 'x'.repeat(PAYLOAD_BYTES_MAX + 1))).toThrow('over the limit')
  expect(encode('news', '✿'.repeat(PAYLOAD_BYTES_MAX / 2))).toThrow('over the limit')
  expect(encode('news', 'a\0b')).toThrow('U+0000')
  expect(encode('', '')).toThrow('Not a topic')
})

test('foreign text on the channel is not a message', () => {
  expect(decodeBusMessage('hello')).toBeNull()
})
