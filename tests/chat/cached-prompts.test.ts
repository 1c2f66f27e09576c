import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunk, completion, stream } from '../upstreams/openai-server.ts'
import { modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      // $1 per million input tokens. The cache prices are the vendor's defaults.
      modelEntry('claude-like', [{ provider: 'openai', model: 'claude' }], {
        vendor: 'Anthropic',
        price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10 },
      }),
      modelEntry('summed', [{ provider: 'openai', model: 'summed' }]),
      modelEntry('unpriced', [{ provider: 'openai', model: 'other' }], {
        price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10 },
      }),
    ],
  })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

/** The path and the request body of each of the three wires. */
const WIRES = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  messages: { path: '/v1/messages', body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] } },
  responses: { path: '/v1/responses', body: { input: 'Hi' } },
} as const
type WireName = keyof typeof WIRES

const COMPLETION_TOKENS = 7
const OUTPUT_USD = (COMPLETION_TOKENS * 10) / 1e6

interface Asked {
  readonly model?: string
  readonly isStream?: boolean
  readonly messages?: readonly object[]
}

/** Sends a request over a wire, streamed or not, and returns the usage that the client receives. */
async function usageOf(
  wire: WireName,
  reported: object,
  { model = 'claude-like', isStream = false, ...members }: Asked = {},
) {
  const usage = { completion_tokens: COMPLETION_TOKENS, ...reported }
  gateway.upstream.respondWith(
    isStream
      ? stream([
          chunk({ delta: { role: 'assistant', content: 'Hello' } }),
          chunk({ finish_reason: 'stop' }),
          { ...chunk(), choices: [], usage },
        ])
      : completion({ usage }),
  )
  const { path, body } = WIRES[wire]
  const options = isStream && wire === 'chat' ? { stream_options: { include_usage: true } } : {}
  const response = await gateway.fetch('POST', path, {
    body: { model, ...body, ...(isStream ? { stream: true } : {}), ...options, ...members },
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, expect.any(String)])
  if (!isStream) return JSON.parse(text).usage
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json))
  const told = events
    .map((event) => event.usage ?? event.response?.usage)
    .filter((found) => found?.cost_usd !== undefined)
  return told.at(-1)
}

const WAYS = (['chat', 'messages', 'responses'] as const).flatMap((wire) =>
  [false, true].map((isStream) => [wire, isStream] as const),
)

describe.each(WAYS)('a cached prompt over %s (streamed: %s)', (wire, isStream) => {
  test('is charged once for each of its parts', async () => {
    const reported = {
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 },
    }
    const usage = await usageOf(wire, reported, { isStream })
    expect(usage.cost_usd).toBeCloseTo((100 * 1 + 600 * 0.1 + 300 * 1.25) / 1e6 + OUTPUT_USD, 12)
    expect(usage).toMatchObject(
      {
        chat: { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 } },
        messages: { input_tokens: 100, cache_read_input_tokens: 600, cache_creation_input_tokens: 300 },
        responses: {
          input_tokens: 1000,
          input_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 },
        },
      }[wire],
    )
  })

  test('never has more cached tokens than prompt tokens', async () => {
    const reported = {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 5000, cache_write_tokens: 7000 },
    }
    const usage = await usageOf(wire, reported, { isStream })
    expect(usage.cost_usd).toBeCloseTo((100 * 0.1) / 1e6 + OUTPUT_USD, 12)
    const told = usage.prompt_tokens_details ?? usage.input_tokens_details
    if (wire === 'messages')
      expect(usage).toMatchObject({
        input_tokens: 0,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 0,
      })
    else expect(told).toMatchObject({ cached_tokens: 100, cache_write_tokens: 0 })
  })

  test('ignores invalid counts', async () => {
    const reported = {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: -50, cache_write_tokens: 1.5 },
    }
    const usage = await usageOf(wire, reported, { isStream })
    expect(usage.cost_usd).toBeCloseTo((100 * 1) / 1e6 + OUTPUT_USD, 12)
  })
})

describe('the usage of cached prompts', () => {
  const CACHED = {
    prompt_tokens: 1000,
    prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 },
  }

  test("is recorded separately, with the client's wire", async () => {
    for (const [wire, isStream] of WAYS) await usageOf(wire, CACHED, { isStream })
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=6')
    expect(body.data.map((record: { wire: string }) => record.wire).toReversed()).toEqual([
      'openai-chat',
      'openai-chat',
      'anthropic-messages',
      'anthropic-messages',
      'openai-responses',
      'openai-responses',
    ])
    for (const record of body.data)
      expect(record).toMatchObject({ prompt_tokens: 1000, cached_tokens: 600, cache_write_tokens: 300 })
  })

  test('gives the hit rate in the summary', async () => {
    const model = 'summed'
    const before = (await gateway.request('GET', `/v1/usage/summary?model=${model}`)).body
    expect(before).toMatchObject({ cached_tokens: 0, cache_hit_rate: null })
    await usageOf('chat', CACHED, { model })
    const plain = { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 0 } }
    await usageOf('chat', plain, { model })
    const { body } = await gateway.request('GET', `/v1/usage/summary?model=${model}`)
    expect(body).toMatchObject({
      requests: 2,
      prompt_tokens: 2000,
      cached_tokens: 600,
      cache_write_tokens: 300,
      cache_hit_rate: 0.3,
    })
    const { body: series } = await gateway.request('GET', `/v1/usage/timeseries?model=${model}`)
    const written = series.data.map((bucket: { cache_write_tokens: number }) => bucket.cache_write_tokens)
    expect(Math.max(...written)).toBe(300)
  })
})

describe('a prompt that is cached for an hour', () => {
  const HOUR = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]
  const WRITTEN = { prompt_tokens: 1000, prompt_tokens_details: { cache_write_tokens: 1000 } }

  test('has the hour price if the upstream does not report the lifetime', async () => {
    const usage = await usageOf('chat', WRITTEN, { messages: [{ role: 'user', content: HOUR }] })
    expect(usage.cost_usd).toBeCloseTo((1000 * 2) / 1e6 + OUTPUT_USD, 12)
    const other = await usageOf('chat', WRITTEN)
    expect(other.cost_usd).toBeCloseTo((1000 * 1.25) / 1e6 + OUTPUT_USD, 12)
  })

  test('has the price of the reported lifetime, whatever was requested', async () => {
    const told = {
      ...WRITTEN,
      cache_creation: { ephemeral_5m_input_tokens: 900, ephemeral_1h_input_tokens: 100 },
    }
    const usage = await usageOf('chat', told, { messages: [{ role: 'user', content: HOUR }] })
    expect(usage.cost_usd).toBeCloseTo((900 * 1.25 + 100 * 2) / 1e6 + OUTPUT_USD, 12)
  })

  test('costs plain input if the cache has no price', async () => {
    const usage = await usageOf('chat', WRITTEN, {
      model: 'unpriced',
      messages: [{ role: 'user', content: HOUR }],
    })
    expect(usage.cost_usd).toBeCloseTo((1000 * 1) / 1e6 + OUTPUT_USD, 12)
  })
})
