import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { completion, failure, USAGE } from '../upstreams/openai-server.ts'
import { COST_USD, MESSAGES, messagesBody, startMessagesGateway } from './start-messages-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startMessagesGateway({ PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

const send = (members: object = {}) => gateway.request('POST', MESSAGES, { body: messagesBody(members) })

describe('a complete answer', () => {
  test('is a message with the usage and the cost', async () => {
    gateway.upstream.respondWith(completion())
    const { body, headers } = await send()
    expect(body).toEqual({
      id: 'msg_upstream',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [{ type: 'text', text: 'Hello there' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: USAGE.prompt_tokens,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: USAGE.completion_tokens,
        cost_usd: COST_USD,
      },
    })
    expect(Number(headers.get('x-gateway-cost-usd'))).toBe(COST_USD)
  })

  test.each<[string, Record<string, unknown>, object]>([
    [
      'its length',
      { choices: [{ index: 0, message: { content: 'Hel' }, finish_reason: 'length' }] },
      { stop_reason: 'max_tokens' },
    ],
    [
      'a filter',
      { choices: [{ index: 0, message: { content: '' }, finish_reason: 'content_filter' }] },
      { stop_reason: 'refusal' },
    ],
    [
      'a refusal',
      { message: { content: null, refusal: 'No.' } },
      { stop_reason: 'refusal', content: [{ type: 'text', text: 'No.' }] },
    ],
    [
      'a text to stop at',
      { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop', stop_reason: 'END' }] },
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    ],
    [
      'calls',
      {
        message: {
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
            { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{"at":' } },
          ],
        },
      },
      {
        stop_reason: 'tool_use',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
          { type: 'tool_use', id: 'call_2', name: 'look', input: { arguments: '{"at":' } },
        ],
      },
    ],
    [
      'thoughts',
      { message: { reasoning_content: 'Hm.' } },
      {
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: '' },
          { type: 'text', text: 'Hello there' },
        ],
      },
    ],
    [
      'a cache',
      { usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 8 } } },
      { usage: { input_tokens: 3, cache_read_input_tokens: 8 } },
    ],
  ])('ends with %s', async (_name, members, expected) => {
    gateway.upstream.respondWith(completion(members))
    expect((await send()).body).toMatchObject(expected)
  })

  test('a complete answer of an upstream without usage is counted and charged', async () => {
    gateway.upstream.respondWith(completion({ usage: undefined }))
    const { body } = await send()
    expect(body.usage.output_tokens).toBeGreaterThan(0)
    expect(body.usage.cost_usd).toBeGreaterThan(0)
  })
})

describe('a failure', () => {
  test.each([
    [429, 429, 'rate_limit_error'],
    [500, 502, 'api_error'],
    [529, 429, 'rate_limit_error'],
  ])('a failure of the upstream with %i is %i %s', async (upstream, status, type) => {
    gateway.upstream.respondWith(failure(upstream))
    const answer = await send()
    expect([answer.status, answer.body.error.type]).toEqual([status, type])
  })

  test("a failure of the key has the wire's format", async () => {
    const answer = await gateway.request('POST', MESSAGES, { body: messagesBody(), key: null })
    expect([answer.status, answer.body.type, answer.body.error.type]).toEqual([
      401,
      'error',
      'authentication_error',
    ])
    const counted = await gateway.request('POST', `${MESSAGES}/count_tokens`, { body: {}, key: null })
    expect([counted.status, counted.body.type]).toEqual([401, 'error'])
  })

  test('for lack of credit is a billing error', async () => {
    const account = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'poor' } })
    const made = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
      body: { scopes: ['inference'] },
    })
    const answer = await gateway.request('POST', MESSAGES, { body: messagesBody(), key: made.body.key })
    expect([answer.status, answer.body.error.type]).toEqual([402, 'billing_error'])
  })
})

test('a key may be sent as Anthropic’s clients do, and the path may name the vendor', async () => {
  gateway.upstream.respondWith(completion())
  const answer = await gateway.request('POST', '/anthropic/v1/messages', {
    body: messagesBody(),
    key: null,
    headers: { 'x-api-key': gateway.key },
  })
  expect([answer.status, answer.body.type]).toEqual([200, 'message'])
})
