import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { BILLED_MEMBERS } from '../../src/providers/requests/billed-members.ts'
import { createProviderRegistry } from '../../src/providers/registry.ts'
import { completion, textCompletion } from '../upstreams/openai-server.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const PROVIDERS = ['openai', 'groq', 'mistral', 'openrouter', 'xai', 'vllm', 'llamacpp']

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      ...PROVIDERS.map((provider) => modelEntry(`via-${provider}`, [{ provider, model: 'up/stream' }])),
      modelEntry('two-routes', [
        { provider: 'groq', model: 'first' },
        { provider: 'openai', model: 'second' },
      ]),
    ],
    providers: PROVIDERS,
  })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const ask = (members: object) => gateway.request('POST', CHAT, { body: chatBody(members) })

async function expectRefused(members: object, param: string): Promise<void> {
  const { status, body } = await ask(members)
  expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
  expect(body.error.message).toContain(`'${param}'`)
  expect(gateway.upstream.requests).toEqual([])
}

async function expectRefusedPart(members: object, part: string): Promise<void> {
  const { status, body } = await ask(members)
  const param = `${part}.prompt_cache_breakpoint`
  expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
  expect(gateway.upstream.requests).toEqual([])
}

/** Returns the body that the upstream received. */
async function forward(members: object): Promise<Record<string, unknown>> {
  const { status, body } = await ask(members)
  expect([status, body.error]).toEqual([200, undefined])
  return gateway.upstream.bodies()[0]
}

describe('a member that changes the bill', () => {
  const refused = [...BILLED_MEMBERS].filter(([, untaken]) => untaken === 'refused').map(([name]) => name)

  test.each(refused)(
    '%s is refused by name, before an upstream is called or anything is charged',
    async (name) => {
      await expectRefused({ model: 'via-groq', [name]: { any: 'thing' } }, name)
    },
  )

  test.each([
    ['openai', { service_tier: 'priority' }],
    ['openai', { service_tier: 'flex' }],
    ['openai', { modalities: ['text', 'audio'] }],
    ['openai', { web_search_options: {} }],
    ['groq', { service_tier: 'performance' }],
    ['openrouter', { models: ['dear/model'] }],
    ['openrouter', { provider: { order: ['Dear'] } }],
    ['openrouter', { plugins: [{ id: 'web' }] }],
    ['xai', { search_parameters: { mode: 'on' } }],
    ['llamacpp', { n_predict: 100_000 }],
    ['vllm', { best_of: 20 }],
  ])('a member that changes the bill of %s, %j, is refused', async (provider, members) => {
    await expectRefused({ model: `via-${provider}`, ...members }, Object.keys(members)[0] ?? '')
  })

  test.each([
    ['openai', { prediction: { type: 'content', content: 'Hello' } }],
    ['openai', { prompt_cache_retention: '24h' }],
    ['mistral', { prediction: { type: 'content', content: 'Hello' } }],
    ['openrouter', { transforms: ['middle-out'] }],
  ])('reaches %s if it is priced: %j', async (provider, members) => {
    expect(await forward({ model: `via-${provider}`, ...members })).toMatchObject(members)
  })

  test.each([
    ['a text', [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }]],
    [
      'a picture',
      [
        { type: 'text', text: 'Hi' },
        {
          type: 'image_url',
          image_url: { url: 'data:image/png;base64,AAAA' },
          prompt_cache_breakpoint: { mode: 'explicit' },
        },
      ],
    ],
  ])('in %s of a message is refused if it marks a paid cache', async (_name, content) => {
    const messages = [
      { role: 'user', content: 'Before' },
      { role: 'user', content },
    ]
    for (const model of ['via-openai', 'via-openrouter'])
      await expectRefusedPart({ model, messages }, `messages.1.content.${content.length - 1}`)
    const unmarked = content.map((part) => ({ ...part, prompt_cache_breakpoint: null }))
    await forward({ model: 'via-openai', messages: [{ role: 'user', content: unmarked }] })
  })

  test('in a prediction is refused if it marks a paid cache', async () => {
    const content = [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }]
    await expectRefusedPart(
      { model: 'via-openai', prediction: { type: 'content', content } },
      'prediction.content.0',
    )
  })

  test('is refused if it names a file of the vendor account that all clients share', async () => {
    const content = [
      { type: 'text', text: 'Read it.' },
      { type: 'file', file: { file_id: 'file-of-somebody' } },
    ]
    const { status, body } = await ask({ model: 'via-openai', messages: [{ role: 'user', content }] })
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'unsupported_parameter',
      'messages.0.content.1.file.file_id',
    ])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('is sent only to the provider that accepts it', async () => {
    const prediction = { type: 'content', content: 'Hello' }
    expect(await forward({ model: 'two-routes', prediction })).toMatchObject({ model: 'second', prediction })
  })

  test.each([
    { service_tier: 'auto' },
    { service_tier: 'default' },
    { modalities: ['text'] },
    { store: true },
    { metadata: { purpose: 'test' } },
    { web_search_options: null },
    { background: false },
    { models: [] },
  ])('is removed if it requests nothing: %j', async (members) => {
    const body = await forward({ model: 'via-openai', ...members })
    expect(body).toEqual(chatBody({ model: 'up/stream' }))
  })

  test.each(['MODEL', 'Max_Tokens', 'N', '\u212aeep_alive'])(
    'is removed if it is written %s, which some upstreams would read',
    async (name) => {
      const body = await forward({ model: 'via-vllm', max_tokens: 5, [name]: 'priority' })
      expect(body).toEqual(chatBody({ model: 'up/stream', max_tokens: 5 }))
    },
  )

  test.each(['ſervice_tier', 'Service_Tier'])('is refused if it is written %s', async (name) => {
    const body = chatBody({ model: 'via-vllm', [name]: 'priority' })
    const { status, body: answer } = await gateway.request('POST', CHAT, { body })
    expect([status, answer.error.param]).toEqual([400, name])
  })

  test('is found behind an escape, and if it is named twice', async () => {
    const rest = JSON.stringify(chatBody({ model: 'via-openai' })).slice(1)
    for (const first of [
      '"service\\u005ftier":"priority"',
      '"service_tier":null,"service_tier":"priority"',
      '"service_tier":"priority","service_tier":"auto"',
    ]) {
      const { status, body } = await gateway.request('POST', CHAT, { body: `{${first},${rest}` })
      expect([status, body.error.param]).toEqual([400, 'service_tier'])
    }
    const { status } = await gateway.request('POST', CHAT, { body: `{"st\\u006fre":true,${rest}` })
    expect(status).toBe(200)
    expect(gateway.upstream.requests[0]?.text).not.toMatch(/store/)
  })

  test('an unknown member is passed on', async () => {
    const members = { some_vendor_field: { deep: [true] }, safety_identifier: 'u', prompt_cache_key: 'k' }
    expect(await forward({ model: 'via-openai', ...members })).toMatchObject(members)
  })
})

