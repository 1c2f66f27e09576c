import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createInferenceCall, payloadOf } from '../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../tests/upstreams/call-provider.ts'
import { json } from '../../../tests/upstreams/openai-server.ts'
import { startWireUpstream, type WireUpstream } from '../../../tests/upstreams/start-wire-upstream.ts'
import { testUpstreamFailures } from '../../../tests/upstreams/test-upstream-failures.ts'
import type { InferenceAnswer } from '../provider.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'

let upstream: WireUpstream

beforeAll(async () => {
  upstream = await startWireUpstream('jina')
})

beforeEach(() => {
  upstream.server.requests.length = 0
  upstream.server.respondWith(json(ANSWER))
})

afterAll(async () => {
  await upstream.close()
})

const ANSWER = {
  model: 'jina-reranker-v2-base-multilingual',
  usage: { total_tokens: 12 },
  results: [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ],
}
const BODY: RerankRequest = { query: 'a gateway', documents: ['Bread.', { text: 'A gateway.' }] }

async function rerank(
  body = BODY,
  cancellation = createInferenceCall(body, '').cancellation,
): Promise<InferenceAnswer> {
  const answer = await upstream.provider.rerank?.(createInferenceCall(body, 'jina-reranker-v2', cancellation))
  if (answer === undefined) throw new Error('expected reranking')
  return answer
}

describe('reranking over the wire of Jina', () => {
  test('sends texts only and returns a ranking with its cost', async () => {
    expect(payloadOf(await rerank({ ...BODY, top_n: 5, return_documents: true }))).toEqual({
      results: ANSWER.results,
      meta: { billed_units: { search_units: 1 } },
    })
    expect(upstream.server.requests[0]).toMatchObject({
      path: '/v1/rerank',
      body: {
        model: 'jina-reranker-v2',
        query: 'a gateway',
        documents: ['Bread.', 'A gateway.'],
        top_n: 2,
        return_documents: false,
      },
    })
  })

  test('a search unit covers a hundred documents', async () => {
    const documents = Array.from({ length: 101 }, (_, index) => `document ${index}`)
    expect(payloadOf(await rerank({ ...BODY, documents })).meta.billed_units.search_units).toBe(2)
  })

  test('has no chat', () => {
    expect(upstream.provider.chat).toBeUndefined()
  })

  test.each([
    ['no results', {}],
    ['a document that was not sent', { results: [{ index: 2, relevance_score: 1 }] }],
    ['a result without a score', { results: [{ index: 0 }] }],
  ])('%s is an invalid answer', async (_, answer) => {
    upstream.server.respondWith(json(answer))
    expect(await failureOf(rerank())).toMatchObject({ failure: 'invalid_answer' })
  })
})

testUpstreamFailures('reranking', {
  server: () => upstream.server,
  perform: (cancellation) => rerank(BODY, cancellation),
  // Jina reports its reason in `detail`, outside of the error envelope.
  refusal: (status, detail, headers) => json({ detail }, status, headers),
  cutReply: json('{"results":[{"index"'),
})
