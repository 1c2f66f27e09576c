import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createCatalog,
  SERVICE_CATEGORIES,
  type CatalogModel,
  type Category,
} from '../src/modules/catalog/catalog.ts'
import { paintPng } from './generation/pictures.ts'
import { waitForTask } from './generation/wait-for-task.ts'
import { longOr } from './support/long-or.ts'
import { testSeed } from './support/random-share.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from './support/start-test-gateway.ts'
import { startEveryVendor, type EveryVendor } from './upstreams/start-every-vendor.ts'
import { BEFORE_ENDS_MS } from './support/lasting-catalog.ts'

const catalog = createCatalog({ now: () => BEFORE_ENDS_MS })
const models = [...catalog.list(), ...SERVICE_CATEGORIES.flatMap((category) => catalog.list({ category }))]

/** A live key, which the sandbox never serves. */
const LIVE_KEY = 'pk-live-WalkWalkWalkWalkWalkWalkWalkWalkWalkWalk'
/** Enough credit for a tier whose limits allow all requests at the same time. */
const CREDIT = { PARKWAY_BOOTSTRAP_CREDIT_USD: '100000' }

let gateway: TestGateway
let vendors: EveryVendor
let vendorGateway: TestGateway
let calls: Map<CatalogModel, Promise<PromiseSettledResult<Outcome>>>
let picture: string
let recording: { base64: string; seconds: number }

beforeAll(async () => {
  vendors = await startEveryVendor([
    ...new Set(models.flatMap(({ routes }) => routes.map((r) => r.provider))),
  ])
  ;[gateway, vendorGateway] = await Promise.all([
    startTestGateway({ settings: CREDIT }),
    startTestGateway({ settings: { ...CREDIT, ...vendors.settings }, key: LIVE_KEY }),
  ])
  picture = `data:image/png;base64,${(await paintPng(160, 90)).toString('base64')}`
  const spoken = { model: 'tts-1', input: 'One, two, three.', voice: 'alloy', response_format: 'wav' }
  const answer = await gateway.fetch('POST', '/v1/audio/speech', { body: spoken })
  const wav = Buffer.from(await answer.arrayBuffer())
  const seconds = wav.readUInt32LE(wav.indexOf('data') + 4) / wav.readUInt32LE(28)
  // Seconds are billed with three decimals.
  recording = { base64: wav.toString('base64'), seconds: Math.ceil(seconds * 1000) / 1000 }
  // Started first and all together, because the gateway polls the jobs of vendors only every few seconds.
  calls = new Map(models.map((model) => [model, settled(callVendor(model))]))
})

afterAll(async () => {
  await Promise.all([gateway, vendorGateway].map((started) => started.close()))
  await vendors.close()
})

/** A small request for each kind of model. `QUICK` makes jobs of the sandbox end immediately. */
const QUICK = '[[sandbox:job ms=0]]'
const REQUESTS: Readonly<Record<Category, (model: CatalogModel) => { path: string; body: object }>> = {
  llm: () => ({
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 },
  }),
  image: () => ({ path: '/v1/images/generations', body: { prompt: 'A cube' } }),
  video: (model) => ({
    path: '/v1/videos/generations',
    body: {
      prompt: `${QUICK} Waves`,
      duration: secondsOf(model),
      ...(model.capabilities.has('text_to_video') ? {} : { image_url: picture }),
    },
  }),
  stt: () => ({ path: '/v1/audio/transcriptions', body: { file: recording.base64 } }),
  tts: () => ({ path: '/v1/audio/speech', body: { input: 'Hello', voice: 'nova' } }),
  embedding: () => ({ path: '/v1/embeddings', body: { input: 'Hello' } }),
  music: () => ({ path: '/v1/audio/music', body: { prompt: `${QUICK} A waltz`, duration: 3 } }),
  rerank: () => ({ path: '/v1/rerank', body: { query: 'cat', documents: ['a cat', 'a car'] } }),
  moderation: () => ({ path: '/v1/moderations', body: { input: 'Hello' } }),
  upscale: () => ({ path: '/v1/images/upscale', body: { image: picture } }),
  bg_remove: () => ({ path: '/v1/images/bg-remove', body: { image: picture } }),
}

/** One of each category, and a third of the others. */
const ofEachCategory = models.filter(
  ({ category }, index) =>
    models.findIndex((model) => model.category === category) === index || (index + testSeed) % 3 === 0,
)

