import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scanEmbeddings } from './scan-embeddings.ts'

const answer = (members: object = {}, item: object = {}) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -1e-7], ...item }],
  model: 'm',
  usage: { prompt_tokens: 3, total_tokens: 3 },
  ...members,
})
const scan = (value: unknown, space?: number) =>
  scanEmbeddings(Buffer.from(JSON.stringify(value, null, space)))

describe('a scan of an answer', () => {
  test('finds the same as a parser, whatever is in between', () => {
    const vectors = fc.oneof(
      fc.array(fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.array(
        fc.base64String({ minLength: 4 }).filter((text) => text !== ''),
        { minLength: 1, maxLength: 4 },
      ),
    )
    const model = fc.string().filter((text) => !/[\\"]/.test(JSON.stringify(text).slice(1, -1)))
    const others = fc.dictionary(fc.stringMatching(/^[a-z]{5}$/), fc.integer(), { maxKeys: 3 })
    fc.assert(
      fc.property(
        vectors,
        model,
        others,
        fc.constantFrom(0, 2),
        fc.boolean(),
        (list, name, more, space, isFirst) => {
          const data = list.map((embedding, index) => ({ object: 'embedding', index, embedding }))
          const usage = { prompt_tokens: 3, details: { cached: 1, ...more } }
          const value = isFirst
            ? { object: 'list', model: name, usage, ...more, data }
            : { object: 'list', data, ...more, usage, model: name }
          const payload = Buffer.from(JSON.stringify(value, null, space))
          const found = scanEmbeddings(payload)
          const textOf = (span: { start: number; end: number } | null | undefined) =>
            span ? JSON.parse(payload.toString('utf8', span.start, span.end)) : null
          expect(found).toMatchObject({ vectors: list.length, isBase64: typeof list[0] === 'string' })
          expect([textOf(found?.model), textOf(found?.usage)]).toEqual([name, usage])
          expect(payload.toString('utf8', found?.end)).toMatch(/^\}\s*$/)
        },
      ),
    )
  })

  test('recognises an answer without model or usage', () => {
    expect(scan(answer({ model: undefined, usage: undefined }))).toMatchObject({ model: null, usage: null })
  })

  test('never mistakes a part of an answer for a complete one', () => {
    const payload = Buffer.from(JSON.stringify(answer()))
    for (let length = 0; length < payload.length; length += 1)
      expect(scanEmbeddings(payload.subarray(0, length))).toBeNull()
    expect(scanEmbeddings(Buffer.concat([payload, Buffer.from('}')]))).toBeNull()
  })

  test.each([
    ['an error', { error: { message: 'no', code: null } }],
    ['no list', answer({ data: undefined })],
    ['an empty list', answer({ data: [] })],
    ['a list of something else', answer({ data: [1, 2] })],
    ['an item without a vector', answer({}, { embedding: undefined })],
    ['an item without a place', answer({}, { index: undefined })],
    ['an item in the place of another', answer({}, { index: 1 })],
    ['an empty vector', answer({}, { embedding: [] })],
    ['an empty text for a vector', answer({}, { embedding: '' })],
    ['a vector of texts', answer({}, { embedding: ['a'] })],
    ['a vector with a hole', answer({}, { embedding: [1, null, 2] })],
    ['a vector of vectors', answer({}, { embedding: [[1], [2]] })],
    [
      'two encodings',
      answer({ data: [answer().data[0], { ...answer().data[0], index: 1, embedding: 'AAAA' }] }),
    ],
    ['an escape', answer({ model: 'a"b' })],
    ['a text instead of an object', 'embedding'],
  ])('leaves %s to a parser', (_name, value) => {
    expect(scan(value)).toBeNull()
  })

  test('leaves a duplicate name to a parser', () => {
    const text = JSON.stringify(answer()).replace('"model":"m"', '"model":"m","model":"n"')
    expect(scanEmbeddings(Buffer.from(text))).toBeNull()
    expect(scanEmbeddings(Buffer.from('{"object":"list","data":[NaN]}'))).toBeNull()
  })

  test('accepts an empty value beside the vectors', () => {
    expect(scan(answer({ usage: { prompt_tokens: 3, prompt_tokens_details: null } }), 2)?.vectors).toBe(1)
  })
})
