import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { limitEverybody, sendChat } from './gateways.ts'

let gateway: TestGateway

beforeEach(async () => {
  // Billing is off, so that a request needs the database only for its limits.
  const settings = { PARKWAY_BILLING: 'false', ...limitEverybody({ requests_per_minute: 400 }) }
  gateway = await startTestGateway({ settings })
})

afterEach(() => gateway.close())

test('borrowed limits are used while the database is down, then 503 with retry-after; it recovers by itself', async () => {
  expect((await sendChat(gateway)).status).toBe(200)
  const allow = await cutOff(gateway.connectionString)
  const answers = []
  try {
    for (let index = 0; index < 40; index += 1) {
      const answer = await sendChat(gateway)
      answers.push(answer)
      if (answer.status !== 200) break
    }
    const served = answers.filter(({ status }) => status === 200)
    // At most the borrowed requests are served, which are up to an eighth of the bucket.
    expect(served.length).toBeGreaterThan(0)
    expect(served.length).toBeLessThan(50)
    const refused = answers.at(-1)
    expect([refused?.status, refused?.body.error.code]).toEqual([503, 'service_unavailable'])
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect((await gateway.request('GET', '/readyz', { key: null })).body).toMatchObject({
      checks: { storage: { status: 'failed' } },
    })
    expect(await readGauge()).toBe(1)
  } finally {
    await allow()
  }
  await expect.poll(async () => (await sendChat(gateway)).status).toBe(200)
  expect(await readGauge()).toBe(0)
})

async function readGauge(): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics', { key: null })
  return Number(/^parkway_limits_database_away (\d)$/m.exec(body)?.[1])
}

/** Ends every connection except that of the message bus, and refuses new ones until the returned function is called. */
async function cutOff(connectionString: string): Promise<() => Promise<void>> {
  const url = new URL(connectionString)
  const name = url.pathname.slice(1)
  url.pathname = '/template1'
  const operator = new Client({ connectionString: url.href })
  await operator.connect()
  await operator.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`)
  await operator.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'parkway'`,
    [name],
  )
  return async () => {
    await operator.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`)
    await operator.end()
  }
}
