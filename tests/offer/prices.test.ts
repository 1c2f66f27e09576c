import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry } from '../chat/start-chat-gateway.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { chunk, completion, heldBack, pacedStream, USAGE } from '../upstreams/openai-server.ts'
import {
  addModel,
  askModel,
  createOther,
  MODELS,
  PRICE,
  startTwoGateways,
  type TwoGateways,
} from './offered-model.ts'

let both: TwoGateways
let gateway: TwoGateways['gateway']
let second: TestGateway

beforeAll(async () => {
  both = await startTwoGateways(
    ['of-the-file', 'returning'].map((id) => modelEntry(id, [{ provider: 'openai', model: 'm' }])),
  )
  ;({ gateway, second } = both)
})
afterAll(() => both.close())
beforeEach(() => gateway.upstream.respondWith(completion()))

const HOUR_MS = 3_600_000
const pricesOf = (id: string) => `${MODELS}/${id}/prices`
const setPrice = (id: string, factor: number, members: object = {}) =>
  gateway.request('POST', pricesOf(id), {
    body: { price: times(factor), ...members },
  })
const times = (factor: number) => ({
  ...PRICE,
  input_usd_per_1m: factor,
  output_usd_per_1m: 10 * factor,
})
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
/** What an answer of the upstream costs at the first price. */
const COST_USD = (USAGE.prompt_tokens + 10 * USAGE.completion_tokens) / 1e6
const costOf = async (from: TestGateway, model: string) => (await askModel(from, model)).body.usage.cost_usd

