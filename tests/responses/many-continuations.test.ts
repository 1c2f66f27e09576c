import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const MODEL = 'gpt-4o-mini'
/** Many more than there are connections. */
const REQUESTS = 40
/** Each reads the stored input, of which 12 MB take this process a second. */
const LARGE_REQUESTS = longOr(40, 6)
const STORED_BYTES = longOr(12_000_000, 3_000_000)

let gateway: TestGateway
let blocker: Client

beforeAll(async () => {
  gateway = await startTestGateway({
    // A locked table is waited for as long as the test holds it.
    settings: { PARKWAY_DATABASE_POOL_SIZE: '5', PARKWAY_STATEMENT_TIMEOUT_MS: '600000' },
  })
  blocker = new Client({ connectionString: gateway.connectionString })
  await blocker.connect()
})

afterAll(async () => {
  await blocker.end()
  await gateway.close()
})

async function createAccount(name: string): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name, credit_usd: 10 },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { scopes: ['inference', 'manage'] },
  })
  return key.key
}

test('an account that floods free routes leaves the database to others, however long its queries take', async () => {
  const [flooding, other] = [await createAccount('Flooding'), await createAccount('Other')]
  const first = await gateway.request('POST', '/v1/responses', {
    key: flooding,
    body: { model: MODEL, input: 'Hello' },
  })
  expect(first.status).toBe(200)
  // As if its input had been large pictures.
  const items = Array.from({ length: 12 }, () => ({ role: 'user', content: 'x'.repeat(STORED_BYTES / 12) }))
  const stored = await blocker.query('UPDATE parkway.responses SET input = $2 WHERE id = $1', [
    first.body.id,
    JSON.stringify(items),
  ])
  expect(stored.rowCount).toBe(1)
  await blocker.query('BEGIN')
  // Only requests read it, so that only those of the flood wait.
  await blocker.query('LOCK TABLE parkway.compare_datasets')

  const ask = (method: string, path: string, count = REQUESTS, body?: object) =>
    Array.from({ length: count }, () =>
      gateway.request(method, path, { key: flooding, ...(body === undefined ? {} : { body }) }),
    )
  const flood = [
    ...ask('GET', '/v1/compare/datasets'),
    ...ask('POST', '/v1/responses/input_tokens', LARGE_REQUESTS, {
      model: MODEL,
      input: 'On',
      previous_response_id: first.body.id,
    }),
    ...ask('GET', `/v1/responses/${first.body.id}`, LARGE_REQUESTS),
    ...ask('GET', `/v1/responses/${first.body.id}/input_items`, LARGE_REQUESTS),
    ...ask('GET', '/v1/tasks'),
    ...ask('GET', '/v1/compare/runs'),
    ...ask('GET', '/v1/payments/history'),
  ]
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all([
      gateway.request('GET', '/v1/tenants/me/api-keys', { key: other }),
      gateway.request('GET', '/v1/usage/today', { key: other }),
      gateway.request('POST', '/v1/chat/completions', {
        key: other,
        body: { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] },
      }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  }
  await blocker.query('ROLLBACK')
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
})
