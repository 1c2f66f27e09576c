import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunk, completion, stream } from '../upstreams/openai-server.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'
import { createAccount } from '../payments/accounts.ts'
import { readEvents } from './read-events.ts'

/** Per million tokens: text $1 input and $10 output, audio $40 input and $80 output. */
const PRICE = {
  unit: 'token',
  input_usd_per_1m: 1,
  cached_input_usd_per_1m: 0.1,
  output_usd_per_1m: 10,
  audio_input_usd_per_1m: 40,
  audio_output_usd_per_1m: 80,
}

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('hears', [{ provider: 'openai', model: 'gpt-audio' }], { price: PRICE }),
      modelEntry('deaf', [{ provider: 'openai', model: 'text' }]),
      modelEntry('own', [{ provider: 'vllm', model: 'ears' }]),
      modelEntry('deaf-or-own', [
        { provider: 'openai', model: 'text' },
        { provider: 'vllm', model: 'ears' },
      ]),
      modelEntry('flat', [{ provider: 'openai', model: 'gpt-audio' }], {
        price: { unit: 'request', usd: 0.25 },
      }),
    ],
    providers: ['vllm'],
  })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const DATA = Buffer.alloc(16_000).toString('base64')
const FLAC = Buffer.from('fLaC\0\0\0\x22').toString('base64')
const CLIP = { type: 'input_audio', input_audio: { data: DATA, format: 'mp3' } }
const withParts = (model: string, ...parts: readonly object[]) =>
  chatBody({
    model,
    max_tokens: 100,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, ...parts] }],
  })
const SPOKEN = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } }

const ask = (body: object) => gateway.request('POST', CHAT, { body })

async function costOf(body: object, usage: object | null): Promise<number> {
  gateway.upstream.respondWith(completion({ usage }))
  const answer = await ask(body)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body.usage.cost_usd
}

async function expectRefused(body: object, param: string): Promise<void> {
  const before = (await gateway.request('GET', '/v1/tenants/me')).body
  const { status, body: answer } = await ask(body)
  expect([status, answer.error?.code, answer.error?.param]).toEqual([400, 'unsupported_parameter', param])
  expect(answer.error.message).toContain('price')
  expect(gateway.upstream.requests).toEqual([])
  expect((await gateway.request('GET', '/v1/tenants/me')).body).toEqual(before)
}

describe('audio that a model has no price for', () => {
  test.each([
    ['a part of sound', CLIP],
    ['a file of sound', { type: 'file', file: { file_data: `data:audio/mp3;base64,${DATA}` } }],
    ['a file named as sound', { type: 'file', file: { file_data: DATA, filename: 'talk.MP3' } }],
    ['a file whose bytes are sound', { type: 'file', file: { file_data: FLAC } }],
    ['a video that is sound', { type: 'video_url', video_url: { url: 'https://example.com/talk.mp3' } }],
    ['an address of sound', { type: 'video_url', video_url: { url: 'https://example.com/a.ogg?x=1' } }],
  ])('is refused before a vendor is called or anything is charged: %s', async (_name, part) => {
    await expectRefused(withParts('deaf', part), 'messages.0.content.1')
  })

  test('is accepted by a server without billing, which is preferred to a vendor', async () => {
    for (const model of ['own', 'deaf-or-own']) {
      expect((await ask(withParts(model, CLIP))).status).toBe(200)
      expect((await gateway.upstream.requestNumber(0)).path).toContain('/vllm/')
      gateway.upstream.requests.length = 0
    }
  })

  test('is accepted if the price is per request', async () => {
    expect(await costOf(withParts('flat', CLIP), null)).toBe(0.25)
  })

  test('does not affect images and documents', async () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'https://example.com/mp3' } },
      { type: 'file', file: { file_data: `data:application/pdf;base64,${DATA}`, filename: 'a.mp3.pdf' } },
    ]
    expect((await ask(withParts('deaf', ...parts))).status).toBe(200)
  })
})

describe('audio that has a price', () => {
  const usageOf = (prompt: object, answer: object = {}) => ({
    prompt_tokens: 1000,
    completion_tokens: 100,
    total_tokens: 1100,
    prompt_tokens_details: prompt,
    completion_tokens_details: answer,
  })

  test('is charged by the reported usage, in the prompt and in the answer', async () => {
    const usage = usageOf({ audio_tokens: 900 }, { audio_tokens: 80 })
    const cost = await costOf({ ...withParts('hears', CLIP), ...SPOKEN }, usage)
    expect(cost).toBeCloseTo((100 * 1 + 900 * 40 + 20 * 10 + 80 * 80) / 1e6, 12)
    expect(gateway.upstream.bodies()[0]).toMatchObject(SPOKEN)
  })

  test('is never counted as cached', async () => {
    const cost = await costOf(withParts('hears', CLIP), usageOf({ audio_tokens: 900, cached_tokens: 950 }))
    expect(cost).toBeCloseTo((900 * 40 + 100 * 0.1 + 100 * 10) / 1e6, 12)
  })

  test('is counted from what was sent if the upstream does not report it', async () => {
    // The clip has two seconds of 8,000 bytes each and counts as many tokens as a picture.
    const cost = await costOf(withParts('hears', CLIP), usageOf({}))
    expect(cost).toBeCloseTo((1000 * 40 + 100 * 10) / 1e6, 12)
    const spoken = await costOf(chatBody({ model: 'hears', ...SPOKEN }), usageOf({}))
    expect(spoken).toBeCloseTo((1000 * 1 + 100 * 80) / 1e6, 12)
  })

  test('is charged if the upstream reports no usage at all', async () => {
    expect(await costOf(withParts('hears', CLIP), null)).toBeGreaterThan((1000 * 40) / 1e6)
  })

  test('is charged in a stream, whichever report came last', async () => {
    gateway.upstream.respondWith(
      stream([
        chunk({ delta: { content: 'Hello' } }),
        chunk({ finish_reason: 'stop' }),
        { ...chunk(), choices: [], usage: usageOf({ audio_tokens: 900 }, { audio_tokens: 80 }) },
        { ...chunk(), choices: [], usage: usageOf({ audio_tokens: 0 }, { audio_tokens: 0 }) },
      ]),
    )
    const body = {
      ...withParts('hears', CLIP),
      ...SPOKEN,
      stream: true,
      stream_options: { include_usage: true },
    }
    const { chunks } = await readEvents(await gateway.fetch('POST', CHAT, { body }))
    expect(chunks.at(-1).usage.cost_usd).toBeCloseTo((100 + 900 * 40 + 20 * 10 + 80 * 80) / 1e6, 12)
  })

  test('is held before the upstream is called', async () => {
    const { key } = await createAccount(gateway, { creditUsd: 0.02 })
    const send = (body: object) => gateway.request('POST', CHAT, { body, key })
    // The hold for a clip covers at least 1,024 tokens, which cost $0.041.
    expect([(await send(withParts('hears', CLIP))).status, gateway.upstream.requests.length]).toEqual([
      402, 0,
    ])
    expect((await send(withParts('hears'))).status).toBe(200)
  })

  test('other modalities are still refused', async () => {
    const { status, body } = await ask(chatBody({ model: 'hears', modalities: ['text', 'image'] }))
    expect([status, body.error.param]).toEqual([400, 'modalities'])
  })

  test("is shown in the model's entry", async () => {
    const { body } = await gateway.request('GET', '/v1/models/hears')
    expect(body.price).toMatchObject({ audio_input_usd_per_1m: 40, audio_output_usd_per_1m: 80 })
  })
})
