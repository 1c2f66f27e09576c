import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const MODEL = 'gpt-4o-mini'
const CONTINUATIONS = 40

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_DATABASE_POOL_SIZE: '4' } })
})

afterAll(() => gateway.close())

test('an account that continues a large response many times at once leaves the database to others', async () => {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'Other', credit_usd: 1 },
  })
  const { body: other } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { scopes: ['inference', 'manage'] },
  })
  const items = Array.from({ length: 40 }, () => ({ role: 'user', content: 'hello you '.repeat(1_000) }))
  const first = await gateway.request('POST', '/v1/responses', { body: { model: MODEL, input: items } })
  expect(first.status).toBe(200)

  const continuing = Array.from({ length: CONTINUATIONS }, () =>
    gateway.request('POST', '/v1/responses/input_tokens', {
      body: { model: MODEL, input: 'On', previous_response_id: first.body.id },
    }),
  )
  const others = Array.from({ length: 10 }, () =>
    gateway.request('GET', '/v1/tenants/me/api-keys', { key: other.key }),
  )
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200))
  const statuses = (await Promise.all(continuing)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  // One runs and sixteen wait.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(17)
})
