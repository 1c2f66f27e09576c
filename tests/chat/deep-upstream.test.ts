import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunk, completion, json, stream, USAGE, type Reply } from '../upstreams/openai-server.ts'
import { modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const DEEP = '['.repeat(5_000) + ']'.repeat(5_000)
/** Placeholder that is replaced by `DEEP` in the serialized JSON, because `JSON.stringify` cannot nest that deep. */
const HERE = '"deep"'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    providers: ['vllm'],
    models: [
      modelEntry('talker', [{ provider: 'openai', model: 'talker' }]),
      modelEntry('ranker', [{ provider: 'vllm', model: 'ranker' }], {
        category: 'rerank',
        capabilities: [],
        price: { unit: 'search', usd: 0.001 },
      }),
    ],
  })
})

afterAll(() => gateway.close())

const CHAT = { model: 'talker', messages: [{ role: 'user', content: 'Hi' }] }
const deepJson = (body: object) => json(JSON.stringify(body).replace(HERE, DEEP))
const deepEvent = (body: object) => `data: ${JSON.stringify(body).replace(HERE, DEEP)}\n\n`
const answer = JSON.parse(String(completion({ message: { extra: 'deep' } }).chunks?.[0]))

describe('JSON that is nested 5,000 deep', () => {
  test.each<[string, string, object, Reply]>([
    ['a whole chat', '/v1/chat/completions', CHAT, deepJson(answer)],
    [
      'the first chunk of a stream',
      '/v1/chat/completions',
      { ...CHAT, stream: true },
      stream([deepEvent(chunk({ delta: { content: 'x', extra: 'deep' } }))]),
    ],
    [
      'embeddings',
      '/v1/embeddings',
      { model: 'text-embedding-3-small', input: 'Hi' },
      deepJson({ object: 'list', data: [{ index: 0, embedding: 'deep' }], usage: USAGE }),
    ],
    [
      'a ranking',
      '/v1/rerank',
      { model: 'ranker', query: 'Hi', documents: ['a'] },
      deepJson({ results: [{ index: 0, relevance_score: 0.5, extra: 'deep' }] }),
    ],
    [
      'an error of the upstream',
      '/v1/chat/completions',
      CHAT,
      { ...deepJson({ error: { message: 'no', extra: 'deep' } }), status: 500 },
    ],
  ])('502: in %s', async (_, path, body, reply) => {
    gateway.upstream.respondWith(reply)
    const refused = await gateway.request('POST', path, { body })
    expect([refused.status, refused.body.error?.code]).toEqual([502, 'provider_error'])
  })
})