describe('a price list', () => {
  test('is charged by every process as soon as it is set, also for a model of the file', async () => {
    expect(await costOf(second, 'of-the-file')).toBe(COST_USD)
    const set = await setPrice('of-the-file', 3, { reason: 'the vendor raised it' })
    expect(set.status).toBe(201)
    expect(set.body).toMatchObject({ state: 'current', reason: 'the vendor raised it', price: times(3) })
    for (const one of [gateway, second]) expect(await costOf(one, 'of-the-file')).toBe(3 * COST_USD)
    const { body } = await second.request('GET', '/v1/models/of-the-file')
    expect(body.price).toMatchObject(times(3))
    const list = await second.request('GET', pricesOf('of-the-file'))
    expect(list.body.data).toMatchObject([
      { id: set.body.id, state: 'current' },
      { id: expect.stringMatching(/^file-/), state: 'past', effective_from: null },
    ])
  })

  test('from a later moment on is listed, charged by nobody, and can be withdrawn', async () => {
    await addModel(gateway, 'later-1')
    const set = await setPrice('later-1', 5, { effective_from: inHours(2) })
    expect(set.body).toMatchObject({ state: 'future' })
    const { body: model } = await second.request('GET', `${MODELS}/later-1`)
    expect(model).toMatchObject({ price: PRICE, next_price_from: set.body.effective_from })
    expect(await costOf(second, 'later-1')).toBe(COST_USD)
    const path = `${pricesOf('later-1')}/${set.body.id}`
    expect((await gateway.request('DELETE', path)).body).toMatchObject({ deleted: true })
    expect((await gateway.request('DELETE', path)).status).toBe(409)
    expect((await second.request('GET', `${MODELS}/later-1`)).body.next_price_from).toBe(null)
    const list = await second.request('GET', pricesOf('later-1'))
    expect(list.body.data.map(({ state }: { state: string }) => state)).toEqual(['withdrawn', 'current'])
  })

  test('cannot be withdrawn once it has effect', async () => {
    const { body: model } = await addModel(gateway, 'fixed-1')
    const refused = await gateway.request('DELETE', `${pricesOf('fixed-1')}/${model.price_version}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect((await gateway.request('DELETE', `${pricesOf('fixed-1')}/1`)).status).toBe(404)
  })

  test('ends when it is deleted if its model is of the file, which has the price of the file again in every process', async () => {
    const { body: set } = await setPrice('returning', 3)
    const { body: future } = await setPrice('returning', 5, { effective_from: inHours(2) })
    const held = heldBack(completion())
    gateway.upstream.respondWith(held.reply)
    const asked = gateway.upstream.requests.length
    const answer = askModel(second, 'returning')
    await expect.poll(() => gateway.upstream.requests.length).toBe(asked + 1)
    const path = `${pricesOf('returning')}/${set.id}`
    expect((await gateway.request('DELETE', path)).body).toMatchObject({ id: set.id, deleted: true })
    held.release()
    expect((await answer).body.usage.cost_usd).toBe(3 * COST_USD)
    gateway.upstream.respondWith(completion())
    for (const one of [gateway, second]) expect(await costOf(one, 'returning')).toBe(COST_USD)
    const { body: model } = await second.request('GET', `${MODELS}/returning`)
    expect(model).toMatchObject({ price: PRICE, price_version: expect.stringMatching(/^file-/) })
    expect(model.next_price_from).toBe(future.effective_from)
    const { body: list } = await second.request('GET', pricesOf('returning'))
    expect(list.data).toMatchObject([
      { id: future.id, state: 'future', source: 'database' },
      { state: 'current', source: 'file', price: PRICE, effective_from: expect.any(String) },
      { id: set.id, state: 'past', source: 'database' },
      { id: model.price_version, state: 'past', source: 'file', effective_from: null },
    ])
    for (const id of [set.id, list.data[1].id])
      expect((await gateway.request('DELETE', `${pricesOf('returning')}/${id}`)).status).toBe(409)
    await setPrice('returning', 7)
    expect(await costOf(second, 'returning')).toBe(7 * COST_USD)
    const { unexplained, withoutList } = await explainCharges(gateway.connectionString)
    expect([unexplained, withoutList]).toEqual([[], 0])
  })

  test.each([
    ['a moment of the past', { effective_from: '2020-01-01T00:00:00Z' }],
    ['the year 275760', { effective_from: '+275760-09-13T00:00:00Z' }],
    ['the year 9999', { effective_from: '9999-01-01T00:00:00Z' }],
    ['no moment at all', { effective_from: 'soon' }],
    ['a negative amount', { price: { ...PRICE, output_usd_per_1m: -1 } }],
    ['a missing amount', { price: { unit: 'token', input_usd_per_1m: 1 } }],
    ['a unit that the model does not have', { price: { unit: 'hour', usd: 1 } }],
    ['a reason with a line break', { reason: 'a\nb' }],
  ])('is refused with %s', async (_, members) => {
    expect((await setPrice('of-the-file', 1, members)).status).toBe(400)
  })

  test('for a model that does not exist is not found, and a second one from the same moment is refused', async () => {
    expect((await setPrice('no-such-model', 1)).status).toBe(404)
    expect((await gateway.request('GET', pricesOf('no-such-model'))).status).toBe(404)
    await addModel(gateway, 'twice-1')
    const at = inHours(1)
    expect((await setPrice('twice-1', 2, { effective_from: at })).status).toBe(201)
    expect((await setPrice('twice-1', 3, { effective_from: at })).status).toBe(409)
  })

  test('is charged at once if it is of another kind, because its model was removed and added again as another', async () => {
    await addModel(gateway, 'turned-1')
    await gateway.request('DELETE', `${MODELS}/turned-1`)
    const price = { unit: 'image', usd: 0.02 }
    const image = { category: 'image', capabilities: [], context_tokens: null, price }
    const { context_tokens: _, ...members } = image
    expect((await addModel(gateway, 'turned-1', members)).status).toBe(201)
    for (const one of [gateway, second]) {
      const { status, body } = await one.request('GET', '/v1/models/turned-1')
      expect([status, body.price]).toEqual([200, expect.objectContaining(price)])
    }
  })

  test('is seen and set by operators only', async () => {
    const key = await createOther(gateway)
    expect((await gateway.request('GET', pricesOf('of-the-file'), { key })).status).toBe(403)
    const body = { price: PRICE }
    expect((await gateway.request('POST', pricesOf('of-the-file'), { key, body })).status).toBe(403)
  })
})

describe('a request that began before', () => {
  test('is charged as it was held, however the price changes before its answer', async () => {
    await addModel(gateway, 'held-1')
    const held = heldBack(completion())
    gateway.upstream.respondWith(held.reply)
    const asked = gateway.upstream.requests.length
    const answer = askModel(second, 'held-1')
    await expect.poll(() => gateway.upstream.requests.length).toBe(asked + 1)
    await setPrice('held-1', 100)
    await setPrice('held-1', 0)
    held.release()
    expect((await answer).body.usage.cost_usd).toBe(COST_USD)
  })

  test('is streamed and charged to its end after its model was removed', async () => {
    await addModel(gateway, 'streamed-1')
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
    const response = await second.fetch('POST', CHAT, {
      body: chatBody({ model: 'streamed-1', stream: true, stream_options: { include_usage: true } }),
    })
    expect(response.status).toBe(200)
    await gateway.request('DELETE', `${MODELS}/streamed-1`)
    expect((await askModel(second, 'streamed-1')).status).toBe(404)
    paced.release(chunk({ finish_reason: 'stop' }))
    paced.release(chunk({ choices: [], usage: USAGE }))
    paced.finish()
    const text = await response.text()
    expect(text).toContain('[DONE]')
    expect(text).toContain(`"cost_usd":${COST_USD}`)
  })
})