describe('every model of the catalog, without a provider', () => {
  test.each(longOr(models, ofEachCategory))('$id is served by the sandbox', async (model) => {
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

describe('every model of the catalog, with an account at every vendor', () => {
  test('is ready', async () => {
    const { body } = await vendorGateway.request('GET', '/v1/models')
    expect(body.data).toHaveLength(62)
    expect(models.map(({ id }) => id)).toEqual(
      expect.arrayContaining(body.data.map(({ id }: { id: string }) => id)),
    )
    expect(body.data.filter((card: { is_ready: boolean }) => !card.is_ready)).toEqual([])
  })

  test.each(models)('$id is served by its vendor at its price', async (model) => {
    const [route] = model.routes
    const called = await calls.get(model)
    if (called?.status !== 'fulfilled') throw called?.reason
    const { provider, units, costUsd } = called.value
    expect(provider).toBe(route?.provider)
    expect(Math.round(costUsd * 1e9)).toBe(priceNanoUsd(model, units))

    const records = await vendorGateway.request(
      'GET',
      `/v1/usage/records?model=${encodeURIComponent(model.id)}`,
    )
    const { data, total } = records.body
    expect([total, data[0].provider, data[0].outcome, data[0].cost_usd]).toEqual([
      1,
      route?.provider,
      'completed',
      costUsd,
    ])
    const asked = vendors.get(provider).requests.map(({ path, text }) => path + text)
    expect(asked.some((request) => request.includes(route?.model ?? '?'))).toBe(true)
  })
})

interface Outcome {
  readonly provider: string
  readonly units: Units
  readonly costUsd: number
}

/** The billed quantity; for token prices, the prompt and completion tokens. */
type Units = number | { readonly prompt: number; readonly completion: number }

async function callVendor(model: CatalogModel): Promise<Outcome> {
  const answer = await askVendor(model)
  expect([answer.status, answer.body.error?.message]).toEqual([answer.status === 202 ? 202 : 200, undefined])
  if (answer.status !== 202) {
    return {
      provider: answer.headers.get('x-gateway-provider') ?? 'nobody',
      units: UNITS[model.category](model, answer),
      costUsd: Number(answer.headers.get('x-gateway-cost-usd')),
    }
  }
  const task = await waitForTask(vendorGateway, answer.body.task_id)
  expect([task.status, task.error]).toEqual(['completed', null])
  const file = await fetch(task.result.data[0].url)
  expect([file.status, (await file.arrayBuffer()).byteLength > 0]).toEqual([200, true])
  return {
    provider: model.routes[0]?.provider ?? '',
    units: UNITS[model.category](model, answer),
    costUsd: task.cost_usd,
  }
}

const ATTEMPTS_MAX = 10

/** Retries: with all requests at once, the database of a busy machine may be too slow, and the gateway answers `retry-after`. */
async function askVendor(model: CatalogModel): Promise<TestAnswer> {
  const { path, body } = REQUESTS[model.category](model)
  for (let attempt = 1; ; attempt += 1) {
    const answer = await vendorGateway.request('POST', path, { body: { model: model.id, ...body } })
    const isBusy = answer.body.error?.code === 'service_unavailable'
    if (!isBusy || attempt === ATTEMPTS_MAX) return answer
    await delay(Number(answer.headers.get('retry-after')) * 1000)
  }
}

const tokens = (_model: CatalogModel, { body: { usage } }: TestAnswer) => ({
  prompt: usage.prompt_tokens,
  completion: usage.completion_tokens ?? 0,
})

/** The quantities that local vendors report themselves: seconds of audio, searches. */
const TOLD_BY_VENDOR: Readonly<Record<string, number>> = { 'nova-3': 1.5, 'rerank-v3.5': 3 }

/** The quantities in the requests above. */
const UNITS: Readonly<Record<Category, (model: CatalogModel, answer: TestAnswer) => Units>> = {
  llm: tokens,
  embedding: tokens,
  image: () => 1,
  upscale: () => 1,
  bg_remove: () => 1,
  video: (model) => secondsOf(model),
  music: () => 3,
  stt: ({ id }) => Math.max(recording.seconds, TOLD_BY_VENDOR[id] ?? 0),
  tts: () => 'Hello'.length,
  rerank: ({ id }) => TOLD_BY_VENDOR[id] ?? 1,
  moderation: () => 1,
}

/** Returns the length of the files of the local vendors (5 s), or the minimum length if the model does not allow it. */
function secondsOf({ bounds: { durations } }: CatalogModel): number {
  return durations?.allowedSeconds?.includes(5) === false ? durations.minSeconds : 5
}

function priceNanoUsd({ price }: CatalogModel, units: Units): number {
  if (price.unit !== 'token') return roundUp(Number(price.nanoUsdPerUnit) * Number(units))
  if (typeof units === 'number') throw new Error('tokens are counted by kind')
  const { inputNanoUsdPer1m, outputNanoUsdPer1m } = price
  return roundUp(
    (units.prompt * Number(inputNanoUsdPer1m) + units.completion * Number(outputNanoUsdPer1m)) / 1e6,
  )
}

const FLOAT_NOISE = 1e-6

function roundUp(amount: number): number {
  return Math.ceil(Math.max(0, amount - FLOAT_NOISE))
}

/** Handles a rejection from the start, so that an early failure is reported by the test of that model. */
async function settled<Result>(promise: Promise<Result>): Promise<PromiseSettledResult<Result>> {
  const [result] = await Promise.allSettled([promise])
  return result
}
