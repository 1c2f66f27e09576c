import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { completion, json, USAGE } from '../upstreams/openai-server.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('round', [{ provider: 'openai', model: 'round' }], {
        aliases: ['round-alias', 'org/round'],
      }),
      modelEntry('writes-cache', [{ provider: 'openai', model: 'writes' }], {
        price: {
          unit: 'token',
          input_usd_per_1m: 1,
          cached_input_usd_per_1m: 0.1,
          cache_write_usd_per_1m: 1.25,
          output_usd_per_1m: 10,
        },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const ask = (members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model: 'round', ...members }) })

describe('a complete answer', () => {
  test('has the upstream’s members, our model id, and usage with its cost', async () => {
    const { key } = await createAccountKey(gateway, { name: 'new', credit_usd: 10 })
    const { status, body, headers } = await gateway.request('POST', CHAT, {
      key,
      body: chatBody({ model: 'round' }),
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: 'chatcmpl-upstream',
      object: 'chat.completion',
      created: 1_750_000_000,
      model: 'round',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost_usd: 0.000081,
      },
      system_fingerprint: 'fp_upstream',
    })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('x-gateway-provider')).toBe('openai')
    expect(headers.get('x-gateway-cost-usd')).toBe('0.000081')
    expect(Number(headers.get('x-gateway-latency-ms'))).toBeGreaterThanOrEqual(0)
    expect(headers.get('x-gateway-balance-usd')).toBe('9.999919')
  })

  test.each(['round-alias', 'org/round'])(
    'has the alias that was requested as its model: %s',
    async (model) => {
      const { body } = await ask({ model })
      expect(body.model).toBe(model)
      expect(gateway.upstream.bodies()[0].model).toBe('round')
    },
  )

  test.each([undefined, 'gen-123', 7])('has an id of this wire if the upstream’s is %s', async (id) => {
    gateway.upstream.respondWith(completion({ id }))
    expect((await ask()).body.id).toMatch(/^chatcmpl-[0-9a-f]{24}$/)
  })

  test('keeps unknown members', async () => {
    const message = { role: 'assistant', content: 'é / \u2028', x_thought: [1, { deep: true }] }
    const choice = { index: 0, message, finish_reason: 'stop', x_score: 1.5 }
    gateway.upstream.respondWith(completion({ choices: [choice], x_queue: { seconds: 0.25 } }))
    const { body } = await ask()
    expect(body).toMatchObject({ choices: [choice], x_queue: { seconds: 0.25 } })
  })

  test('has the members of the wire that an upstream omits', async () => {
    gateway.upstream.respondWith(json({ choices: [{ message: { content: 'bare' } }] }))
    const { body } = await ask()
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'round',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'bare' },
          finish_reason: 'stop',
        },
      ],
    })
    expect(Number.isInteger(body.created)).toBe(true)
  })

  test('has one name for reasoning, whatever the upstream calls it', async () => {
    gateway.upstream.respondWith(completion({ message: { reasoning: 'because' } }))
    const { message } = (await ask()).body.choices[0]
    expect(message).toMatchObject({ content: 'Hello there', reasoning_content: 'because' })
    expect(message).not.toHaveProperty('reasoning')
  })

  test('passes tool calls on unchanged', async () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }]
    gateway.upstream.respondWith(completion({ message: { content: null, tool_calls } }))
    const { body } = await ask()
    expect(body.choices[0].message.tool_calls).toEqual(tool_calls)
    expect(body.usage.cost_usd).toBe(0.000081)
  })
})

describe('the cost of an answer', () => {
  const costOf = async (usage: unknown, message: Record<string, unknown> = {}) => {
    gateway.upstream.respondWith(completion({ usage, message }))
    const { body, headers } = await ask()
    expect(Number(headers.get('x-gateway-cost-usd'))).toBe(body.usage.cost_usd)
    return body.usage
  }

  test('has a separate price for cached tokens', async () => {
    const usage = {
      ...USAGE,
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 900, audio_tokens: 0 },
    }
    expect(await costOf(usage)).toMatchObject({
      prompt_tokens_details: { cached_tokens: 900, audio_tokens: 0 },
      cost_usd: (100 * 1 + 900 * 0.1 + 7 * 10) / 1e6,
    })
  })

  test.each([
    { prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 800 } },
    { cache_creation_input_tokens: 800, cache_read_input_tokens: 0 },
  ])('has a separate price for tokens written to a cache: %j', async (details) => {
    const usage = { ...USAGE, prompt_tokens: 1000, ...details }
    gateway.upstream.respondWith(completion({ usage }))
    const { body } = await ask({ model: 'writes-cache' })
    expect(body.usage.cost_usd).toBe((200 * 1 + 800 * 1.25 + 7 * 10) / 1e6)
    gateway.upstream.respondWith(completion({ usage }))
    expect((await ask()).body.usage.cost_usd).toBe((1000 * 1 + 7 * 10) / 1e6)
  })

  test('includes cached tokens as DeepSeek reports them', async () => {
    const usage = {
      ...USAGE,
      prompt_tokens: 1000,
      prompt_cache_hit_tokens: 900,
      prompt_cache_miss_tokens: 100,
    }
    expect((await costOf(usage)).cost_usd).toBe((100 * 1 + 900 * 0.1 + 7 * 10) / 1e6)
  })

  test('gives no discount for more cached tokens than the prompt has', async () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 5000 } }
    expect(await costOf(usage)).toMatchObject({
      prompt_tokens_details: { cached_tokens: 11 },
      cost_usd: (11 * 0.1 + 7 * 10) / 1e6,
    })
  })

  test('does not charge reasoning tokens inside the completion twice', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 100,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 80 },
    }
    expect(await costOf(usage)).toMatchObject({
      completion_tokens: 100,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 80 },
      cost_usd: (10 * 1 + 100 * 10) / 1e6,
    })
  })

  test('charges reasoning tokens beside the completion once', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 20,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 80 },
    }
    expect(await costOf(usage)).toMatchObject({
      completion_tokens: 100,
      total_tokens: 110,
      cost_usd: (10 * 1 + 100 * 10) / 1e6,
    })
  })

  test.each([
    ['no usage', undefined],
    ['null', null],
    ['negative counts', { prompt_tokens: -5, completion_tokens: -5 }],
    ['counts as text', { prompt_tokens: '5', completion_tokens: '5' }],
    ['fractions', { prompt_tokens: 0.5, completion_tokens: 1 }],
  ])('is counted by the gateway if the upstream reports %s', async (_name, usage) => {
    const counted = await costOf(usage)
    expect(counted.prompt_tokens).toBeGreaterThan(0)
    expect(counted.completion_tokens).toBe(2)
    expect(counted.total_tokens).toBe(counted.prompt_tokens + 2)
    expect(counted.cost_usd).toBe((counted.prompt_tokens * 1 + 2 * 10) / 1e6)
  })

  test('is zero for an empty answer without reported usage', async () => {
    expect(await costOf(undefined, { content: '' })).toMatchObject({ completion_tokens: 0, cost_usd: 0 })
  })
})
