import { readFile, writeFile } from 'node:fs/promises'
import { Client } from 'pg'
import { parse } from 'yaml'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry } from '../chat/start-chat-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { completion, USAGE } from '../upstreams/openai-server.ts'
import { addModel, askModel, MODELS, PRICE, startTwoGateways, type TwoGateways } from './offered-model.ts'

let both: TwoGateways
let gateway: TwoGateways['gateway']

/** So much for a million tokens of input, and four times of output. */
const costing = (usd: number) => ({ unit: 'token', input_usd_per_1m: usd, output_usd_per_1m: 4 * usd })
const routeOf = (model: string, usd?: number) => ({
  provider: 'openai',
  model,
  ...(usd === undefined ? {} : { cost: costing(usd) }),
})
/** What an answer of the upstream costs then. */
const costUsd = (usd: number) =>
  Number(((usd * (USAGE.prompt_tokens + 4 * USAGE.completion_tokens)) / 1e6).toFixed(9))
const PRICE_USD = (USAGE.prompt_tokens + 10 * USAGE.completion_tokens) / 1e6

beforeAll(async () => {
  both = await startTwoGateways([
    modelEntry('of-the-file', [{ provider: 'openai', model: 'm' }]),
    modelEntry('followed-file', [{ provider: 'openai', model: 'm' }]),
    modelEntry('reused-file', [{ provider: 'openai', model: 'm' }]),
    { ...modelEntry('costed-file', [{ provider: 'openai', model: 'm' }]), routes: [routeOf('m', 0.5)] },
  ])
  ;({ gateway } = both)
})
afterAll(() => both.close())
beforeEach(() => gateway.upstream.respondWith(completion()))

interface Entry {
  readonly cost_usd: number
  readonly vendor_cost_usd: number | null
  readonly margin_usd: number | null
}

/** The last request of the model, as operators see it. */
async function lastOf(model: string): Promise<Entry> {
  const { body } = await gateway.request('GET', `/v1/admin/requests?model=${model}&limit=1`)
  return body.data[0]
}

async function costOf(model: string): Promise<number | null> {
  expect((await askModel(both.second, model)).status).toBe(200)
  return (await lastOf(model)).vendor_cost_usd
}

const setCosts = (id: string, body: object) => gateway.request('POST', `${MODELS}/${id}/prices`, { body })
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

describe('the cost of a request', () => {
  test('is that of the route that answered, beside what was charged, and their difference is the margin', async () => {
    const made = await addModel(gateway, 'costed-1', { routes: [routeOf('first', 0.3)] })
    expect(made.body.routes).toMatchObject([routeOf('first', 0.3)])
    await askModel(both.second, 'costed-1')
    const entry = await lastOf('costed-1')
    expect(entry).toMatchObject({ cost_usd: PRICE_USD, vendor_cost_usd: costUsd(0.3) })
    expect(entry.margin_usd).toBeCloseTo(PRICE_USD - costUsd(0.3), 9)
  })

  test('is unknown if nobody stated it, and not zero; and zero if that was stated', async () => {
    await addModel(gateway, 'unknown-1')
    expect(await costOf('unknown-1')).toBe(null)
    expect((await lastOf('unknown-1')).margin_usd).toBe(null)
    await addModel(gateway, 'free-1', { routes: [routeOf('m', 0)] })
    expect(await costOf('free-1')).toBe(0)
    expect((await lastOf('free-1')).margin_usd).toBe(PRICE_USD)
  })

  test('is read from the catalog file too', async () => {
    expect(await costOf('costed-file')).toBe(costUsd(0.5))
    expect(await costOf('of-the-file')).toBe(null)
  })

  test('is that of the route that answered at last', async () => {
    gateway.upstream.respondWith(({ text }) =>
      text.includes('"broken"') ? { status: 500, chunks: ['{}'] } : completion(),
    )
    await addModel(gateway, 'fallback-1', { routes: [routeOf('broken', 9), routeOf('whole', 0.2)] })
    expect(await costOf('fallback-1')).toBe(costUsd(0.2))
  })
})

