import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { failureOf } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const DELIVERIES = '/v1/webhook-deliveries'
const UUID = '0197a0b0-0000-7000-8000-000000000000'

let hook: Server
let hookUrl: string
let gateway: TestGateway
let database: Database
const told: string[] = []
let answerWith: number

beforeAll(async () => {
  hook = createServer((request, response) => {
    told.push(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(answerWith).end())
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const { port } = hook.address() as AddressInfo
  hookUrl = `http://127.0.0.1:${port}/hook`
  gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
  hook.closeAllConnections()
  hook.close()
})
beforeEach(() => {
  answerWith = 204
})

/** Counts the calls of one delivery, because those of other tests are repeated meanwhile. */
const callsOf = (id: string) => told.filter((one) => one === id).length

/** Makes a task and waits until its webhook was called. */
async function deliver(): Promise<{ id: string; task_id: string }> {
  const { body: task } = await gateway.request('POST', '/v1/images/generations', {
    body: { model: 'flux-schnell', prompt: 'A cube', webhook_url: hookUrl },
  })
  const read = async () =>
    (await gateway.request('GET', `/v1/tasks/${task.id}/webhook-deliveries`)).body.data[0]
  await expect.poll(async () => (await read())?.attempts.length).toBe(1)
  return read()
}
const readOf = async (id: string) =>
  (await gateway.request('GET', `${DELIVERIES}?limit=100`)).body.data.find(
    (one: { id: string }) => one.id === id,
  )
const redeliver = (id: string, key?: string) =>
  gateway.request('POST', `${DELIVERIES}/${id}/redeliver`, key === undefined ? {} : { key })
/** Moves the last attempt into the past. */
const age = (id: string) =>
  database.query(
    `UPDATE webhook_deliveries SET attempts = jsonb_set(attempts, '{-1,at}', '"2026-01-01T00:00:00.000Z"') WHERE id = $1`,
    [id],
  )

describe('the deliveries of an account', () => {
  test('are listed newest first, in pages and by status', async () => {
    const first = await deliver()
    answerWith = 500
    const second = await deliver()
    const { status, body } = await gateway.request('GET', `${DELIVERIES}?limit=1`)
    expect([status, body.object, body.has_more, body.deliveries]).toEqual([200, 'list', true, body.data])
    expect(body.data).toMatchObject([
      { id: second.id, task_id: second.task_id, status: 'pending', url: hookUrl },
    ])
    expect(Date.parse(body.data[0].next_attempt_at)).toBeGreaterThan(Date.parse(body.data[0].attempts[0].at))
    const next = await gateway.request('GET', `${DELIVERIES}?limit=1&after=${body.next_cursor}`)
    expect(next.body.data).toMatchObject([{ id: first.id, status: 'delivered', next_attempt_at: null }])
    const delivered = await gateway.request('GET', `${DELIVERIES}?status=delivered`)
    expect(delivered.body.data.map(({ id }: { id: string }) => id)).toEqual([first.id])
    expect(delivered.body.total).toBe(1)
  })

  test.each(['status=lost', 'limit=0', 'limit=101', 'after=x'])('refuse the query %s', async (query) => {
    expect((await gateway.request('GET', `${DELIVERIES}?${query}`)).status).toBe(400)
  })

  test('are not seen by another account', async () => {
    const { id } = await deliver()
    const { key } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 0 })
    expect((await gateway.request('GET', DELIVERIES, { key })).body).toMatchObject({ data: [], total: 0 })
    await age(id)
    expect(failureOf(await redeliver(id, key))).toEqual([404, 'not_found'])
    expect(callsOf(id)).toBe(1)
  })
})

describe('a redelivery', () => {
  test('calls the webhook again under the same id', async () => {
    const { id } = await deliver()
    await age(id)
    const { status, body } = await redeliver(id)
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id, status: 'pending', completed_at: null }),
    ])
    await expect.poll(() => callsOf(id)).toBe(2)
    await expect.poll(async () => (await readOf(id)).status).toBe('delivered')
    expect((await readOf(id)).attempts).toHaveLength(2)
  })

  test('a redelivery of one that waits for its next try comes at once', async () => {
    answerWith = 500
    const { id } = await deliver()
    await age(id)
    await database.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '6 hours' WHERE id = $1`,
      [id],
    )
    answerWith = 204
    expect((await redeliver(id)).status).toBe(200)
    await expect.poll(async () => (await readOf(id)).status).toBe('delivered')
  })

  test('a redelivery of one that is being delivered is refused', async () => {
    const { id } = await deliver()
    await database.query(
      `UPDATE webhook_deliveries SET status = 'pending', completed_at = NULL, next_attempt_at = now() + interval '50 seconds' WHERE id = $1`,
      [id],
    )
    expect(failureOf(await redeliver(id))).toEqual([409, 'conflict'])
  })

  test('is refused shortly after an attempt, and after a hundred', async () => {
    const { id } = await deliver()
    await expect.poll(async () => (await readOf(id)).status).toBe('delivered')
    const soon = await redeliver(id)
    expect(failureOf(soon)).toEqual([429, 'rate_limit_exceeded'])
    expect(soon.headers.get('retry-after')).toBe('10')
    const old = { at: '2026-01-01T00:00:00.000Z', status: 204, error: null, duration_ms: 1 }
    await database.query('UPDATE webhook_deliveries SET attempts = $2::jsonb WHERE id = $1', [
      id,
      JSON.stringify(Array.from({ length: 100 }, () => old)),
    ])
    expect(failureOf(await redeliver(id))).toEqual([409, 'conflict'])
    expect(callsOf(id)).toBe(1)
  })

  test.each([UUID, 'no-uuid'])('a redelivery of the unknown delivery %s is 404', async (id) => {
    expect(failureOf(await redeliver(id))).toEqual([404, 'not_found'])
  })
})
