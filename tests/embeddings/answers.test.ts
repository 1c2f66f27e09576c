import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { json } from '../upstreams/openai-server.ts'
import {
  answerOf,
  embeddingBody,
  EMBEDDINGS,
  embeddings,
  SMALL,
  startEmbeddingGateway,
  toBase64,
} from './start-embedding-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startEmbeddingGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(embeddings())
})

const ask = (members: object = {}) => gateway.request('POST', EMBEDDINGS, { body: embeddingBody(members) })

describe('embeddings of an upstream that speaks the wire', () => {
  test('have our model, usage, cost and headers', async () => {
    const { status, body, headers } = await ask()
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
      model: SMALL,
      usage: { prompt_tokens: 5, total_tokens: 5, cost_usd: 0.0000001 },
    })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-gateway-cost-usd')).toBe('0.0000001')
    expect(headers.get('x-gateway-provider')).toBe('openai')
    expect(headers.get('x-gateway-balance-usd')).not.toBeNull()
    expect(headers.get('x-gateway-latency-ms')).not.toBeNull()
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect(headers.get('x-ratelimit-remaining-tokens')).not.toBeNull()
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  })

  test('have the digits of the upstream', async () => {
    gateway.upstream.respondWith(
      json('{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,1E-2]}],"model":"x"}'),
    )
    const response = await gateway.fetch('POST', EMBEDDINGS, { body: embeddingBody() })
    const text = await response.text()
    expect(text).toContain('[0.10,1E-2]')
    expect(JSON.parse(text)).toMatchObject({ model: SMALL, usage: { prompt_tokens: 4, total_tokens: 4 } })
  })

  test('are requested with the unchanged body', async () => {
    const text = `{"input" : "a",  "model":"${SMALL}","dimensions":256,"something_new":1}`
    await gateway.request('POST', EMBEDDINGS, { body: text })
    const [request] = gateway.upstream.requests
    expect([request?.path, request?.text]).toEqual(['/v1/embeddings', text])
    await gateway.request('POST', EMBEDDINGS, { body: { model: 'two-routes-alias', input: 'a' } })
    expect(gateway.upstream.requests[1]?.body).toEqual({ model: 'vllm-embedder', input: 'a' })
  })

  test('ignore members that only apply to a chat', async () => {
    const { status, body } = await ask({ stream: true, n: 'many', max_tokens: -1, temperature: 'hot' })
    expect([status, body.data?.length]).toEqual([200, 1])
    expect(gateway.upstream.bodies()[0]).toMatchObject({ n: 'many', max_tokens: -1, temperature: 'hot' })
  })

  test('have the model name that the client used', async () => {
    expect((await ask({ model: 'two-routes-alias' })).body.model).toBe('two-routes-alias')
  })

  test.each([
    ['texts', ['a', 'b']],
    ['tokens of several texts', [[1, 2, 3], [4]]],
  ])('embeddings of an upstream that speaks the wire of several %s are as many', async (_name, input) => {
    gateway.upstream.respondWith(embeddings([[1], [2]]))
    const { body } = await ask({ input })
    expect(body.data.map(({ index, embedding }: never) => [index, embedding])).toEqual([
      [0, [1]],
      [1, [2]],
    ])
  })

  test('embeddings of an upstream that speaks the wire of the tokens of one text are one', async () => {
    expect((await ask({ input: [1, 2, 3] })).body.data).toHaveLength(1)
  })

  test.each([
    ['base64 that the upstream knows', toBase64([0.25, -0.5])],
    ['base64 that the upstream does not know', [0.25, -0.5]],
  ])('are returned in %s', async (_name, sent) => {
    gateway.upstream.respondWith(embeddings([sent]))
    const { body } = await ask({ encoding_format: 'base64' })
    expect(body.data[0].embedding).toBe(toBase64([0.25, -0.5]))
    expect(body).toMatchObject({ object: 'list', model: SMALL, usage: { total_tokens: 5 } })
  })

  test('are returned as numbers if the upstream always sends base64', async () => {
    gateway.upstream.respondWith(embeddings([toBase64([0.25, -0.5])]))
    expect((await ask({ encoding_format: 'float' })).body.data[0].embedding).toEqual([0.25, -0.5])
    expect((await ask()).body.data[0].embedding).toEqual([0.25, -0.5])
  })

  test('are put in order and completed', async () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ]
    gateway.upstream.respondWith(json({ data, extra: true }))
    const { status, body } = await ask({ input: ['a', 'b'] })
    expect([status, body]).toEqual([
      200,
      {
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [1] },
          { object: 'embedding', index: 1, embedding: [2] },
        ],
        extra: true,
        model: SMALL,
        usage: { prompt_tokens: 2, total_tokens: 2, cost_usd: 0.00000004 },
      },
    ])
  })

  test('embeddings of an upstream that speaks the wire of thousands of numbers are complete', async () => {
    const vectors = Array.from({ length: 64 }, (_, row) =>
      Array.from({ length: 1536 }, (_number, column) => Math.sin(row * 1536 + column)),
    )
    gateway.upstream.respondWith(embeddings(vectors))
    const { body } = await ask({ input: vectors.map(String).map((text) => text.slice(0, 20)) })
    expect(body.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(vectors)
  })
})

