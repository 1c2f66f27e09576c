import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createInferenceCall, payloadOf } from '../../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../../tests/upstreams/call-provider.ts'
import {
  startCohereServer,
  startGoogleEmbeddingServer,
  startVoyageServer,
  vectorOf,
} from '../../../../tests/upstreams/embedding-servers.ts'
import { googleError } from '../../../../tests/upstreams/google-server.ts'
import { failure, json } from '../../../../tests/upstreams/openai-server.ts'
import type { ScriptedReply, ScriptedServer } from '../../../../tests/upstreams/scripted-server.ts'
import { testUpstreamFailures } from '../../../../tests/upstreams/test-upstream-failures.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { loadTokenEncoding } from '../../../kernel/tokens/token-encoding.ts'
import type { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import { encodeEmbedding } from '../../answers/encode-embedding.ts'
import type { Provider } from '../../provider.ts'
import type { RerankRequest } from '../../../wires/rerank/rerank-request.ts'
import {
  createCohereProvider,
  createGoogleEmbeddingProvider,
  createVoyageProvider,
} from './text-providers.ts'

interface Vendor {
  readonly start: () => Promise<ScriptedServer>
  readonly create: typeof createCohereProvider
  readonly model: string
  readonly refusal: (status: number, message: string, headers?: Record<string, string>) => ScriptedReply
  /** Reads the texts from a request in the vendor's format. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
  readonly textsOf: (body: any) => string[]
  readonly batchMax: number
}

const VENDORS: Record<string, Vendor> = {
  cohere: {
    start: startCohereServer,
    create: createCohereProvider,
    model: 'embed-v4.0',
    refusal: (status, message, headers) => json({ id: 'c2', message }, status, headers),
    textsOf: (body) => body.texts,
    batchMax: 96,
  },
  voyage: {
    start: startVoyageServer,
    create: createVoyageProvider,
    model: 'voyage-3.5',
    refusal: (status, detail, headers) => json({ detail }, status, headers),
    textsOf: (body) => body.input,
    batchMax: 128,
  },
  google: {
    start: startGoogleEmbeddingServer,
    create: createGoogleEmbeddingProvider,
    model: 'gemini-embedding-001',
    refusal: (status, message, headers) => ({
      ...googleError(status, 'SOME_STATUS', message),
      headers: { 'content-type': 'application/json', ...headers },
    }),
    textsOf: (body) =>
      (body.requests ?? [body]).map(
        ({ content }: { content: { parts: [{ text: string }] } }) => content.parts[0].text,
      ),
    batchMax: 100,
  },
}

async function embed(
  provider: Provider,
  body: Partial<EmbeddingRequest> & Record<string, unknown>,
  model: string,
  cancellation = new Cancellation(),
) {
  const whole = { model: 'public-name', input: 'a fox', ...body }
  return payloadOf(await provider.embedding?.(createInferenceCall(whole, model, cancellation)))
}

describe.each(Object.entries(VENDORS))('embeddings of %s', (name, vendor) => {
  let server: ScriptedServer
  let provider: Provider

  beforeAll(async () => {
    server = await vendor.start()
  })

  beforeEach(() => {
    server.requests.length = 0
    server.respondWith()
    provider = vendor.create({ apiKeys: ['key-1'], baseUrl: server.baseUrl })
  })

  afterAll(async () => {
    await server.close()
  })

  const run = (body: Partial<EmbeddingRequest>) => embed(provider, body, vendor.model)

  test('are answered in the wire of OpenAI', async () => {
    const { usage, ...answer } = await run({ input: ['one', 'three'] })
    expect(answer).toEqual({
      object: 'list',
      data: ['one', 'three'].map((text, index) => ({
        object: 'embedding',
        index,
        embedding: vectorOf(text),
      })),
      model: 'public-name',
    })
    // If a vendor reports no usage, the gateway counts the tokens.
    if (usage !== undefined) {
      expect(usage.prompt_tokens).toBeGreaterThan(0)
      expect(usage.total_tokens).toBe(usage.prompt_tokens)
    }
  })

  test('are returned as base64 if requested', async () => {
    const answer = await run({ encoding_format: 'base64' })
    expect(answer.data[0].embedding).toBe(encodeEmbedding(vectorOf('a fox')))
  })

  test('embeddings of %s of tokens are those of the decoded text', async () => {
    const { encode } = loadTokenEncoding('cl100k')
    const [one, many] = [encode('a red fox'), [encode('ünï'), encode('two words')]]
    expect((await run({ input: one })).data[0].embedding).toEqual(vectorOf('a red fox'))
    expect((await run({ input: many })).data[1].embedding).toEqual(vectorOf('two words'))
  })

  test('refuse invalid tokens', async () => {
    expect(await failureOf(run({ input: [200_000_000] }))).toMatchObject({
      status: 400,
      upstreamParam: 'input',
    })
    expect(server.requests).toEqual([])
  })

  test('are requested in batches and answered in order', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}${'x'.repeat(index % 7)}`)
    const { data } = await run({ input: texts })
    expect(data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(texts.map(vectorOf))
    const sizes = server.requests.map(({ body }) => vendor.textsOf(body).length)
    expect(Math.max(...sizes)).toBe(vendor.batchMax)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(300)
  })

  test('are an invalid answer if there are too few', async () => {
    server.respondWith(
      json({ embeddings: { float: [] }, meta: { billed_units: { input_tokens: 1 } }, data: [] }),
    )
    expect(await failureOf(run({ input: ['one', 'two'] }))).toMatchObject({ failure: 'invalid_answer' })
  })

  testUpstreamFailures(`embeddings of ${name}`, {
    server: () => server,
    perform: (cancellation) => embed(provider, {}, vendor.model, cancellation),
    refusal: vendor.refusal,
    cutReply: json('{"embeddings":[[0.1,'),
  })
})

describe('the request to a vendor', () => {
  test('Cohere: has the purpose of the texts, and the length of the vectors', async () => {
    const server = await startCohereServer()
    const provider = createCohereProvider({ apiKeys: ['key-1'], baseUrl: server.baseUrl })
    await embed(provider, { dimensions: 512, input_type: 'search_query' }, 'embed-v4.0')
    await embed(provider, {}, 'embed-v4.0')
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key-1')
    expect(server.requests[0]?.body).toMatchObject({
      model: 'embed-v4.0',
      input_type: 'search_query',
      output_dimension: 512,
    })
    expect(server.requests[1]?.body).toMatchObject({ input_type: 'search_document' })
    await server.close()
  })

  test('Google: has the dimensions; shorter vectors are scaled to length one', async () => {
    const server = await startGoogleEmbeddingServer()
    const provider = createGoogleEmbeddingProvider({ apiKeys: ['key-1'], baseUrl: server.baseUrl })
    const { data } = await embed(provider, { dimensions: 768 }, 'gemini-embedding-001')
    expect(server.requests[0]?.body).toMatchObject({ outputDimensionality: 768 })
    expect(Math.hypot(...data[0].embedding)).toBeCloseTo(1, 6)
    await server.close()
  })
})

describe.each([
  ['cohere', 'rerank-v3.5', 3],
  ['voyage', 'rerank-2.5', 1],
])('reranking of %s', (name, model, searchUnits) => {
  let server: ScriptedServer
  let provider: Provider

  beforeAll(async () => {
    server = await (VENDORS[name]?.start ?? startCohereServer)()
    provider = (VENDORS[name]?.create ?? createCohereProvider)({
      apiKeys: ['key-1'],
      baseUrl: server.baseUrl,
    })
  })

  afterAll(async () => {
    await server.close()
  })

  const rerank = async (body: Partial<RerankRequest>, cancellation = new Cancellation()) => {
    const whole = {
      query: 'a gateway',
      documents: ['bread', { text: 'a gateway of stone' }, 'gates'],
      ...body,
    }
    return payloadOf(await provider.rerank?.(createInferenceCall(whole, model, cancellation)))
  }

  test('returns a ranking and its cost', async () => {
    expect(await rerank({ top_n: 1 })).toEqual({
      results: [{ index: 1, relevance_score: 0.18 }],
      meta: { billed_units: { search_units: searchUnits } },
    })
    expect(server.requests[0]?.body).toMatchObject({
      model,
      query: 'a gateway',
      documents: ['bread', 'a gateway of stone', 'gates'],
    })
  })

  testUpstreamFailures(`reranking of ${name}`, {
    server: () => server,
    perform: (cancellation) => rerank({}, cancellation),
    refusal: VENDORS[name]?.refusal ?? ((status) => failure(status)),
    cutReply: json('{"results":[{"index"'),
  })
})