describe('costs have dates, as prices do', () => {
  test('and are set alone or with a price, for a model of the file too', async () => {
    const { body: before } = await gateway.request('GET', `${MODELS}/of-the-file`)
    const set = await setCosts('of-the-file', { costs: [{ provider: 'openai', cost: costing(0.1) }] })
    expect(set.status).toBe(201)
    expect(set.body.costs).toEqual([{ provider: 'openai', cost: costing(0.1) }])
    const { body: after } = await gateway.request('GET', `${MODELS}/of-the-file`)
    expect([after.price, after.routes]).toEqual([
      before.price,
      [{ ...before.routes[0], cost: expect.anything() }],
    ])
    expect(await costOf('of-the-file')).toBe(costUsd(0.1))
    await setCosts('of-the-file', { price: { ...PRICE, input_usd_per_1m: 2 } })
    expect(await costOf('of-the-file')).toBe(costUsd(0.1))
    await setCosts('of-the-file', { costs: [] })
    expect(await costOf('of-the-file')).toBe(null)
  })

  test('and set alone they leave a model of the file with the price of the file, whatever the file says later', async () => {
    const costs = [{ provider: 'openai', cost: costing(0.1) }]
    const { body: set } = await setCosts('followed-file', { costs })
    expect(set).toMatchObject({ state: 'current', source: 'file', costs })
    const readModel = async () => (await gateway.request('GET', `${MODELS}/followed-file`)).body
    const { price_version: before } = await readModel()
    expect(before).toMatch(/^file-/)
    const { models } = JSON.parse(await readFile(gateway.catalogFile, 'utf8'))
    for (const model of models)
      if (model.id === 'followed-file') model.price = { ...model.price, input_usd_per_1m: 2 }
    await writeFile(gateway.catalogFile, JSON.stringify({ models }))
    await expect.poll(async () => (await readModel()).price_version, { timeout: 10_000 }).not.toBe(before)
    const { price, price_version: after, routes } = await readModel()
    expect([price.input_usd_per_1m, after, routes[0].cost]).toEqual([
      2,
      expect.stringMatching(/^file-/),
      expect.objectContaining(costing(0.1)),
    ])
    expect(await costOf('followed-file')).toBe(costUsd(0.1))
    const document = parse(await (await gateway.fetch('GET', '/v1/admin/config/export')).text())
    expect(document.prices).toContainEqual({ model: 'followed-file', costs })
    const removed = await gateway.request('DELETE', `${MODELS}/followed-file/prices/${set.id}`)
    expect(removed.status).toBe(200)
    expect(await costOf('followed-file')).toBe(null)
    const applied = await gateway.request('POST', '/v1/admin/config/apply', { body: { document } })
    expect(applied.body.changes).toMatchObject([{ kind: 'price', action: 'create', name: 'followed-file' }])
    expect([await costOf('followed-file'), (await readModel()).price_version]).toEqual([costUsd(0.1), after])
  })

  test('and end with a price in another unit', async () => {
    await addModel(gateway, 'turned-1', { routes: [routeOf('m', 0.3)] })
    const set = await setCosts('turned-1', { price: { unit: 'request', usd: 0.01 } })
    expect([set.status, set.body.costs]).toEqual([201, []])
    expect(await costOf('turned-1')).toBe(null)
  })

  test('and those of a removed model, and its price, are not of one that the file has by its name', async () => {
    await addModel(gateway, 'removed-1', { routes: [routeOf('m', 0.3)] })
    await gateway.request('DELETE', `${MODELS}/removed-1`)
    // As if the file had got a model of its name.
    const database = new Client({ connectionString: gateway.connectionString })
    await database.connect()
    const written = 'UPDATE model_prices SET model = $1 WHERE model = $2'
    await database.query(
      `INSERT INTO offered_models (id, entry, version, created_at, updated_at, removed_at)
       SELECT 'reused-file', entry, version, created_at, updated_at, removed_at FROM offered_models WHERE id = 'removed-1'
       ON CONFLICT (id) DO UPDATE SET removed_at = excluded.removed_at`,
    )
    await database.query(written, ['reused-file', 'removed-1'])
    await database.end()
    const price = { ...PRICE, input_usd_per_1m: 2 }
    const priced = await setCosts('reused-file', { price })
    expect([priced.status, priced.body.costs]).toEqual([201, null])
    const { body } = await gateway.request('GET', `${MODELS}/reused-file/prices`)
    expect(body.data).toMatchObject([{ id: priced.body.id }, { source: 'file', effective_from: null }])
  })

  test('and those of the future can be withdrawn', async () => {
    await addModel(gateway, 'dated-1', { routes: [routeOf('m', 0.3)] })
    const costs = [{ provider: 'openai', model: 'm', cost: costing(0.7) }]
    const alone = await setCosts('dated-1', { costs, effective_from: inHours(1) })
    expect([alone.status, alone.body.error.param]).toEqual([400, 'price'])
    const set = await setCosts('dated-1', { price: PRICE, costs, effective_from: inHours(1) })
    expect(set.body).toMatchObject({ state: 'future', price: PRICE, costs })
    expect(await costOf('dated-1')).toBe(costUsd(0.3))
    const withdrawn = await gateway.request('DELETE', `${MODELS}/dated-1/prices/${set.body.id}`)
    expect(withdrawn.status).toBe(200)
  })

  test('and a change of the routes is one of the costs, which leaves the price as it is', async () => {
    await addModel(gateway, 'routed-1', { routes: [routeOf('m', 0.3)] })
    const change = (routes: object[]) => gateway.request('PATCH', `${MODELS}/routed-1`, { body: { routes } })
    expect((await change([routeOf('m', 0.4)])).body).toMatchObject({
      price: PRICE,
      routes: [routeOf('m', 0.4)],
    })
    expect(await costOf('routed-1')).toBe(costUsd(0.4))
    expect((await change([routeOf('m')])).status).toBe(200)
    expect(await costOf('routed-1')).toBe(null)
    const { body } = await gateway.request('GET', `${MODELS}/routed-1/prices`)
    expect(body.data.map(({ costs }: { costs: object[] }) => costs.length)).toEqual([0, 1, 1])
  })

  test.each([
    ['of another unit', [{ provider: 'openai', cost: { unit: 'request', usd: 1 } }]],
    ['without an amount', [{ provider: 'openai', cost: { unit: 'token', input_usd_per_1m: 1 } }]],
    ['below zero', [{ provider: 'openai', cost: costing(-1) }]],
    ['of a route that it has not', [{ provider: 'anthropic', cost: costing(1) }]],
    ['that are given twice', [1, 2].map((usd) => ({ provider: 'openai', cost: costing(usd) }))],
  ])('and %s are refused', async (_, costs) => {
    expect((await setCosts('of-the-file', { costs })).status).toBe(400)
  })
})

