import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry } from '../chat/start-chat-gateway.ts'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { chunk, completion, pacedStream, USAGE } from '../upstreams/openai-server.ts'
import { addModel, askModel, createOther, startTwoGateways, type TwoGateways } from './offered-model.ts'

const ADJUSTMENTS = '/v1/admin/price_adjustments'
const HOUR_MS = 3_600_000

let both: TwoGateways
let gateway: TwoGateways['gateway']
let second: TestGateway

beforeAll(async () => {
  both = await startTwoGateways([modelEntry('of-the-file', [{ provider: 'openai', model: 'm' }])])
  ;({ gateway, second } = both)
})
afterAll(() => both.close())
beforeEach(() => gateway.upstream.respondWith(completion()))

const adjust = (body: object): Promise<TestAnswer> => gateway.request('POST', ADJUSTMENTS, { body })
const end = (id: string): Promise<TestAnswer> => gateway.request('DELETE', `${ADJUSTMENTS}/${id}`)
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
/** What an answer of the upstream costs at the listed price. */
const COST_USD = (USAGE.prompt_tokens + 10 * USAGE.completion_tokens) / 1e6
const costOf = async (from: TestGateway, model: string, key?: string): Promise<number> =>
  (await askModel(from, model, key)).body.usage.cost_usd

test('a markup is charged by every process at once, shown as the price, and ends as a change of its own', async () => {
  await addModel(gateway, 'marked-up')
  const added = await adjust({ model: 'marked-up', percent: 50, reason: 'our share' })
  expect([added.status, added.body]).toEqual([201, added.body])
  expect(added.body).toMatchObject({ state: 'in_force', percent: 50, per_unit: null, reason: 'our share' })
  for (const one of [gateway, second]) expect(await costOf(one, 'marked-up')).toBeCloseTo(1.5 * COST_USD, 9)
  const { body: card } = await second.request('GET', '/v1/models/marked-up')
  expect(card.price).toMatchObject({ input_usd_per_1m: 1.5, output_usd_per_1m: 15 })
  const { body: listed } = await second.request('GET', '/v1/models?include=all')
  expect(listed.data.find(({ id }: { id: string }) => id === 'marked-up').price).toEqual(card.price)
  const { body: configured } = await second.request('GET', '/v1/admin/models/marked-up')
  expect(configured.price).toMatchObject({ input_usd_per_1m: 1 })

  expect((await end(added.body.id)).body).toMatchObject({ state: 'past' })
  for (const one of [gateway, second]) expect(await costOf(one, 'marked-up')).toBe(COST_USD)
  expect((await end(added.body.id)).status).toBe(409)
  const { body: kept } = await second.request('GET', `${ADJUSTMENTS}/${added.body.id}`)
  expect(kept).toMatchObject({ state: 'past', percent: 50, created_by: expect.any(String) })
  const { body: audited } = await gateway.request('GET', '/v1/admin/audit?limit=100')
  const actions = audited.data
    .filter(({ target }: { target: { id: string } }) => target.id === added.body.id)
    .map(({ action, details }: { action: string; details: object }) => [action, details])
  expect(actions).toEqual([
    ['price_adjustment.end', expect.objectContaining({ model: 'marked-up', percent: 50 })],
    ['price_adjustment.create', expect.objectContaining({ percent: { from: null, to: 50 } })],
  ])
})

test('a discount of one project leaves other projects and accounts as they are', async () => {
  const project = await createProject(gateway, 'discounted')
  const [inside, beside] = [
    await createProjectKey(gateway, project),
    await createProjectKey(gateway, await createProject(gateway, 'beside')),
  ]
  const other = await createOther(gateway)
  const { body: added } = await adjust({ project_id: project, percent: -100 })
  expect(added.project_id).toBe(project)
  expect(await costOf(second, 'of-the-file', inside)).toBe(0)
  for (const key of [beside, other, gateway.key])
    expect(await costOf(second, 'of-the-file', key)).toBeGreaterThan(0)
  const { body: listed } = await gateway.request('GET', `${ADJUSTMENTS}?project_id=${project}&limit=1`)
  expect([listed.total, listed.data[0].id]).toEqual([1, added.id])
})

test('an account pays its own, the nearest, and the bill recomputes to the nano-dollar', async () => {
  await addModel(gateway, 'nearest')
  const { body: me } = await gateway.request('GET', '/v1/tenants/me')
  await adjust({ percent: 900, model: 'nearest' })
  await adjust({ account_id: me.id, model: 'nearest', percent: -33.3333 })
  const { body: ofAllModels } = await adjust({ account_id: me.id, percent: 77 })
  const cost = await costOf(second, 'nearest')
  expect(cost).toBeCloseTo(0.666667 * COST_USD, 8)
  await end(ofAllModels.id)
  const other = await createOther(gateway)
  expect(await costOf(second, 'nearest', other)).toBeCloseTo(10 * COST_USD, 9)
  const { body: records } = await second.request('GET', '/v1/usage/records?model=nearest')
  expect(records.data[0].price_version).toMatch(/^\d+$/)
  const { unexplained, checked } = await explainCharges(gateway.connectionString)
  expect(unexplained).toEqual([])
  expect(checked).toBeGreaterThan(1)
})

test('an amount for each unit is added to input and output', async () => {
  await addModel(gateway, 'by-unit')
  await adjust({
    model: 'by-unit',
    per_unit: { unit: 'token', input_usd_per_1m: 2, output_usd_per_1m: -4 },
  })
  const expected = (3 * USAGE.prompt_tokens + 6 * USAGE.completion_tokens) / 1e6
  expect(await costOf(second, 'by-unit')).toBeCloseTo(expected, 9)
  expect((await explainCharges(gateway.connectionString)).unexplained).toEqual([])
})