describe('other routes', () => {
  test('a text completion may use best_of, which the hold includes, and no other billed member', async () => {
    gateway.upstream.respondWith(textCompletion())
    const body = { model: 'via-vllm', prompt: 'And so', best_of: 3, n: 1 }
    const answer = await gateway.request('POST', '/v1/completions', { body })
    expect([answer.status, gateway.upstream.bodies()[0]]).toMatchObject([200, { best_of: 3 }])
    const refused = await gateway.request('POST', '/v1/completions', { body: { ...body, models: ['dear'] } })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'models'])
  })

  test('a text completion has one output limit, under any name', async () => {
    gateway.upstream.respondWith(textCompletion())
    const body = { model: 'via-vllm', prompt: 'And so', max_tokens: 5, max_completion_tokens: 7 }
    const { status } = await gateway.request('POST', '/v1/completions', { body })
    const sent = gateway.upstream.bodies()[0]
    expect([status, sent.max_tokens, 'max_completion_tokens' in sent]).toEqual([200, 7, false])
    const refused = await gateway.request('POST', '/v1/completions', {
      body: { ...body, max_completion_tokens: '100000' },
    })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'max_completion_tokens'])
  })

  test('messages in a text completion are ignored', async () => {
    const body = { model: 'via-mistral', prompt: 'And so', messages: 5 }
    expect((await gateway.request('POST', '/v1/completions', { body })).status).toBe(200)
  })

  test('embeddings refuse billed members too', async () => {
    const body = { model: 'text-embedding-3-small', input: 'Hi', provider: { order: ['Dear'] } }
    const { status, body: answer } = await gateway.request('POST', '/v1/embeddings', { body })
    expect([status, answer.error.code, answer.error.param]).toEqual([
      400,
      'unsupported_parameter',
      'provider',
    ])
  })
})

test('an operator can allow more members for a provider', () => {
  const settings = new Map([
    ['xai', { apiKeys: ['k'], baseUrl: null, allowedMembers: ['search_parameters'] }],
    ['anthropic', { apiKeys: ['k'], baseUrl: null, allowedMembers: ['service_tier'] }],
    ['openai', { apiKeys: ['k'], baseUrl: null, allowedMembers: ['store'] }],
  ])
  const registry = createProviderRegistry({
    settings,
    sandbox: { id: 'sandbox', isConfigured: true },
    clock: systemClock,
    connectTimeoutMs: 1000,
  })
  const takenBy = (id: string) => [...(registry.get(id)?.takenMembers ?? [])]
  expect(takenBy('xai')).toEqual(['search_parameters'])
  expect(takenBy('anthropic')).toEqual(['service_tier'])
  expect(takenBy('openai')).toEqual(['prediction', 'prompt_cache_retention', 'store'])
})
