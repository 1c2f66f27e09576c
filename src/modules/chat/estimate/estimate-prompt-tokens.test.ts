import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { createCatalog } from '../../catalog/catalog.ts'
import { countChatPromptTokens } from './count-prompt-tokens.ts'
import { estimateProfileOf, type EstimateProfile } from './estimate-profile.ts'
import { boundChatPromptTokens } from './estimate-prompt-tokens.ts'
import { refineChatPromptTokens } from './estimate-refined-tokens.ts'

const catalog = createCatalog({ now: () => 0 })
const profileOf = (id: string): EstimateProfile => {
  const model = catalog.resolve(id)
  if (!model) throw new Error(`no model '${id}'`)
  return estimateProfileOf(model)
}
const profiles = fc.constantFrom(...catalog.list({ category: 'llm' }).map(estimateProfileOf))
const bound = (profile: EstimateProfile, body: ChatRequest) =>
  boundChatPromptTokens(profile, body, Buffer.byteLength(JSON.stringify(body)))
const ask = (content: NonNullable<ChatRequest['messages'][number]['content']>): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content }],
})

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 })
    .map((units) => String.fromCharCode(...units)),
  fc.lorem({ maxCount: 100 }),
)

describe('the bytes of a request', () => {
  test('are at least as many as the tokens of any text in it', () => {
    fc.assert(
      fc.property(profiles, text, (profile, content) => {
        const tokens = countTokens(content)
        expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(content))
        expect(bound(profile, ask(content))).toBeGreaterThanOrEqual(tokens)
      }),
      { numRuns: 300 },
    )
  })

  test("are an upper bound of the gateway's own count", () => {
    const parts = fc.array(
      fc.constantFrom<Exclude<ChatRequest['messages'][number]['content'], string | null | undefined>[number]>(
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'https://example.com/x.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
      ),
      { maxLength: 5 },
    )
    fc.assert(
      fc.property(profiles, parts, (profile, content) => {
        expect(bound(profile, ask(content))).toBeGreaterThanOrEqual(
          countChatPromptTokens(ask(content), countTokens),
        )
      }),
    )
  })

  test('count twice if a tool is rendered for the model', () => {
    const values = Array.from({ length: 2000 }, (_, index) => index % 10)
    const tools: ChatRequest['tools'] = [
      {
        type: 'function',
        function: { name: 'pick', parameters: { type: 'object', properties: { a: { enum: values } } } },
      },
    ]
    const rendered = countTokens(values.join(' | '))
    for (const id of ['gpt-4o-mini', 'llama-3.3-70b']) {
      expect(bound(profileOf(id), { ...ask('x'), tools })).toBeGreaterThan(rendered)
      expect(refineChatPromptTokens(profileOf(id), { ...ask('x'), tools })).toBeGreaterThan(rendered)
    }
  })

  test("count once for the client's text, even if there are tools", () => {
    const tools: ChatRequest['tools'] = [{ type: 'function', function: { name: 'f' } }]
    const long = 'x'.repeat(10_000)
    for (const content of [long, [{ type: 'text' as const, text: long }]])
      expect(bound(profileOf('gpt-4o-mini'), { ...ask(content), tools })).toBeLessThan(11_000)
  })

  test('the bytes of a request of media do not count as text', () => {
    const url = `data:image/png;base64,${'A'.repeat(10_000_000)}`
    expect(bound(profileOf('claude-opus-5'), ask([{ type: 'image_url', image_url: { url } }]))).toBeLessThan(
      10_000,
    )
  })

  test('are a bound even for a request without a message', () => {
    expect(bound(profileOf('gpt-4o-mini'), { model: 'm', messages: [] })).toBeGreaterThan(0)
    expect(
      bound(profileOf('gpt-4o-mini'), { model: 'm', messages: [{ role: 'user', content: null }] }),
    ).toBeGreaterThan(0)
  })
})

describe('a refined count', () => {
  test('is nearly exact for models with a known tokenizer', () => {
    const content = 'Tell me, in three sentences, why the sky is blue. '.repeat(40)
    const refined = refineChatPromptTokens(profileOf('gpt-5.4'), ask(content))
    expect(refined).toBeGreaterThanOrEqual(countTokens(content))
    expect(refined).toBeLessThan(countTokens(content) + 200)
  })

  test('uses the encoding of older models', () => {
    const [first] = catalog.list({ vendor: 'OpenAI' })
    if (!first) throw new Error('no model')
    const older = (id: string) => estimateProfileOf({ ...first, id, routes: [] }).encoding
    expect(['gpt-4', 'gpt-4-turbo', 'gpt-3.5-turbo', 'openai/gpt-4-0613'].map(older)).toEqual(
      Array(4).fill('cl100k'),
    )
    expect(['gpt-4o', 'gpt-4.1', 'gpt-5.4', 'gpt-oss-20b'].map(older)).toEqual(Array(4).fill('o200k'))
    expect(countTokens('Привет, мир', 'cl100k')).toBeGreaterThan(countTokens('Привет, мир'))
  })

  test.for(['claude-opus-5', 'gemini-3.6-flash', 'qwen3-max'])(
    'a refined count of %s leaves room for another vocabulary',
    (id) => {
      const english = 'Tell me, in three sentences, why the sky is blue. '.repeat(40)
      const digits = '8675309 '.repeat(200)
      const hindi = 'आसमान नीला क्यों है? '.repeat(40)
      const refined = (content: string) => refineChatPromptTokens(profileOf(id), ask(content))
      expect(refined(english)).toBeGreaterThan(countTokens(english) * 1.5)
      expect(refined(digits)).toBeGreaterThan(200 * 7)
      expect(refined(hindi)).toBeGreaterThan(hindi.length * 0.9)
    },
  )

  test('includes members that pass through, such as legacy functions', () => {
    const functions = [{ name: 'lookup', description: 'word '.repeat(500) }]
    const body = { ...ask('x'), functions }
    expect(refineChatPromptTokens(profileOf('gpt-4o-mini'), body)).toBeGreaterThan(500)
  })

  test('a refined count of megabytes is sampled, takes milliseconds and stays near the exact count', () => {
    const sentence = 'The committee met on 12 March to discuss the budget; nobody was surprised. '
    const content = sentence.repeat(40_000)
    countTokens(sentence)
    const refined = refineChatPromptTokens(profileOf('gpt-5.4'), ask(content))
    const expected = countTokens(sentence) * 40_000
    expect(refined).toBeGreaterThan(expected)
    expect(refined).toBeLessThan(expected * 1.4)
  })

  test('a refined count of a megabyte of tools takes bounded time', () => {
    const tools: ChatRequest['tools'] = [
      { type: 'function', function: { name: 'f', description: 'word '.repeat(200_000) } },
    ]
    const refined = refineChatPromptTokens(profileOf('gpt-5.4'), { ...ask('x'), tools })
    expect(refined).toBeGreaterThan(200_000)
    expect(refined).toBeLessThan(400_000)
  })
})