describe('the cost of embeddings', () => {
  test("is that of the upstream's count", async () => {
    gateway.upstream.respondWith(
      embeddings([[1]], { usage: { prompt_tokens: 7, total_tokens: 7, extra: 'kept' } }),
    )
    const { body } = await ask({ model: 'on-vllm' })
    expect(body.usage).toEqual({ prompt_tokens: 7, total_tokens: 7, extra: 'kept', cost_usd: 0.000007 })
  })

  test.each([
    ['only the total is named', { total_tokens: 6 }, 6],
    ['the names are newer', { input_tokens: 6 }, 6],
    ['nothing is reported', undefined, 4],
    ['nothing sensible is reported', { prompt_tokens: 'many' }, 4],
  ])('is found where %s', async (_name, usage, tokens) => {
    gateway.upstream.respondWith(json(answerOf([[1]], { usage })))
    const { body } = await ask({ model: 'on-vllm' })
    expect(body.usage).toMatchObject({ prompt_tokens: tokens, total_tokens: tokens, cost_usd: tokens / 1e6 })
  })

  test('is one price if the price is per request', async () => {
    expect((await ask({ model: 'per-request' })).body.usage.cost_usd).toBe(0.01)
  })

  test('is in the usage', async () => {
    const { headers } = await ask({ model: 'on-vllm' })
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=1')
    expect(body.data[0]).toMatchObject({
      operation: 'embedding',
      model: 'on-vllm',
      provider: 'vllm',
      prompt_tokens: 5,
      completion_tokens: 0,
      cost_usd: 0.000005,
    })
    expect(headers.get('x-request-id')?.slice(4)).toBe(body.data[0].id.replaceAll('-', ''))
  })
})

describe('embeddings of the sandbox', () => {
  let sandboxed: TestGateway

  beforeAll(async () => {
    sandboxed = await startTestGateway()
  })

  afterAll(() => sandboxed.close())

  const embed = async (members: object) => {
    const { body } = await sandboxed.request('POST', EMBEDDINGS, { body: embeddingBody(members) })
    return body
  }

  test('are nearer for related texts', async () => {
    const input = ['How do I bake bread?', 'Baking a loaf of bread at home', 'The stock market fell today']
    const { data, usage } = await embed({ input })
    const [question, near, far] = data.map(({ embedding }: { embedding: number[] }) => embedding)
    const cosine = (a: number[], b: number[]) =>
      a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
    expect(question).toHaveLength(1536)
    expect(cosine(question, near)).toBeGreaterThan(cosine(question, far))
    expect(usage.cost_usd).toBeGreaterThan(0)
  })

  test('have the requested dimensions, in either encoding', async () => {
    const numbers = await embed({ dimensions: 256 })
    const text = await embed({ dimensions: 256, encoding_format: 'base64' })
    const decoded = new Float32Array(Uint8Array.from(Buffer.from(text.data[0].embedding, 'base64')).buffer)
    expect(decoded).toHaveLength(256)
    expect(numbers.data[0].embedding[5]).toBeCloseTo(decoded[5] ?? 0, 6)
  })
})
