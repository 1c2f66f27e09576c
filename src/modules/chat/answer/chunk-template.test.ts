import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ChunkTemplate } from './chunk-template.ts'

const chunkOf = (content: string, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
  ...more,
})
const bytesOf = (chunk: object) => Buffer.from(JSON.stringify(chunk))
const learn = (payload: Buffer, written = payload) => {
  const template = ChunkTemplate.learn({ payload, written, member: 'content', text: 'Hi' })
  if (template === null) throw new Error('nothing was learned')
  return template
}
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constant('\ud800'),
)

describe('a template of chunks', () => {
  test('reads the text of any chunk that differs only in that', () => {
    const template = learn(bytesOf(chunkOf('Hi')))
    fc.assert(
      fc.property(anyText, (content) => {
        const payload = bytesOf(chunkOf(content))
        expect(template.read(payload)).toBe(payload)
        expect(template.text).toBe(content)
      }),
    )
  })

  test('writes the output of the first chunk with the text of the others', () => {
    const template = learn(
      bytesOf(chunkOf('Hi', { model: 'theirs' })),
      bytesOf(chunkOf('Hi', { model: 'ours', system_fingerprint: null })),
    )
    fc.assert(
      fc.property(anyText, (content) => {
        const written = template.read(bytesOf(chunkOf(content, { model: 'theirs' })))
        expect(JSON.parse(String(written))).toEqual(
          chunkOf(content, { model: 'ours', system_fingerprint: null }),
        )
      }),
    )
  })

  test('accepts padding of any length', () => {
    const padded = (content: string, obfuscation: string, model: string) =>
      bytesOf(chunkOf(content, { model, obfuscation }))
    const template = learn(padded('Hi', 'abc', 'theirs'), padded('Hi', 'abc', 'ours'))
    fc.assert(
      fc.property(anyText, fc.string(), (content, padding) => {
        expect(template.read(padded(content, padding, 'theirs'))).toEqual(padded(content, padding, 'ours'))
      }),
    )
  })

  test.each([
    ['has another member', bytesOf(chunkOf('Ho', { usage: {} }))],
    ['has another id', bytesOf({ ...chunkOf('Ho'), id: 'chatcmpl-2' })],
    [
      'ends the answer',
      Buffer.from(JSON.stringify(chunkOf('Ho')).replace('"finish_reason":null', '"finish_reason":"stop"')),
    ],
    ['is cut', bytesOf(chunkOf('Ho')).subarray(0, -1)],
    ['continues', Buffer.concat([bytesOf(chunkOf('Ho')), Buffer.from(' ')])],
    ['has no string', Buffer.from(JSON.stringify(chunkOf('Ho')).replace('"Ho"', '7'))],
    ['has a control character', Buffer.from(JSON.stringify(chunkOf('Ho')).replace('Ho', 'H\no'))],
    ['has a wrong escape', Buffer.from(JSON.stringify(chunkOf('Ho')).replace('Ho', String.raw`H\xo`))],
    ['never ends its string', Buffer.from(JSON.stringify(chunkOf('Ho')).replace('Ho"', String.raw`Ho\"`))],
    [
      'adds members in its text',
      Buffer.from(JSON.stringify(chunkOf('Ho')).replace('Ho', 'Ho","refusal":"no')),
    ],
    ['is empty', Buffer.alloc(0)],
  ])('does not match a chunk that %s', (_what, payload) => {
    expect(learn(bytesOf(chunkOf('Hi'))).read(payload)).toBeNull()
  })

  test.each([
    ['two members of that name', bytesOf({ ...chunkOf('Hi'), more: { content: 'Hi' } }), 'Hi'],
    ['another text than was parsed', bytesOf(chunkOf('Ho')), 'Hi'],
    ['padding before the text', bytesOf({ obfuscation: 'abc', ...chunkOf('Hi') }), 'Hi'],
    ['padding that is no text', bytesOf(chunkOf('Hi', { obfuscation: 1 })), 'Hi'],
  ])('is not learned from a chunk with %s', (_what, payload, text) => {
    expect(ChunkTemplate.learn({ payload, written: payload, member: 'content', text })).toBeNull()
  })
})
