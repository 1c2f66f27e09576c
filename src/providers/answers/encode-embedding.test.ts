import { array, assert, float, property } from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEmbedding, encodeEmbedding } from './encode-embedding.ts'

test('an encoded embedding is decoded to the same numbers, with the precision of the wire', () => {
  assert(
    property(array(float({ noNaN: true }), { minLength: 1 }), (values) => {
      expect(decodeEmbedding(encodeEmbedding(values))).toEqual(values)
    }),
  )
})

test("the encoding is float32 in little-endian order, as OpenAI's clients read it", () => {
  expect(encodeEmbedding([1, -2])).toBe(Buffer.from(new Float32Array([1, -2]).buffer).toString('base64'))
})

test('bytes that are not whole numbers are not an embedding', () => {
  expect(decodeEmbedding('AAA=')).toBeNull()
  expect(decodeEmbedding('')).toBeNull()
})
