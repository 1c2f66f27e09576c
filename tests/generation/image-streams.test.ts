import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startEveryVendor } from '../upstreams/start-every-vendor.ts'
import { paintPng } from './pictures.ts'

const PROMPT = '[[sandbox:job ms=0]] A cube'

let gateway: TestGateway
let picture: string

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' } })
  picture = `data:image/png;base64,${(await paintPng(64, 64)).toString('base64')}`
})
afterAll(() => gateway.close())

interface ImageEvent {
  readonly type: string
  readonly b64_json: string
  readonly usage: { readonly images: number; readonly cost_usd: number }
}

async function stream(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await gateway.fetch('POST', path, { body: { ...body, stream: true }, headers })
  const text = await answer.text()
  const payloads = [...text.matchAll(/^data: (.*)$/gm)].map(([, payload = '']) => payload)
  const events: ImageEvent[] = payloads.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one))
  return { answer, events, isWhole: payloads.at(-1) === '[DONE]' }
}

describe('a stream of images', () => {
  test.each([
    ['/v1/images/generations', { model: 'gpt-image-1.5', partial_images: 2 }, 'image_generation.completed'],
    ['/v1/images/generations', { model: 'flux-schnell' }, 'image_generation.completed'],
    ['/v1/images/edits', { model: 'gpt-image-2', partial_images: 3 }, 'image_edit.completed'],
  ])(
    'a stream of images of %s with %o has an event for each image, and no partial ones',
    async (path, members, type) => {
      const body = { prompt: PROMPT, n: 2, ...members, ...(path.endsWith('edits') ? { image: picture } : {}) }
      const { answer, events, isWhole } = await stream(path, body)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ])
      expect([events.map((event) => event.type), isWhole]).toEqual([[type, type], true])
      for (const event of events) expect(Buffer.from(event.b64_json, 'base64').length).toBeGreaterThan(100)
      const plain = await gateway.request('POST', path, { body, headers: { prefer: 'wait=60' } })
      expect(events[0]?.usage.cost_usd).toBe(plain.body.usage.cost_usd)
    },
  )

  test('is charged once for the same idempotency key', async () => {
    const body = { model: 'gpt-image-1.5', prompt: PROMPT }
    const headers = { 'idempotency-key': `stream-${Date.now()}` }
    const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
    const first = await stream('/v1/images/generations', body, headers)
    const after = await balance()
    const second = await stream('/v1/images/generations', body, headers)
    expect([second.events, await balance()]).toEqual([first.events, after])
  })

  test('refuses more partial images than OpenAI knows', async () => {
    const { status, body } = await gateway.request('POST', '/v1/images/generations', {
      body: { prompt: PROMPT, stream: true, partial_images: 4 },
    })
    expect([status, body.error.param]).toEqual([400, 'partial_images'])
  })
})

describe('without a model', () => {
  test('images are made and edited by the first model', async () => {
    const made = await gateway.request('POST', '/v1/images/generations', { body: { prompt: PROMPT } })
    expect([made.status, made.headers.get('x-gateway-model')]).toEqual([200, 'gpt-image-2'])
    const edited = await gateway.request('POST', '/v1/images/edits', {
      body: { prompt: PROMPT, image: picture },
    })
    expect([edited.status, edited.headers.get('x-gateway-model')]).toEqual([200, 'gpt-image-2'])
  })

  test('a model of a configured provider is used, one that edits for an edit', async () => {
    const vendors = await startEveryVendor(['fal'])
    const live = await startTestGateway({
      settings: { ...vendors.settings, PARKWAY_BOOTSTRAP_CREDIT_USD: '100' },
      key: 'pk-live-KnownKnownKnownKnownKnownKnownKnownKnown',
    })
    try {
      const headers = { prefer: 'respond-async' }
      const made = await live.request('POST', '/v1/images/generations', {
        body: { prompt: 'A cube' },
        headers,
      })
      const edited = await live.request('POST', '/v1/images/edits', {
        body: { prompt: 'A cube', image: picture },
        headers,
      })
      expect([made.status, made.body.model, edited.status, edited.body.model]).toEqual([
        202,
        'flux-schnell',
        202,
        'flux-kontext-pro',
      ])
    } finally {
      await live.close()
      await vendors.close()
    }
  })
})

describe('a recording in a JSON body', () => {
  const transcribe = (file: unknown) =>
    gateway.request('POST', '/v1/audio/transcriptions', { body: { model: 'whisper-1', file } })

  test('may be what JSON makes of a Uint8Array or a Buffer', async () => {
    const speech = await gateway.fetch('POST', '/v1/audio/speech', {
      body: { model: 'tts-1', input: 'One.', voice: 'alloy', response_format: 'mp3', speed: 4 },
    })
    const bytes = Buffer.from(await speech.arrayBuffer())
    for (const file of [new Uint8Array(bytes), bytes, bytes.toString('base64')]) {
      const { status, body } = await transcribe(file)
      expect([status, body.text]).toEqual([200, 'One.'])
    }
  })

  test.each([
    [{}],
    [{ 0: 256 }],
    [{ 0: 1, 5: 2 }],
    [{ type: 'Buffer', data: ['x'] }],
    [{ type: 'Buffer' }],
    [5],
  ])('is not %j', async (file) => {
    const { status, body } = await transcribe(file)
    expect([status, body.error.param]).toEqual([400, 'file'])
  })
})

test('the sandbox says why it makes no opus and no aac', async () => {
  for (const format of ['opus', 'aac']) {
    const { status, body } = await gateway.request('POST', '/v1/audio/speech', {
      body: { model: 'tts-1', input: 'One.', voice: 'alloy', response_format: format },
    })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(`no encoder for ${format}`)])
  }
})
