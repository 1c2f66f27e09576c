import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { queueAnomalyWebhook } from '../../src/modules/tasks/tasks.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { receiveWebhooks, type WebhookReceiver } from './receive-webhooks.ts'

const ALERTS = '/v1/budget-alerts'
const SETTINGS = '/v1/budget-alerts/settings'
const POLL = { timeout: 30_000, interval: 100 }

let hook: WebhookReceiver
let gateway: TestGateway
let other: TestGateway
let database: Database

beforeAll(async () => {
  hook = await receiveWebhooks()
  const settings = { PARKWAY_OUTBOUND_ALLOW: hook.host }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
})
afterAll(async () => {
  await database.close()
  await other.close()
  await gateway.close()
  hook.close()
})

interface Alert {
  readonly id: string
  readonly period: string
  readonly threshold_percent: number
}

const setBudget = (accountId: string, body: object) =>
  gateway.request('PATCH', `/v1/admin/accounts/${accountId}/budget`, { body })

const setAlerts = (key: string, body: object) => gateway.request('PATCH', SETTINGS, { key, body })

async function readAlerts(key: string): Promise<Alert[]> {
  const { status, body } = await gateway.request('GET', ALERTS, { key })
  expect(status).toBe(200)
  return body.alerts
}

const raised = async (key: string) =>
  (await readAlerts(key)).map(({ period, threshold_percent: percent }) => `${period} ${percent}`).toReversed()

/** Makes a request and returns what it cost. */
async function spend(gatewayToAsk: TestGateway, key: string): Promise<number> {
  const { status, body } = await gatewayToAsk.request('POST', '/v1/chat/completions', {
    key,
    body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Write a long story.' }], max_tokens: 50 },
  })
  expect(status).toBe(200)
  return body.usage.cost_usd
}

/** An account that has spent something, with budgets of which that is this part. */
async function spendPart(share: number, body: object = {}): Promise<TestAccount & { costUsd: number }> {
  const account = await createAccount(gateway, { creditUsd: 100 })
  await setAlerts(account.key, { webhook_url: hook.url, ...body })
  const costUsd = await spend(gateway, account.key)
  expect(costUsd).toBeGreaterThan(0)
  await setBudget(account.accountId, { monthly_usd: roundUp(costUsd / share) })
  return { ...account, costUsd }
}

const roundUp = (usd: number): number => Math.ceil(usd * 1e9) / 1e9

/** Waits until every account that has spent is checked. */
async function waitForChecks(): Promise<void> {
  await gateway.request('GET', '/v1/usage/budget')
  await expect
    .poll(async () => (await database.query<{ id: bigint }>('SELECT id FROM budget_checks')).length, POLL)
    .toBe(0)
}

const toldOf = (alertId: string) => hook.received.filter(({ text }) => JSON.parse(text).data?.id === alertId)

test('the webhook is told of an unusual day by its account only', async () => {
  const { accountId, key } = await createAccount(gateway)
  const anomaly = { id: createId(), content: { anomaly: { summary: 'Tuesday cost 6 × a usual Tuesday.' } } }
  await database.transaction(async (transaction) => {
    await transaction.query(
      `INSERT INTO usage_anomalies (id, account_id, day, cause, content, created_at) VALUES ($1, $2, '2026-11-17', 'a|b', $3::jsonb, now())`,
      [anomaly.id, accountId, JSON.stringify(anomaly.content)],
    )
    await queueAnomalyWebhook(transaction, { accountId, usageAnomalyId: anomaly.id, url: hook.url })
  })
  await expect.poll(() => toldOf(anomaly.id).length, POLL).toBe(1)
  const event = JSON.parse(toldOf(anomaly.id)[0]?.text ?? '')
  expect(event).toMatchObject({
    type: 'usage.anomaly',
    data: { object: 'usage.anomaly', ...anomaly.content },
  })
  const { body } = await gateway.request('GET', '/v1/webhook-deliveries', { key })
  expect(body.data).toMatchObject([{ usage_anomaly_id: anomaly.id, task_id: null, statement_id: null }])
})

