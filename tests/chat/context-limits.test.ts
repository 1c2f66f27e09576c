import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion, textCompletion } from '../upstreams/openai-server.ts'
import {
  CHAT,
  chatBody,
  COMPLETIONS,
  modelEntry,
  startChatGateway,
  type ChatGateway,
} from './start-chat-gateway.ts'

const CONTEXT = 1000

let gateway: ChatGateway

beforeAll(async () => {
  const routes = [{ provider: 'vllm', model: 'up/stream' }]
  const context = { context_tokens: CONTEXT, max_output_tokens: 100 }
  gateway = await startChatGateway({
    models: [
      modelEntry('short', routes, { ...context, vendor: 'OpenAI', aliases: ['brief'] }),
      modelEntry('other', routes, { ...context, vendor: 'Meta' }),
      modelEntry('boundless', routes, { context_tokens: null }),
      modelEntry('long', routes, { context_tokens: 128_000, vendor: 'OpenAI' }),
      modelEntry('routed', [{ provider: 'openrouter', model: 'up/stream' }], {
        ...context,
        vendor: 'OpenAI',
      }),
    ],
    providers: ['vllm', 'openrouter'],
  })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const words = (count: number) => 'word '.repeat(count)
const chat = (model: string, content: unknown, members: object = {}) =>
  gateway.request('POST', CHAT, {
    body: chatBody({ model, messages: [{ role: 'user', content }], ...members }),
  })
const complete = (model: string, prompt: unknown, members: object = {}) =>
  gateway.request('POST', COMPLETIONS, { body: { model, prompt, ...members } })

async function expectRefused(asking: ReturnType<typeof chat>, param: string, model = 'short'): Promise<void> {
  const before = await gateway.request('GET', '/v1/usage/budget')
  const { status, body, headers } = await asking
  expect([status, body.error.code, body.error.param]).toEqual([400, 'context_length_exceeded', param])
  expect(body.error.message).toContain(`'${model}'`)
  expect(headers.get('x-gateway-cost-usd')).toBeNull()
  expect(gateway.upstream.requests).toEqual([])
  const after = await gateway.request('GET', '/v1/usage/budget')
  expect([after.body.spent_usd, after.body.held_usd]).toEqual([before.body.spent_usd, 0])
}

describe('a prompt longer than the context', () => {
  test('is refused before an upstream is called, complete and streamed', async () => {
    await expectRefused(chat('short', words(1100)), 'messages')
    await expectRefused(chat('short', words(1100), { stream: true }), 'messages')
    await expectRefused(chat('brief', words(1100)), 'messages', 'brief')
  })

  test('is measured over all messages and parts', async () => {
    const parts = Array.from({ length: 11 }, () => ({ type: 'text', text: words(100) }))
    await expectRefused(chat('short', parts), 'messages')
    const messages = Array.from({ length: 11 }, () => ({ role: 'user', content: words(100) }))
    await expectRefused(chat('short', '', { messages }), 'messages')
  })

  test('is refused for text completions, each prompt separately', async () => {
    await expectRefused(complete('short', words(1100)), 'prompt')
    await expectRefused(complete('short', ['a', words(1100)]), 'prompt.1')
    await expectRefused(complete('short', 'a', { suffix: words(1100) }), 'prompt')
    const ids = Array.from({ length: 1100 }, () => 1)
    await expectRefused(complete('short', ids), 'prompt')
    await expectRefused(complete('short', [[1], ids]), 'prompt.1')
  })

  test('a prompt longer than the context of another vendor is refused if it fits with no vocabulary', async () => {
    await expectRefused(chat('other', words(1500)), 'messages', 'other')
  })

  test('a prompt longer than the context of megabytes is refused based on samples', async () => {
    await expectRefused(chat('long', words(500_000)), 'messages', 'long')
    await expectRefused(chat('long', words(140_000)), 'messages', 'long')
  })
})

describe('a prompt that may fit', () => {
  test.each([
    ['short', words(990)],
    ['short', words(1010)],
    ['other', words(1300)],
    ['boundless', words(5000)],
    // Many more bytes than the context has tokens, but only a few tokens.
    ['short', ' '.repeat(20_000)],
    ['short', '='.repeat(20_000)],
    ['long', words(127_000)],
  ])('is sent to %s', async (model, content) => {
    const { status, body } = await chat(model, content)
    expect([status, body.error]).toEqual([200, undefined])
  })

  test('is not refused because of its images, files or tools', async () => {
    const parts = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,iVBORw0KGgo${'A'.repeat(40_001)}` } },
    ]
    expect((await chat('short', parts)).status).toBe(200)
  })

  test('is not refused if the upstream is asked to truncate it', async () => {
    expect((await chat('routed', words(1100), { transforms: ['middle-out'] })).status).toBe(200)
  })

  test('is not measured as the sum of several prompts', async () => {
    gateway.upstream.respondWith(textCompletion())
    expect((await complete('short', [words(600), words(600)])).status).toBe(200)
  })
})
