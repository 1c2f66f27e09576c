import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

interface Told {
  readonly headers: Record<string, string>
  readonly text: string
}

let hook: Server
let hookUrl: string
let gateway: TestGateway
let database: Database
let told: Told[]
let answerWith: () => number

beforeAll(async () => {
  hook = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      told.push({
        headers: Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)])),
        text,
      })
      response.writeHead(answerWith()).end('thanks')
    })
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const { port } = hook.address() as AddressInfo
  hookUrl = `http://127.0.0.1:${port}/hook`
  gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
  hook.closeAllConnections()
  hook.close()
})
beforeEach(() => {
  told = []
  answerWith = () => 204
})

async function make(members: object, key?: string) {
  const body = { model: 'flux-schnell', prompt: 'A cube', webhook_url: hookUrl, ...members }
  return gateway.request('POST', '/v1/images/generations', { body, ...(key !== undefined && { key }) })
}

async function secretOf(key?: string): Promise<string> {
  const answer = await gateway.request(
    'GET',
    '/v1/tenants/me/webhook-secret',
    key === undefined ? {} : { key },
  )
  expect(answer.status).toBe(200)
  return answer.body.secret
}

async function deliveriesOf(id: string) {
  return (await gateway.request('GET', `/v1/tasks/${id}/webhook-deliveries`)).body.data
}

/** Makes the next delivery attempt of a task due now. */
async function hurry(id: string): Promise<void> {
  await database.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE task_id = $1', [id])
  await database.query(`SELECT parkway_jobs.add_job('webhook')`)
}

describe('a webhook', () => {
  test('is called once at the end with the JSON of the task, signed', async () => {
    const { body } = await make({ metadata: { order: 7 } })
    await expect.poll(() => told.length).toBe(1)
    const [message] = told
    if (message === undefined) throw new Error('nothing was told')
    const verified = new Webhook(await secretOf()).verify(message.text, message.headers)
    const task = (await gateway.request('GET', `/v1/tasks/${body.id}`)).body
    expect(withoutAddresses(verified)).toEqual(withoutAddresses(task))
    expect(message.headers['content-type']).toBe('application/json')
    await expect.poll(async () => (await deliveriesOf(body.id))[0]?.status).toBe('delivered')
    const [delivery] = await deliveriesOf(body.id)
    expect(delivery).toMatchObject({ id: message.headers['webhook-id'], url: hookUrl, next_attempt_at: null })
    expect(delivery.attempts).toEqual([
      { at: expect.any(String), status: 204, error: null, duration_ms: expect.any(Number) },
    ])
  })

  test('is called for a cancellation and for a failure too', async () => {
    const { body } = await make({ prompt: '[[sandbox:latency ms=60000]] A cube' })
    await gateway.request('POST', `/v1/tasks/${body.id}/cancel`)
    await make({ prompt: '[[sandbox:error status=500 times=9]] A cube' })
    await expect.poll(() => told.length).toBe(2)
    expect(new Set(told.map(({ text }) => JSON.parse(text).status))).toEqual(new Set(['cancelled', 'failed']))
  })

  test('a webhook that fails is called again later, under the same id, and finally given up', async () => {
    answerWith = () => 503
    const { body } = await make({})
    for (let tries = 1; tries <= 8; tries += 1) {
      await expect.poll(async () => (await deliveriesOf(body.id))[0]?.attempts.length).toBe(tries)
      const [delivery] = await deliveriesOf(body.id)
      if (tries === 8) expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null })
      else {
        const pauseMs = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempts[tries - 1].at)
        expect(pauseMs).toBeGreaterThan(
          [0, 5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000][tries] ?? 0,
        )
        await hurry(body.id)
      }
    }
    expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(told).toHaveLength(8)
  })

  test('gets missed calls once it is available again', async () => {
    let tries = 0
    answerWith = () => ((tries += 1) === 1 ? 500 : 200)
    const { body } = await make({})
    await expect.poll(async () => (await deliveriesOf(body.id))[0]?.attempts.length).toBe(1)
    await hurry(body.id)
    await expect.poll(async () => (await deliveriesOf(body.id))[0]?.status).toBe('delivered')
  })

  test('gets the old signature beside the new one for a day after its secret was rotated', async () => {
    const before = await secretOf()
    const rotated = await gateway.request('POST', '/v1/tenants/me/webhook-secret/rotate')
    expect(rotated.body.secret).not.toBe(before)
    expect(Date.parse(rotated.body.previous_valid_until)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    expect(await secretOf()).toBe(rotated.body.secret)
    await make({})
    await expect.poll(() => told.length).toBe(1)
    for (const secret of [before, rotated.body.secret])
      for (const { text, headers } of told)
        expect(() => new Webhook(secret).verify(text, headers)).not.toThrow()
  })
})

describe('an address', () => {
  test.each(['http://example.com/hook', 'ftp://example.com', 'x', 'https://user:pass@example.com/'])(
    'such as %s is refused',
    async (webhookUrl) => {
      const { status, body } = await make({ webhook_url: webhookUrl })
      expect([status, body.error.param]).toEqual([400, 'webhook_url'])
    },
  )

  test.each([
    'https://127.0.0.1:1/hook',
    'https://localhost/hook',
    'https://hooks.localhost/hook',
    'https://10.1.2.3/hook',
    'https://192.168.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'https://[fd00::1]/hook',
    'https://0x7f.1/hook',
    'https://2130706433/hook',
    'https://100.64.0.1/hook',
  ])('in a private network such as %s is refused when it is given', async (webhookUrl) => {
    const { status, body } = await make({ webhook_url: webhookUrl })
    expect([status, body.error.param]).toEqual([400, 'webhook_url'])
    expect(body.error.message).toBe('webhook_url must lead to a public host.')
    const settings = { webhook_url: webhookUrl }
    const alerts = await gateway.request('PATCH', '/v1/budget-alerts/settings', { body: settings })
    expect([alerts.status, alerts.body.error.param]).toEqual([400, 'webhook_url'])
  })

  test('an address that leads to a private host by the time of its call is not called, and the log says so', async () => {
    const held = () => 500
    answerWith = held
    const { body } = await make({})
    await expect.poll(async () => (await deliveriesOf(body.id))[0]?.attempts.length).toBe(1)
    const url = 'https://127.0.0.1:1/hook'
    await database.query(
      `UPDATE webhook_deliveries SET url = $2, attempts = '[]', next_attempt_at = now() WHERE task_id = $1`,
      [body.id, url],
    )
    await expect.poll(async () => (await deliveriesOf(body.id))[0]?.attempts.length).toBe(1)
    const [delivery] = await deliveriesOf(body.id)
    expect(delivery.attempts[0]).toMatchObject({ status: null, error: expect.any(String) })
  })
})

test('every account has its own secret, for keys with the scope manage', async () => {
  const { accountId } = await createAccountKey(gateway, { name: 'other', credit_usd: 1 })
  const keys = `/v1/admin/accounts/${accountId}/api-keys`
  const { body: inferring } = await gateway.request('POST', keys, { body: { scopes: ['inference'] } })
  const { key } = inferring
  const refused = await gateway.request('GET', '/v1/tenants/me/webhook-secret', { key })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
  const body = { env: 'dev', scopes: ['manage'] }
  const managing = await gateway.request('POST', keys, { body })
  expect(await secretOf(managing.body.key)).not.toBe(await secretOf())
})

/** Removes the addresses from a task, because they get a new signature on every read. */
function withoutAddresses(task: unknown): unknown {
  return JSON.parse(JSON.stringify(task).replaceAll(/"(url|video_url)":"[^"]*"/g, '"$1":""'))
}