test('a chat program is told names as text, and a page of deliveries does not lose the others of its event', async () => {
  const { accountId, key } = await createAccount(gateway)
  await setAlerts(key, { webhook_url: hook.url, webhook_form: 'slack' })
  const usageAnomalyId = createId()
  const content = { anomaly: { summary: 'Most of it: key <!channel> & <https://bad.example|me>.' } }
  await database.transaction(async (transaction) => {
    await transaction.query(
      `INSERT INTO usage_anomalies (id, account_id, day, cause, content, created_at) VALUES ($1, $2, '2026-11-17', 'a|b', $3::jsonb, now())`,
      [usageAnomalyId, accountId, JSON.stringify(content)],
    )
    for (const url of [hook.url, 'mailto:ada@example.com', 'mailto:bob@example.com'])
      await queueAnomalyWebhook(transaction, { accountId, usageAnomalyId, url })
  })
  const text = 'Most of it: key &lt;!channel&gt; &amp; &lt;https://bad.example|me&gt;.'
  await expect.poll(() => hook.received.map((told) => told.text), POLL).toContain(JSON.stringify({ text }))
  const urls: string[] = []
  let after = ''
  do {
    const { body } = await gateway.request('GET', `/v1/webhook-deliveries?limit=1${after}`, { key })
    urls.push(...body.data.map(({ url }: { url: string }) => url))
    after = body.has_more ? `&after=${body.next_cursor}` : ''
  } while (after !== '')
  expect(urls.toSorted()).toEqual([hook.url, 'mailto:ada@example.com', 'mailto:bob@example.com'])
})

describe('an alert', () => {
  test('is raised once per threshold, can be read, and is told to the webhook with a signature', async () => {
    const { key, costUsd } = await spendPart(0.02, { thresholds_percent: [1, 2, 3, 90] })
    await expect.poll(() => raised(key), POLL).toEqual(['month 1', 'month 2'])
    for (const gatewayToAsk of [gateway, other]) await spend(gatewayToAsk, key)
    await waitForChecks()
    await expect.poll(() => raised(key), POLL).toEqual(['month 1', 'month 2', 'month 3'])
    const { body: budget } = await gateway.request('GET', '/v1/usage/budget', { key })
    expect(budget.budgets).toMatchObject([{ period: 'month', alerted_percent: 3 }])
    const alerts = await readAlerts(key)
    const first = alerts.at(-1)
    const now = new Date()
    expect(first).toEqual({
      id: expect.any(String),
      object: 'budget_alert',
      period: 'month',
      period_start: `${now.toISOString().slice(0, 7)}-01`,
      threshold_percent: 1,
      limit_usd: roundUp(costUsd / 0.02),
      spent_usd: costUsd,
      created_at: expect.stringMatching(/Z$/),
    })
    const { body: secret } = await gateway.request('GET', '/v1/tenants/me/webhook-secret', { key })
    for (const alert of alerts) {
      await expect.poll(() => toldOf(alert.id).length, POLL).toBe(1)
      const [told] = toldOf(alert.id)
      expect(new Webhook(secret.secret).verify(told?.text ?? '', { ...told?.headers })).toEqual({
        type: 'budget.alert',
        timestamp: expect.stringMatching(/Z$/),
        data: alert,
      })
    }
    const deliveries = await gateway.request('GET', '/v1/webhook-deliveries?status=delivered', { key })
    expect(deliveries.body.data.map((entry: { budget_alert_id: string }) => entry.budget_alert_id)).toEqual(
      alerts.map(({ id }) => id),
    )
    expect(deliveries.body.data[0].task_id).toBeNull()
  })

  test('is raised again in the next period, and each budget has its own', async () => {
    const { key, accountId } = await spendPart(0.9, { thresholds_percent: [80] })
    await setBudget(accountId, { daily_usd: 0.000001 })
    await expect.poll(() => raised(key), POLL).toEqual(['day 80', 'month 80'].toSorted())
    // The periods of these alerts are made earlier ones.
    await database.query(
      `UPDATE budget_alerts SET period_start = period_start - interval '1 month' WHERE account_id = $1`,
      [accountId],
    )
    await setAlerts(key, { thresholds_percent: [80] })
    await waitForChecks()
    await expect.poll(async () => (await raised(key)).length, POLL).toBe(4)
    await setAlerts(key, { thresholds_percent: [80] })
    await waitForChecks()
    expect((await raised(key)).length).toBe(4)
  })

  test('is raised at 80 and 95 percent unless told, without a webhook', async () => {
    const account = await createAccount(gateway, { creditUsd: 100 })
    const settings = await gateway.request('GET', SETTINGS, { key: account.key })
    expect(settings.body).toEqual({
      object: 'budget_alert_settings',
      tenant_id: account.accountId,
      thresholds_percent: [80, 95],
      webhook_url: null,
      webhook_form: 'parkway',
      alert_emails: [],
      statement_emails: [],
    })
    const costUsd = await spend(other, account.key)
    await setBudget(account.accountId, { monthly_usd: roundUp(costUsd / 0.94) })
    await expect.poll(() => raised(account.key), POLL).toEqual(['month 80'])
    expect((await gateway.request('GET', '/v1/webhook-deliveries', { key: account.key })).body.total).toBe(0)
  })

  test('is not raised without a threshold, nor by a budget of nothing', async () => {
    const { key, accountId } = await spendPart(0.9, { thresholds_percent: [] })
    await setBudget(accountId, { daily_usd: 0 })
    await waitForChecks()
    expect(await raised(key)).toEqual([])
    await setAlerts(key, { thresholds_percent: [80] })
    await expect.poll(() => raised(key), POLL).toEqual(['month 80'])
  })

  test('is called again on request, with the same id', async () => {
    const { key } = await spendPart(0.9, { thresholds_percent: [80] })
    await expect.poll(() => raised(key), POLL).toEqual(['month 80'])
    const [alert] = await readAlerts(key)
    await expect.poll(() => toldOf(alert?.id ?? '').length, POLL).toBe(1)
    await database.query(
      `UPDATE webhook_deliveries SET attempts = jsonb_set(attempts, '{0,at}', '"2020-01-01T00:00:00Z"')
       WHERE budget_alert_id = $1`,
      [alert?.id],
    )
    const { body } = await gateway.request('GET', '/v1/webhook-deliveries', { key })
    const again = await gateway.request('POST', `/v1/webhook-deliveries/${body.data[0].id}/redeliver`, {
      key,
    })
    expect([again.status, again.body.budget_alert_id]).toEqual([200, alert?.id])
    await expect.poll(() => toldOf(alert?.id ?? '').length, POLL).toBe(2)
    const ids = toldOf(alert?.id ?? '').map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })
})

