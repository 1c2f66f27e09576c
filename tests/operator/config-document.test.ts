import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { certificate } from '../../src/providers/openai-compatible/upstream-http1/testing/certificate.ts'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const APPLY = '/v1/admin/config/apply'
const REFERENCE = 'env:KEY_OF_THE_SERVER'

let first: TestGateway
let empty: TestGateway

beforeAll(async () => {
  const settings = { KEY_OF_THE_SERVER: 'sk-of-a-variable' }
  first = await startTestGateway({ settings })
  empty = await startTestGateway({ settings })
})
afterAll(async () => {
  await empty.close()
  await first.close()
})

interface Document {
  parkway: 1
  providers: Record<string, unknown>[]
  models: Record<string, unknown>[]
  prices: Record<string, unknown>[]
}

const exportFrom = async (gateway: TestGateway): Promise<Document> => {
  const answer = await gateway.fetch('GET', '/v1/admin/config/export')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/yaml; charset=utf-8',
  ])
  const text = await answer.text()
  expect(text).not.toContain('sk-')
  return parse(text)
}
const apply = (gateway: TestGateway, body: object) => gateway.request('POST', APPLY, { body })
const namesOf = (body: { changes: { kind: string; action: string; name: string }[] }) =>
  body.changes.map(({ kind, action, name }) => `${action} ${kind} ${name}`)
const later = new Date(Date.now() + 86_400_000).toISOString()

test('what one gateway exports makes an empty one the same, and a second time nothing is changed', async () => {
  const post = async (path: string, body: object) => {
    const answer = await first.request('POST', path, { body })
    expect([path, answer.status, answer.body.error?.message]).toEqual([path, 201, undefined])
  }
  await post('/v1/admin/providers', {
    name: 'basement',
    base_url: 'http://127.0.0.1:9/v1',
    secret_ref: REFERENCE,
    timeouts: { idle_ms: 70_000 },
    proxy: { url: 'http://127.0.0.1:9', username: 'me', password_ref: REFERENCE },
    certificate_authority: certificate,
    regions: ['eu'],
    retention_days: 30,
  })
  await post('/v1/admin/models', {
    id: 'our-llama',
    name: 'Our Llama',
    vendor: 'Meta',
    category: 'llm',
    context_tokens: 8192,
    capabilities: ['chat'],
    price: { unit: 'token', input_usd_per_1m: 0.1, output_usd_per_1m: 0.3 },
    routes: [{ provider: 'basement', model: 'llama' }],
  })
  const price = (input: number) => ({ unit: 'token', input_usd_per_1m: input, output_usd_per_1m: 9 })
  await post('/v1/admin/models/our-llama/prices', { price: price(0.2), effective_from: later })
  await post('/v1/admin/models/gpt-5.4/prices', { price: price(3) })
  await post('/v1/admin/models/gpt-5.4/prices', { price: price(4), effective_from: later })

  const document = await exportFrom(first)
  const checked = await apply(empty, { document, dry_run: true })
  expect([checked.status, checked.body.error?.message, checked.body.is_applied]).toEqual([
    200,
    undefined,
    false,
  ])
  expect(await exportFrom(empty)).toEqual({ parkway: 1, providers: [], models: [], prices: [] })
  const applied = await apply(empty, { document, version: checked.body.version })
  expect(applied.body.is_applied).toBe(true)
  expect(namesOf(applied.body)).toEqual([
    'create provider basement',
    'create model our-llama',
    'create price gpt-5.4',
    'create price our-llama',
    'create price gpt-5.4',
  ])
  expect(await exportFrom(empty)).toEqual(document)
  for (const gateway of [first, empty]) {
    const again = await apply(gateway, { document })
    expect([again.status, again.body]).toMatchObject([200, { is_applied: false, changes: [] }])
  }
})

