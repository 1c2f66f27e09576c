import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from './clients/create-key.ts'
import { waitForTask } from './generation/wait-for-task.ts'
import { sendChat } from './limits/gateways.ts'
import { balanceOf, createAccount } from './payments/accounts.ts'
import { click, openCheckout } from './payments/open-checkout.ts'
import { openTestDatabase, type OpenDatabase } from './payments/open-test-database.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const DAY_MS = 24 * 3_600_000
const IMAGES = '/v1/images/generations'

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

describe.each([
  ['forty days ahead of', 40 * DAY_MS],
  ['forty days behind', -40 * DAY_MS],
])('a gateway whose clock is %s the database’s', (_name, differenceMs) => {
  let hook: Server
  let hookUrl: string
  let answers: number[]
  const told: { headers: Record<string, string>; text: string }[] = []
  let gateway: TestGateway
  let database: OpenDatabase

  beforeAll(async () => {
    answers = []
    hook = createServer((request, response) => {
      let text = ''
      request.on('data', (piece) => (text += String(piece)))
      request.on('end', () => {
        const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
        told.push({ headers: Object.fromEntries(headers), text })
        response.writeHead(answers.shift() ?? 204).end()
      })
    })
    hook.listen(0, '127.0.0.1')
    await once(hook, 'listening')
    const { port } = hook.address() as AddressInfo
    hookUrl = `http://127.0.0.1:${port}/hook`
    gateway = await startTestGateway({
      settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` },
      machineClock: {
        nowMs: () => Date.now() + differenceMs,
        monotonicMs: () => performance.now(),
      },
    })
    database = openTestDatabase(gateway)
  })

  afterAll(async () => {
    await database.close()
    await gateway.close()
    hook.closeAllConnections()
    hook.close()
  })

  test('does a task, and its file can be fetched', async () => {
    const created = await gateway.request('POST', IMAGES, {
      body: { model: 'flux-schnell', prompt: 'A cube' },
    })
    const task = await waitForTask(gateway, created.body.id)
    expect(task.status).toBe('completed')
    expect((await fetch(task.result.data[0].url)).status).toBe(200)
  })

  test('holds credit for a task until the task must have ended, and not longer', async () => {
    const body = { model: 'flux-schnell', prompt: '[[sandbox:latency ms=60000]] A cube' }
    const { id } = (await gateway.request('POST', IMAGES, { body })).body
    const [row] = await database.query(
      `SELECT hold.expires_at > now() AS is_held, hold.expires_at < now() + interval '10 days' AS is_short,
         deadline_at > now() AS is_due_later, deadline_at < now() + interval '10 days' AS is_due,
         abs(extract(epoch FROM tasks.created_at - now())) < 86400 AS is_of_today
       FROM tasks JOIN credit_holds AS hold ON hold.key LIKE '%' || tasks.id || '%' WHERE tasks.id = $1`,
      [id],
    )
    expect(row).toEqual({
      is_held: true,
      is_short: true,
      is_due_later: true,
      is_due: true,
      is_of_today: true,
    })
    await gateway.request('POST', `/v1/tasks/${id}/cancel`)
  })

  test('retries a webhook after seconds, signed for the receiver’s clock', async () => {
    answers.push(503)
    const body = { model: 'flux-schnell', prompt: 'A cube', webhook_url: hookUrl }
    const { id } = (await gateway.request('POST', IMAGES, { body })).body
    const { secret } = (await gateway.request('GET', '/v1/tenants/me/webhook-secret')).body
    const attempts = async () =>
      (await gateway.request('GET', `/v1/tasks/${id}/webhook-deliveries`)).body.data[0]?.attempts.length
    await expect.poll(attempts).toBe(1)
    const [first] = await database.query(
      `SELECT next_attempt_at > created_at AND next_attempt_at < created_at + interval '1 hour' AS is_soon
       FROM webhook_deliveries WHERE task_id = $1`,
      [id],
    )
    expect(first).toEqual({ is_soon: true })
    await expect.poll(() => told.length).toBe(2)
    for (const { text, headers } of told)
      expect(new Webhook(secret).verify(text, headers)).toMatchObject({ id })
  })

  test('spends promotional credit that is valid for days', async () => {
    const { code } = (
      await gateway.request('POST', '/v1/admin/promo-codes', {
        body: { amount_usd: 5, credit_expires_in_days: 30, expires_at: inDays(2) },
      })
    ).body
    const { key } = await createAccount(gateway)
    expect((await gateway.request('POST', '/v1/promo/redeem', { key, body: { code } })).status).toBe(200)
    expect((await sendChat(gateway, key)).status).toBe(200)
    expect(await balanceOf(gateway, key)).toBeGreaterThan(4)
    const [lot] = await database.query(
      `SELECT round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM credit_lots
       WHERE class = 'promotional'`,
    )
    expect(lot).toEqual({ days: 30 })
  })

  test('accepts a key as long as it is valid', async () => {
    const key = await createKey(gateway, { name: 'short', env: 'dev', expires_at: inDays(20) })
    expect((await sendChat(gateway, key)).status).toBe(200)
    const old = await createKey(gateway, { name: 'old', env: 'dev', expires_at: inDays(20) })
    await database.query(`UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE name = 'old'`)
    expect((await sendChat(gateway, old)).status).toBe(401)
  })

  test('repeats the answer to an Idempotency-Key', async () => {
    const send = () =>
      gateway.request('POST', '/v1/chat/completions', {
        body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
        headers: { 'idempotency-key': 'order-1' },
      })
    const first = await send()
    expect([first.status, (await send()).body]).toEqual([200, first.body])
  })

  test('admits what a limit per minute admits', async () => {
    const key = await createKey(gateway, { name: 'limited', env: 'dev', requests_per_minute: 2 })
    const statuses = []
    for (let count = 0; count < 2; count += 1) statuses.push((await sendChat(gateway, key)).status)
    expect(statuses).toEqual([200, 200])
  })

  test('accepts the payment of a checkout', async () => {
    const { key, url } = await openCheckout(gateway)
    expect((await click(url, 'pay')).status).toBe(303)
    await expect.poll(() => balanceOf(gateway, key)).toBe(20)
  })

  test("counts today's usage as today's", async () => {
    const { key } = await createAccount(gateway, { creditUsd: 1 })
    const answer = await sendChat(gateway, key)
    const seconds = Math.abs(answer.body.created - Date.now() / 1000)
    expect(seconds).toBeLessThan(DAY_MS / 1000)
    await expect
      .poll(async () => (await gateway.request('GET', '/v1/usage/records', { key })).body.total)
      .toBe(1)
  })
})