describe('the settings of alerts', () => {
  test('200: what is absent stays as it is, and thresholds are in order', async () => {
    const { key } = await createAccount(gateway)
    const first = await setAlerts(key, { thresholds_percent: [90, 10, 100] })
    expect(first.body).toMatchObject({ thresholds_percent: [10, 90, 100], webhook_url: null })
    const second = await setAlerts(key, { webhook_url: 'https://example.com/hook' })
    expect(second.body).toMatchObject({
      thresholds_percent: [10, 90, 100],
      webhook_url: 'https://example.com/hook',
    })
    expect((await setAlerts(key, { webhook_url: null })).body.webhook_url).toBeNull()
  })

  test.each([
    [{ thresholds_percent: [0] }, 'thresholds_percent'],
    [{ thresholds_percent: [101] }, 'thresholds_percent'],
    [{ thresholds_percent: [50.5] }, 'thresholds_percent'],
    [{ thresholds_percent: ['50'] }, 'thresholds_percent'],
    [{ thresholds_percent: [50, 50] }, 'thresholds_percent'],
    [{ thresholds_percent: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'thresholds_percent'],
    [{ thresholds_percent: null }, 'thresholds_percent'],
    [{ webhook_url: 'http://example.com/hook' }, 'webhook_url'],
    [{ webhook_url: 'ftp://example.com' }, 'webhook_url'],
    [{ webhook_url: 'https://user:secret@example.com' }, 'webhook_url'],
    [{ webhook_url: '' }, 'webhook_url'],
    [{ webhook_url: 'https://example.com/\u0000' }, 'webhook_url'],
    [{ thresholds: [50] }, 'thresholds'],
    // This gateway has no mail server.
    [{ statement_emails: ['ada@example.com'] }, 'statement_emails'],
    [{ statement_emails: ['no address'] }, 'statement_emails'],
  ])('400: %j', async (body, param) => {
    const { key } = await createAccount(gateway)
    const answer = await setAlerts(key, body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.param).toContain(param)
    const { body: kept } = await gateway.request('GET', SETTINGS, { key })
    expect(kept).toMatchObject({ thresholds_percent: [80, 95], webhook_url: null })
  })

  test('403: a key without the scope manage reads no alerts, and neither reads nor changes settings', async () => {
    const { key } = await createAccount(gateway, { scopes: ['inference'] })
    expect((await gateway.request('GET', ALERTS, { key })).status).toBe(403)
    expect((await gateway.request('GET', SETTINGS, { key })).status).toBe(403)
    expect((await setAlerts(key, { thresholds_percent: [] })).status).toBe(403)
  })
})

test('another account sees neither the alerts nor their deliveries, not even by a cursor', async () => {
  const { key } = await spendPart(0.9, { thresholds_percent: [80] })
  await expect.poll(() => raised(key), POLL).toEqual(['month 80'])
  const [alert] = await readAlerts(key)
  const { key: stranger } = await createAccount(gateway)
  for (const path of [ALERTS, `${ALERTS}?after=${alert?.id}`, '/v1/webhook-deliveries'])
    expect((await gateway.request('GET', path, { key: stranger })).body.data).toEqual([])
  const { body } = await gateway.request('GET', '/v1/webhook-deliveries', { key })
  const path = `/v1/webhook-deliveries/${body.data[0].id}/redeliver`
  expect((await gateway.request('POST', path, { key: stranger })).status).toBe(404)
})
