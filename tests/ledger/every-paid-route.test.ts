import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { waitForTask } from '../generation/wait-for-task.ts'

/** Its only model costs nothing by the catalog; it is recorded and limited all the same. */
const FREE = '/v1/moderations'

/** Nothing is charged where nothing was said, and their examples are silent. */
const LISTENERS: ReadonlySet<string> = new Set(['/v1/audio/transcriptions', '/v1/audio/translations'])

/** What a route with an id in its path is tried on: made by whoever calls it. Paths that are not named cost nothing. */
const MADE: Readonly<Record<string, { at: string; body: object; calls: number }>> = {
  '/v1/compare/conversations/{id}/turns': {
    at: '/v1/compare/conversations',
    body: { models: ['gpt-4o-mini', 'gpt-5.4'] },
    calls: 2,
  },
}

/** What holds for every route that costs money, those that are yet to be written included: it finds them by itself. */
let gateway: TestGateway
let paidRoutes: { path: string; example: unknown }[]

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  paidRoutes = Object.keys(document.paths).flatMap((path) => {
    const { post } = document.paths[path]
    // What takes no body asks nothing of a model: cancelling a task, for one.
    if (!post?.description?.includes('scope `inference`') || !post.requestBody) return []
    // What answers 201 only makes something; what is asked for it is asked later.
    if (post.responses['201'] || (path.includes('{') && !(path in MADE))) return []
    // What only counts says that it costs nothing.
    if (post.description.includes('It costs nothing')) return []
    // What is charged call by call makes chat calls, whose charges its own tests look at.
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

/** The path with the id of something that the key's account has. */
async function pathFor(path: string, key?: string): Promise<string> {
  const made = MADE[path]
  if (made === undefined) return path
  const { body } = await gateway.request('POST', made.at, { body: made.body, ...(key && { key }) })
  return path.replace('{id}', body.id)
}

/** Of an answer at once, or of a task that was waited for. */
async function costOf({ status, headers, body }: TestAnswer): Promise<number> {
  // An answer that is streamed says what it costs before it is known to have been delivered.
  if (status === 200) return Number(headers.get('x-gateway-cost-usd'))
  expect(headers.get('x-gateway-cost-usd')).toBeNull()
  const task = await waitForTask(gateway, body.task_id)
  expect([task.status, task.error]).toEqual(['completed', null])
  return task.cost_usd
}

/** Known to cost something, so that a list that lost its routes is noticed. */
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
