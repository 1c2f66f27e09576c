import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createInferenceCall, payloadOf } from '../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../tests/upstreams/call-provider.ts'
import { failure, json } from '../../../tests/upstreams/openai-server.ts'
import { startWireUpstream, type WireUpstream } from '../../../tests/upstreams/start-wire-upstream.ts'
import { testUpstreamFailures } from '../../../tests/upstreams/test-upstream-failures.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { encodeEmbedding } from '../answers/encode-embedding.ts'

let upstream: WireUpstream

beforeAll(async () => {
  upstream = await startWireUpstream('openai', ['sk-1', 'sk-2'])
})

beforeEach(() => {
  upstream.server.requests.length = 0
})

afterAll(async () => {
  await upstream.close()
})

const VALUES = [0.5, -0.25, 1]
const answerOf = (embedding: unknown) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding }],
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 3, total_tokens: 3 },
})
const refusal = (status: number, message: string, headers?: Record<string, string>) =>
  failure(status, { message }, headers)

const embed = (members: Partial<EmbeddingRequest> = {}) =>
  upstream.provider.embedding?.(
    createInferenceCall({ model: 'small', input: 'a fox', ...members }, 'text-embedding-3-small'),
  )

describe('embeddings over the wire of OpenAI', () => {
  test('the request is forwarded unchanged except for the model, and the answer byte by byte', async () => {
    const text = `{"object": "list","data":[ {"object":"embedding","embedding": [0.50, 1e0],"index":0}],"usage":{"prompt_tokens":3}}`
    upstream.server.respondWith(json(text))
    const body = { model: 'small', input: ['a fox'], dimensions: 2, unknown_member: { kept: true } }
    const answer = await upstream.provider.embedding?.(createInferenceCall(body, 'text-embedding-3-small'))
    expect(answer).toEqual({ kind: 'complete', payload: Buffer.from(text) })
    const [request] = upstream.server.requests
    expect(request?.path).toBe('/v1/embeddings')
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'req_test' })
    expect(request?.body).toEqual({ ...body, model: 'text-embedding-3-small' })
  })

  test('base64 is passed through if the upstream supports it', async () => {
    upstream.server.respondWith(json(answerOf(encodeEmbedding(VALUES))))
    expect(payloadOf(await embed({ encoding_format: 'base64' })).data[0].embedding).toBe(
      encodeEmbedding(VALUES),
    )
  })

  test('an answer in another encoding than requested is converted', async () => {
    upstream.server.respondWith(json(answerOf(VALUES)))
    const base64 = payloadOf(await embed({ encoding_format: 'base64' }))
    expect(base64).toEqual(answerOf(encodeEmbedding(VALUES)))
    upstream.server.respondWith(json(answerOf(encodeEmbedding(VALUES))))
    expect(payloadOf(await embed())).toEqual(answerOf(VALUES))
  })

  test('a refused key rests, and another one is tried', async () => {
    upstream.server.respondWith(failure(401), json(answerOf(VALUES)))
    expect(payloadOf(await embed())).toEqual(answerOf(VALUES))
    const keys = upstream.server.requests.map(({ headers }) => headers.authorization)
    expect(new Set(keys).size).toBe(2)
  })

  test.each([
    ['an answer without vectors', { object: 'list', data: [] }],
    ['a vector that is none', answerOf({ not: 'numbers' })],
    ['half a number', answerOf('AAA=')],
  ])('%s is an invalid answer', async (_, answer) => {
    upstream.server.respondWith(json(answer))
    expect(await failureOf(Promise.resolve(embed()))).toMatchObject({ failure: 'invalid_answer' })
  })

  test('an error with status 200 is an error', async () => {
    upstream.server.respondWith(refusal(200, 'it broke'))
    expect(await failureOf(Promise.resolve(embed()))).toMatchObject({
      status: 500,
      upstreamMessage: 'it broke',
    })
  })
})

describe('moderation over the wire of OpenAI', () => {
  test('is passed through, with the upstream’s name of the model', async () => {
    const answer = { id: 'modr-1', model: 'omni-moderation-2024-09-26', results: [{ flagged: false }] }
    upstream.server.respondWith(json(answer))
    const body = { input: [{ type: 'text' as const, text: 'I will plant a tree' }] }
    const call = createInferenceCall(body, 'omni-moderation-latest')
    expect(payloadOf(await upstream.provider.moderation?.(call))).toEqual(answer)
    expect(upstream.server.requests[0]).toMatchObject({
      path: '/v1/moderations',
      body: { ...body, model: 'omni-moderation-latest' },
    })
  })
})

testUpstreamFailures('embeddings', {
  server: () => upstream.server,
  perform: (cancellation) =>
    Promise.resolve(
      upstream.provider.embedding?.(createInferenceCall({ model: 'small', input: 'a' }, 'm', cancellation)),
    ),
  refusal,
  cutReply: json('{"object":"list","data":[{"embedding":[0.1,'),
})