test('a document changes what differs and removes what it does not name, all together', async () => {
  const document = await exportFrom(empty)
  const [provider = {}] = document.providers
  const changed = {
    ...document,
    providers: [{ ...provider, is_enabled: false }],
    models: [],
    prices: document.prices.filter(({ model }) => model === 'gpt-5.4'),
  }
  const { status, body } = await apply(empty, { document: changed, reason: 'The basement is closed.' })
  expect([status, body.error?.message]).toEqual([200, undefined])
  expect(namesOf(body)).toEqual(['change provider basement', 'delete model our-llama'])
  expect(body.changes[0].difference).toEqual({ is_enabled: { from: true, to: false } })
  expect(await exportFrom(empty)).toEqual(changed)
  const log = await empty.request('GET', '/v1/admin/audit?limit=3')
  expect(JSON.stringify(log.body)).toContain('config.apply')
})

test('a price of a model of the file ends if the document does not name it', async () => {
  const document = { ...(await exportFrom(empty)), prices: [] }
  const { status, body } = await apply(empty, { document })
  expect([status, namesOf(body)]).toEqual([200, ['delete price gpt-5.4', 'delete price gpt-5.4']])
  expect(await exportFrom(empty)).toEqual(document)
  const { body: model } = await empty.request('GET', '/v1/admin/models/gpt-5.4')
  expect(model.price_version).toMatch(/^file-/)
  expect((await apply(empty, { document })).body).toMatchObject({ is_applied: false, changes: [] })
})

test('if one change is refused by the database, none is made', async () => {
  const before = await exportFrom(empty)
  const document = {
    parkway: 1,
    providers: [...before.providers, { name: 'other', base_url: 'http://127.0.0.1:9/v1' }],
    models: [
      {
        id: 'seen-by-nobody',
        name: 'x',
        vendor: 'x',
        category: 'llm',
        price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 1 },
        routes: [{ provider: 'other', model: 'm' }],
        visibility: { accounts: ['01890000-0000-7000-8000-000000000000'] },
      },
    ],
  }
  const refused = await apply(empty, { document })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'visibility.accounts'])
  expect(await exportFrom(empty)).toEqual(before)
})

