import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createCatalog,
  SERVICE_CATEGORIES,
  type CatalogModel,
  type Category,
} from '../src/modules/catalog/catalog.ts'
import { paintPng } from './generation/pictures.ts'
import { waitForTask } from './generation/wait-for-task.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const catalog = createCatalog()
const models = [...catalog.list(), ...SERVICE_CATEGORIES.flatMap((category) => catalog.list({ category }))]

let gateway: TestGateway
let picture: string
let recording: string

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '100' } })
  picture = `data:image/png;base64,${(await paintPng(160, 90)).toString('base64')}`
  const spoken = { model: 'tts-1', input: 'One, two, three.', voice: 'alloy', response_format: 'wav' }
  const answer = await gateway.fetch('POST', '/v1/audio/speech', { body: spoken })
  recording = Buffer.from(await answer.arrayBuffer()).toString('base64')
})

afterAll(() => gateway.close())

/** A small request to each kind of model; jobs of the sandbox end at once. */
const QUICK = '[[sandbox:job ms=0]]'
const REQUESTS: Readonly<Record<Category, (model: CatalogModel) => { path: string; body: object }>> = {
  llm: () => ({
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 },
  }),
  image: () => ({ path: '/v1/images/generations', body: { prompt: 'A cube' } }),
  video: ({ capabilities }) => ({
    path: '/v1/videos/generations',
    body: { prompt: `${QUICK} Waves`, ...(capabilities.has('text_to_video') ? {} : { image_url: picture }) },
  }),
  stt: () => ({ path: '/v1/audio/transcriptions', body: { file: recording } }),
  tts: () => ({ path: '/v1/audio/speech', body: { input: 'Hello', voice: 'nova' } }),
  embedding: () => ({ path: '/v1/embeddings', body: { input: 'Hello' } }),
  music: () => ({ path: '/v1/audio/music', body: { prompt: `${QUICK} A waltz`, duration: 3 } }),
  rerank: () => ({ path: '/v1/rerank', body: { query: 'cat', documents: ['a cat', 'a car'] } }),
  moderation: () => ({ path: '/v1/moderations', body: { input: 'Hello' } }),
  upscale: () => ({ path: '/v1/images/upscale', body: { image: picture } }),
  bg_remove: () => ({ path: '/v1/images/bg-remove', body: { image: picture } }),
}

describe('every model of the catalog, without a provider', () => {
  test.each(models)('$id is served by the sandbox', async (model) => {
    const { path, body } = REQUESTS[model.category](model)
    const answer = await gateway.request('POST', path, { body: { model: model.id, ...body } })
    if (answer.status === 202) {
      const task = await waitForTask(gateway, answer.body.task_id)
      expect([task.status, task.error, task.model]).toEqual(['completed', null, model.id])
      expect(task.result.data[0].url).toMatch(/^http/)
      expect(task.cost_usd).toBeGreaterThan(0)
      return
    }
    expect([answer.status, answer.body.error?.message]).toEqual([200, undefined])
    expect(answer.headers.get('x-gateway-provider')).toBe('sandbox')
  })
})
