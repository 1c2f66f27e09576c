import { array, assert, float, property } from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEmbedding, encodeEmbedding } from './encode-embedding.ts'

test('what was encoded is decoded again, to the precision of the wire', () => {
  assert(
    property(array(float({ noNaN: true }), { minLength: 1 }), (values) => {
      expect(decodeEmbedding(encodeEmbedding(values))).toEqual(values)
    }),
  )
})

test('is what the clients of OpenAI read: float32 in little-endian order', () => {
  expect(encodeEmbedding([1, -2])).toBe(Buffer.from(new Float32Array([1, -2]).buffer).toString('base64'))
})

test('bytes that are no whole numbers are no embedding', () => {
  expect(decodeEmbedding('AAA=')).toBeNull()
  expect(decodeEmbedding('')).toBeNull()
})