test('requests across the moment have the price of the moment they began, and so has a stream', async () => {
  // Short answers hold little, so that clients never wait for each other's credit.
  await addModel(gateway, 'crossing', { max_output_tokens: 100 })
  const paced = pacedStream()
  gateway.upstream.respondWith(paced.reply)
  paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
  const body = chatBody({ model: 'crossing', stream: true, stream_options: { include_usage: true } })
  const response = await second.fetch('POST', CHAT, { body })
  expect(response.status).toBe(200)

  gateway.upstream.respondWith(completion())
  const momentMs = Date.now() + 1_500
  const { body: added } = await adjust({
    model: 'crossing',
    percent: 100,
    effective_from: new Date(momentMs).toISOString(),
  })
  expect(added.state).toBe('future')
  const client = async (from: TestGateway): Promise<void> => {
    while (Date.now() < momentMs + 300) expect((await askModel(from, 'crossing')).status).toBe(200)
  }
  await Promise.all([gateway, second].map(client))
  paced.release(chunk({ finish_reason: 'stop' }))
  paced.release(chunk({ choices: [], usage: USAGE }))
  paced.finish()
  expect(await response.text()).toContain(`"cost_usd":${COST_USD}`)

  const { body: records } = await gateway.request('GET', '/v1/usage/records?limit=100&model=crossing')
  const wrong = records.data.filter(
    ({ created_at: at, cost_usd: cost }: { created_at: string; cost_usd: number }) =>
      Math.abs(cost - (Date.parse(at) < momentMs ? 1 : 2) * COST_USD) > 1e-9,
  )
  expect(wrong).toEqual([])
  expect((await explainCharges(gateway.connectionString)).unexplained).toEqual([])
})

test('one of the future can be withdrawn, and the end of one in force can be moved', async () => {
  const { body: later } = await adjust({ model: 'of-the-file', percent: 5, effective_from: inHours(1) })
  expect((await end(later.id)).body).toMatchObject({ state: 'withdrawn' })
  const { body: open } = await adjust({ model: 'of-the-file', percent: 5, effective_until: inHours(1) })
  const path = `${ADJUSTMENTS}/${open.id}`
  const move = (until: string | null) =>
    gateway.request('PATCH', path, { body: { effective_until: until, reason: 'extended' } })
  expect((await move(null)).body).toMatchObject({ state: 'in_force', effective_until: null })
  expect((await move('2020-01-01T00:00:00Z')).status).toBe(400)
  expect((await move(inHours(2))).body.effective_until).not.toBe(null)
  expect((await end(open.id)).body.state).toBe('past')
  expect((await move(null)).status).toBe(409)
  expect(
    (await gateway.request('PATCH', `${ADJUSTMENTS}/999999`, { body: { effective_until: null } })).status,
  ).toBe(404)
  expect((await end('999999')).status).toBe(404)
})

describe('an adjustment is refused', () => {
  test.each([
    ['with a discount of more than everything', { percent: -100.5 }],
    ['with an absurd markup', { percent: 1_000.5 }],
    ['with five decimals', { percent: 1.00001 }],
    ['without terms', {}],
    ['with both terms', { percent: 1, per_unit: { unit: 'token', input_usd_per_1m: 1 } }],
    ['with a discount of an amount for all models', { per_unit: { unit: 'token', input_usd_per_1m: -1 } }],
    [
      'with a discount of more than the price',
      { model: 'of-the-file', per_unit: { unit: 'token', input_usd_per_1m: -9_999 } },
    ],
    ['with another unit', { model: 'of-the-file', per_unit: { unit: 'image', usd: 1 } }],
    ['for a model that does not exist', { model: 'no-such-model', percent: 1 }],
    [
      'for an account that does not exist',
      { account_id: '00000000-0000-4000-8000-000000000000', percent: 1 },
    ],
    ['for no project', { project_id: 'proj-nonsense', percent: 1 }],
    ['from the past', { percent: 1, effective_from: '2020-01-01T00:00:00Z' }],
    ['in the year 9999', { percent: 1, effective_from: '9999-01-01T00:00:00Z' }],
    ['that ends before it begins', { percent: 1, effective_from: inHours(2), effective_until: inHours(1) }],
    ['with a member that is not known', { percent: 1, markup: 2 }],
  ])('%s', async (_, body) => {
    const refused = await adjust(body)
    expect([refused.status, refused.body.error.type]).toEqual([400, 'invalid_request_error'])
  })

  test('from anybody but operators, who may also read them', async () => {
    const key = await createOther(gateway)
    const owner = await joinAccount(gateway, { email: 'owner@example.com', role: 'owner' })
    const { body: one } = await adjust({ model: 'of-the-file', percent: 0 })
    for (const [method, path, body] of [
      ['GET', ADJUSTMENTS, undefined],
      ['GET', `${ADJUSTMENTS}/${one.id}`, undefined],
      ['POST', ADJUSTMENTS, { percent: -50 }],
      ['PATCH', `${ADJUSTMENTS}/${one.id}`, { effective_until: null }],
      ['DELETE', `${ADJUSTMENTS}/${one.id}`, undefined],
    ] as const) {
      const asked = { key, ...(body === undefined ? {} : { body }) }
      expect((await gateway.request(method, path, asked)).status).toBe(403)
      expect((await owner.request(method, path, body)).status).toBe(403)
    }
  })
})