/** What operators do with the prices of a model. */
const costs = fc.constantFrom<unknown>(undefined, undefined, [], [0], [1], [0, 1])
const step = fc.record({
  model: fc.constantFrom('mine', 'gpt-5.4'),
  price: fc.constantFrom(undefined, 1, 2),
  costs,
  inHours: fc.constantFrom(null, null, 24, 48),
  routes: fc.constantFrom(undefined, undefined, [0], [1], [0, 1]),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

test.each(fc.sample(fc.array(step, { minLength: 4, maxLength: 12 }), { numRuns: longOr(30, 4), seed: 7 }))(
  'what is exported is applied to the same gateway without a change, and makes an emptied one the same (%#)',
  async (...steps: Step[]) => {
    const nothing = { parkway: 1, models: [], prices: [] }
    for (const gateway of [first, empty])
      expect((await apply(gateway, { document: nothing })).status).toBe(200)
    const token = (usd: number) => ({ unit: 'token', input_usd_per_1m: usd, output_usd_per_1m: 9 })
    const [known] = (await first.request('GET', '/v1/admin/models/gpt-5.4')).body.routes
    const pairs = { mine: ['m0', 'm1'], 'gpt-5.4': [known.model, known.model] }
    const provider = (model: Step['model']) => (model === 'mine' ? 'openai' : known.provider)
    const routesOf = (indexes: readonly number[]) =>
      indexes.map((index) => ({ provider: 'openai', model: `m${index}`, cost: token(0.1 * (index + 1)) }))
    const model = { id: 'mine', name: 'x', vendor: 'x', category: 'llm', capabilities: ['chat'] }
    await first.request('POST', '/v1/admin/models', {
      body: { ...model, price: token(1), routes: routesOf([0, 1]) },
    })
    for (const { model: id, price, costs: given, inHours, routes } of steps) {
      const from =
        inHours === null ? {} : { effective_from: new Date(dayMs + inHours * 3_600_000).toISOString() }
      const body = {
        ...(price === undefined ? {} : { price: token(price) }),
        ...(Array.isArray(given)
          ? {
              costs: [...new Set(given.map((index) => pairs[id][index]))].map((name) => ({
                provider: provider(id),
                model: name,
                cost: token(0.3),
              })),
            }
          : {}),
        ...from,
      }
      if (Object.keys(body).length > 0) await first.request('POST', `/v1/admin/models/${id}/prices`, { body })
      if (routes !== undefined)
        await first.request('PATCH', '/v1/admin/models/mine', { body: { routes: routesOf(routes) } })
    }
    const document = { ...(await exportFrom(first)), providers: [] }
    const { providers: _, ...wanted } = document
    for (const gateway of [first, first, empty, empty]) {
      const { status, body } = await apply(gateway, { document: wanted })
      expect([status, body.error?.message]).toEqual([200, undefined])
      if (gateway === first) expect(body.changes).toEqual([])
    }
    expect({ ...(await exportFrom(empty)), providers: [] }).toEqual(document)
    // A document of a release that knew no costs.
    const prices = wanted.prices
      .map(({ costs: _costs, ...rest }) => rest)
      .filter(({ price }) => price !== undefined)
    const named = new Set(prices.map(({ model }) => model))
    if (wanted.prices.every((one) => named.has(one['model'])))
      expect((await apply(first, { document: { ...wanted, prices } })).body.changes).toEqual([])
  },
)
const dayMs = Math.ceil(Date.now() / 86_400_000) * 86_400_000

test('an edit in between is noticed', async () => {
  const document = await exportFrom(first)
  const { body } = await apply(first, { document: { ...document, models: [] }, dry_run: true })
  await first.request('PATCH', '/v1/admin/providers/basement', { body: { timeouts: { idle_ms: 80_000 } } })
  const refused = await apply(first, { document: { ...document, models: [] }, version: body.version })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  expect((await exportFrom(first)).models).toHaveLength(1)
})

test('keys that are stored here stay, and are not made up elsewhere', async () => {
  const added = await first.request('POST', '/v1/admin/providers', {
    body: {
      name: 'stored',
      base_url: 'http://127.0.0.1:9/v1',
      api_key: 'sk-0123456789-abcd',
      headers: { 'x-a': 'b' },
      proxy: { url: 'http://127.0.0.1:9', password: 'sk-of-the-proxy' },
    },
  })
  expect(added.status).toBe(201)
  const document = await exportFrom(first)
  expect(document.providers.at(-1)).toMatchObject({
    header_names: ['x-a'],
    proxy: { url: 'http://127.0.0.1:9', has_password: true },
    credentials: [{ last_four: 'abcd' }],
  })
  const weighted = structuredClone(document)
  weighted.providers[1] = { ...weighted.providers[1], credentials: [{ last_four: 'abcd', weight: 3 }] }
  const { body } = await apply(first, { document: weighted })
  expect(namesOf(body)).toEqual(['change provider stored'])
  const { body: kept } = await first.request('GET', '/v1/admin/providers/stored')
  expect(JSON.stringify(kept)).toContain('abcd')

  const elsewhere = await apply(empty, { document })
  expect([elsewhere.status, elsewhere.body.error.param]).toEqual([400, 'providers.1.header_names'])
  const withoutHeaders = structuredClone(document)
  delete withoutHeaders.providers[1]?.['header_names']
  const without = await apply(empty, { document: withoutHeaders })
  expect([without.status, without.body.error.param]).toEqual([400, 'providers.1.proxy'])
  delete withoutHeaders.providers[1]?.['proxy']
  const missing = await apply(empty, { document: withoutHeaders })
  expect([missing.status, missing.body.error.param]).toEqual([400, 'providers.1.credentials.0'])
})

test.each([
  ['another form', { parkway: 2 }],
  ['an unknown part', { parkway: 1, accounts: [] }],
  ['a key in clear', { parkway: 1, providers: [{ name: 'x', api_key: 'sk-in-clear' }] }],
  ['a provider twice', { parkway: 1, providers: [{ name: 'groq' }, { name: 'groq' }] }],
  [
    'a model without a price',
    { parkway: 1, models: [{ id: 'x', name: 'x', vendor: 'x', category: 'llm', routes: [] }] },
  ],
  [
    'a price of the past',
    {
      parkway: 1,
      prices: [
        {
          model: 'gpt-5.4',
          price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 1 },
          effective_from: '2020-01-01T00:00:00Z',
        },
      ],
    },
  ],
])('a document with %s is refused', async (_, document) => {
  expect((await apply(empty, { document })).status).toBe(400)
})