test('a configuration carries costs from one gateway to another, and applied twice it changes nothing', async () => {
  await addModel(gateway, 'carried-1', { routes: [routeOf('m', 0.3)] })
  const later = [{ provider: 'openai', cost: costing(0.6) }]
  await setCosts('carried-1', { price: PRICE, costs: later, effective_from: inHours(2) })
  await setCosts('costed-file', { costs: [{ provider: 'openai', cost: costing(0.8) }] })
  const document = parse(await (await gateway.fetch('GET', '/v1/admin/config/export')).text())
  const apply = (wanted: object) =>
    gateway.request('POST', '/v1/admin/config/apply', { body: { document: wanted } })
  expect((await apply(document)).body.changes).toEqual([])
  const changed = structuredClone(document)
  for (const model of changed.models) if (model.id === 'carried-1') model.routes[0].cost = costing(0.9)
  for (const price of changed.prices) if (price.model === 'costed-file') price.costs = []
  expect((await apply(changed)).status).toBe(200)
  expect([await costOf('carried-1'), await costOf('costed-file')]).toEqual([costUsd(0.9), costUsd(0.5)])
  expect((await apply(document)).status).toBe(200)
  expect([await costOf('carried-1'), await costOf('costed-file')]).toEqual([costUsd(0.3), costUsd(0.8)])
})

test('costs are computed again from what the records name', async () => {
  // A process stores the lists of a file that changed within seconds.
  await expect
    .poll(async () => (await explainCharges(gateway.connectionString)).unexplained, { interval: 500 })
    .toEqual([])
  const { checked, costs } = await explainCharges(gateway.connectionString)
  expect(checked).toBeGreaterThan(costs.checked)
  expect(costs.checked).toBeGreaterThan(5)
})

test('operators see cost and margin of groups, of the requests whose cost is known', async () => {
  await addModel(gateway, 'summed-1', { routes: [routeOf('m')] })
  expect(await costOf('summed-1')).toBe(null)
  await setCosts('summed-1', { costs: [{ provider: 'openai', cost: costing(0.3) }] })
  expect(await costOf('summed-1')).toBe(costUsd(0.3))
  const { body } = await gateway.request('GET', '/v1/admin/usage?by=model&model=summed-1')
  const summed = { requests: 2, costed_requests: 1, vendor_cost_usd: costUsd(0.3) }
  expect(body).toMatchObject(summed)
  expect(body.data).toMatchObject([{ value: 'summed-1', ...summed }])
  expect(body.margin_usd).toBeCloseTo(PRICE_USD - costUsd(0.3), 9)
  const csv = await (await gateway.fetch('GET', '/v1/admin/usage?by=model&model=summed-1&format=csv')).text()
  expect(csv.split('\n')[1]).toMatch(
    new RegExp(`,${costUsd(0.3).toFixed(9).replace(/0+$/, '')},[\\d.]+,1\\r?$`),
  )
  const tagged = await gateway.request('POST', CHAT, {
    body: chatBody({ model: 'summed-1' }),
    headers: { 'x-gateway-tags': 'team=search' },
  })
  expect(tagged.status).toBe(200)
  const { body: byTag } = await gateway.request('GET', '/v1/admin/usage?by=tag:team&model=summed-1')
  const one = { costed_requests: 1, vendor_cost_usd: costUsd(0.3) }
  expect(byTag).toMatchObject({ requests: 3, costed_requests: 2 })
  expect(new Map(byTag.data.map((group: { value: string }) => [group.value, group]))).toEqual(
    new Map([
      ['', expect.objectContaining({ requests: 2, ...one })],
      ['search', expect.objectContaining({ requests: 1, ...one })],
    ]),
  )
  const { body: ofTag } = await gateway.request('GET', '/v1/admin/usage?by=model&tag=team%3Dsearch')
  expect(ofTag.data).toMatchObject([{ value: 'summed-1', requests: 1, ...one }])
  expect(ofTag.margin_usd).toBeCloseTo(PRICE_USD - costUsd(0.3), 9)
})
