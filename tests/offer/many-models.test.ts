import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { completion } from '../upstreams/openai-server.ts'
import {
  addModel,
  askModel,
  MODELS,
  offeredModel,
  PRICE,
  startTwoGateways,
  type TwoGateways,
} from './offered-model.ts'

/** As many as there can be. The short form takes a share of them. */
const MODELS_MAX = 2_000
const COUNT = longOr(MODELS_MAX, 120)

let both: TwoGateways

beforeAll(async () => {
  both = await startTwoGateways([])
  both.gateway.upstream.respondWith(completion())
})
afterAll(() => both.close())

const idOf = (index: number) => `many-${String(index).padStart(4, '0')}`
const models = Array.from({ length: COUNT }, (_, index) => offeredModel(idOf(index)))

const apply = (document: object) =>
  both.gateway.request('POST', '/v1/admin/config/apply', { body: { document: { parkway: 1, ...document } } })

test(`a document of ${COUNT} models is applied at once, and every process lists and serves all of them`, async () => {
  const { gateway, second } = both
  const { status, body } = await apply({ models })
  expect([status, body.error?.message, body.changes?.length]).toEqual([200, undefined, COUNT])
  for (const one of [gateway, second]) {
    const { body: list } = await one.request('GET', '/v1/models')
    const ids = new Set(list.data.map(({ id }: { id: string }) => id))
    expect(models.filter((_, index) => !ids.has(idOf(index)))).toEqual([])
    expect((await askModel(one, idOf(COUNT - 1))).status).toBe(200)
  }
  const listed: string[] = []
  let after = ''
  do {
    const { body: page } = await second.request('GET', `${MODELS}?source=database&limit=100${after}`)
    expect(page.total).toBe(COUNT)
    listed.push(...page.data.map(({ id }: { id: string }) => id))
    after = page.has_more ? `&after=${page.next_cursor}` : ''
  } while (after !== '')
  expect(listed).toEqual(models.map((_, index) => idOf(index)))
  expect((await apply({ models })).body).toMatchObject({ is_applied: false, changes: [] })
})

test.runIf(COUNT === MODELS_MAX)('one more model is refused', async () => {
  const { status, body } = await addModel(both.gateway, 'one-more')
  expect([status, body.error.message]).toEqual([409, `There are already ${MODELS_MAX} models.`])
})

test('a document of more models than there can be is refused, and so are too many prices of the future of one model', async () => {
  const more = Array.from({ length: MODELS_MAX + 1 }, (_, index) => offeredModel(idOf(index)))
  expect((await apply({ models: more })).status).toBe(400)
  const prices = Array.from({ length: 101 }, (_, index) => ({
    model: idOf(0),
    price: PRICE,
    effective_from: new Date(Date.now() + (index + 1) * 3_600_000).toISOString(),
  }))
  const refused = await apply({ prices })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'This model already has 100 price lists of the future.',
  ])
  const { body } = await both.second.request('GET', `${MODELS}/${idOf(0)}`)
  expect(body.next_price_from).toBe(null)
})
