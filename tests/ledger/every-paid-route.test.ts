import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { waitForTask } from '../generation/wait-for-task.ts'

/** Its only model is free in the catalog. Its requests are still recorded and limited. */
const FREE = '/v1/moderations'

/** A recording without speech costs nothing, and the examples of these routes have none; the tests send another file. */
const LISTENERS: ReadonlySet<string> = new Set(['/v1/audio/transcriptions', '/v1/audio/translations'])

/** How to create the object for a route with an id in its path. Such routes that are not listed here cost nothing. */
const MADE: Readonly<Record<string, { at: string; body: object; calls: number }>> = {
  '/v1/compare/conversations/{id}/turns': {
    at: '/v1/compare/conversations',
    body: { models: ['gpt-4o-mini', 'gpt-5.4'] },
    calls: 2,
  },
}

/** The tests apply to every paid route, new ones included: the routes are read from the OpenAPI document. */
let gateway: TestGateway
let paidRoutes: { path: string; example: unknown }[]

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  paidRoutes = Object.keys(document.paths).flatMap((path) => {
    const { post } = document.paths[path]
    // A route without a body does not call a model, for example the one that cancels a task.
    if (!post?.description?.includes('scope `inference`') || !post.requestBody) return []
    // A route that answers 201 only creates an object; model calls follow later.
    if (post.responses['201'] || (path.includes('{') && !(path in MADE))) return []
    // Routes that only count tokens say in their description that they cost nothing.
    if (post.description.includes('It costs nothing')) return []
    // Its lines are charged one by one; tests/batches checks them.
    if (path.endsWith('/batches')) return []
    // These routes make several chat calls; their own tests check the charges.
    if (post.description.includes('charged call by call')) return []
    const { schema } = post.requestBody.content['application/json']
    const { examples } = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema
    return [{ path, example: examples?.[0] }]
  })
  const file = await speak()
  for (const route of paidRoutes)
    if (LISTENERS.has(route.path)) route.example = { ...Object(route.example), file }
})

afterAll(() => gateway.close())

async function speak(): Promise<string> {
  const body = { model: 'tts-1', input: 'Nothing is for nothing.', voice: 'nova', response_format: 'wav' }
  const answer = await gateway.fetch('POST', '/v1/audio/speech', { body })
  return Buffer.from(await answer.arrayBuffer()).toString('base64')
}

const records = async () => (await gateway.request('GET', '/v1/usage/records?limit=10')).body
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd

/** Returns the path with the id of an object that is created for the key's account. */
async function pathFor(path: string, key?: string): Promise<string> {
  const made = MADE[path]
  if (made === undefined) return path
  const { body } = await gateway.request('POST', made.at, { body: made.body, ...(key && { key }) })
  return path.replace('{id}', body.id)
}

/** Returns the cost of an immediate answer, or of the task after it has completed. */
async function costOf({ status, headers, body }: TestAnswer): Promise<number> {
  // A streamed answer reports its cost before its delivery is confirmed.
  if (status === 200) return Number(headers.get('x-gateway-cost-usd'))
  expect(headers.get('x-gateway-cost-usd')).toBeNull()
  const task = await waitForTask(gateway, body.task_id)
  expect([task.status, task.error]).toEqual(['completed', null])
  return task.cost_usd
}

/** Routes that must be in the list, so that the tests notice if routes are missing from it. */
const PAID_AT_LEAST = ['/v1/chat/completions', '/v1/embeddings', '/v1/images/generations']

describe('every paid route', () => {
  test('has an example body', () => {
    expect(paidRoutes.map(({ path }) => path)).toEqual(expect.arrayContaining(PAID_AT_LEAST))
    expect(paidRoutes.filter(({ example }) => example === undefined)).toEqual([])
  })

  test('charges the reported cost once and counts against the rates; a task does so when it completes', async () => {
    for (const { path, example } of paidRoutes) {
      const [recordsBefore, balanceBefore] = [(await records()).total, await balance()]
      const answer = await gateway.request('POST', await pathFor(path), { body: example })
      const { status, headers } = answer
      expect([path, status]).toEqual([path, status === 202 ? 202 : 200])
      const cost = await costOf(answer)
      if (path === FREE) expect(headers.get('x-gateway-cost-usd')).toBe('0')
      else expect([path, cost > 0]).toEqual([path, true])
      const after = await records()
      const calls = MADE[path]?.calls ?? 1
      const costs: number[] = after.data
        .slice(0, calls)
        .map((record: { cost_usd: number }) => record.cost_usd)
      expect([path, after.total]).toEqual([path, recordsBefore + calls])
      expect(costs.reduce((sum, one) => sum + one, 0)).toBeCloseTo(cost, 9)
      expect(await balance()).toBeCloseTo(balanceBefore - cost, 9)
      expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    }
  })

  test('is explained by the price list that its record names, to the nano-dollar', async () => {
    const { unexplained, checked, withoutList } = await explainCharges(gateway.connectionString)
    expect([unexplained, withoutList]).toEqual([[], 0])
    expect(checked).toBeGreaterThanOrEqual(paidRoutes.length)
  })

  test('answers 402 to an account without credit, before an upstream is called', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'poor' } })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'poor', env: 'dev', scopes: ['inference'] },
    })
    for (const { path, example } of paidRoutes) {
      const { status, body, headers } = await gateway.request('POST', await pathFor(path, key.key), {
        key: key.key,
        body: example,
      })
      if (path === FREE) {
        expect([path, status]).toEqual([path, 200])
        continue
      }
      expect([path, status, body.error?.code]).toEqual([path, 402, 'insufficient_balance'])
      expect(headers.get('x-should-retry')).toBe('false')
    }
  })
})
