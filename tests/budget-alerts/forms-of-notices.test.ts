import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startSmtpServer, type SmtpServer } from '../upstreams/smtp-server.ts'
import { receiveWebhooks, type WebhookReceiver } from './receive-webhooks.ts'

const SETTINGS = '/v1/budget-alerts/settings'
const POLL = { timeout: 30_000, interval: 100 }

let hook: WebhookReceiver
let smtp: SmtpServer
let gateway: TestGateway

beforeAll(async () => {
  ;[hook, smtp] = await Promise.all([receiveWebhooks(), startSmtpServer()])
  gateway = await startTestGateway({
    settings: {
      PARKWAY_OUTBOUND_ALLOW: hook.host,
      PARKWAY_SMTP_URL: smtp.url,
      PARKWAY_SMTP_FROM: 'Parkway <parkway@example.com>',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  smtp.close()
  hook.close()
})

const setAlerts = (key: string, body: object) => gateway.request('PATCH', SETTINGS, { key, body })

/** Spends most of the budget of an account with these settings of alerts. */
async function reachBudget(settings: object, { key, accountId }: TestAccount): Promise<void> {
  const { status, body } = await setAlerts(key, { thresholds_percent: [80], ...settings })
  expect([status, body]).toEqual([200, body])
  const image = { model: 'gpt-image-1', prompt: 'Waves' }
  expect((await gateway.request('POST', '/v1/images/generations', { key, body: image })).status).toBe(200)
  const { body: budget } = await gateway.request('GET', '/v1/usage/budget', { key })
  await gateway.request('PATCH', `/v1/admin/accounts/${accountId}/budget`, {
    body: { monthly_usd: budget.spent_usd },
  })
}

const account = () => createAccount(gateway, { creditUsd: 100 })

const TOLD =
  /^80 % of the monthly budget of the account is spent: [\d.]+ of [\d.]+ USD since \d{4}-\d\d-01 \(UTC\)\./

test('an alert is sent as a message of Slack', async () => {
  await reachBudget({ webhook_url: `${hook.url}/slack`, webhook_form: 'slack' }, await account())
  const told = () => hook.received.find(({ path }) => path.endsWith('/slack'))
  await expect.poll(told, POLL).toBeDefined()
  expect(JSON.parse(told()?.text ?? '')).toEqual({ text: expect.stringMatching(TOLD) })
})

test('an alert is sent as a card of Microsoft Teams', async () => {
  await reachBudget({ webhook_url: `${hook.url}/teams`, webhook_form: 'teams' }, await account())
  const told = () => hook.received.find(({ path }) => path.endsWith('/teams'))
  await expect.poll(told, POLL).toBeDefined()
  expect(JSON.parse(told()?.text ?? '')).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: { type: 'AdaptiveCard', body: [{ type: 'TextBlock', text: expect.stringMatching(TOLD) }] },
      },
    ],
  })
})

const mailsTo = (address: string) => smtp.received.filter(({ to }) => to.includes(address))

test('an alert is sent by mail to members of the account, and to nobody else', async () => {
  const payer = await account()
  const refused = await setAlerts(payer.key, { alert_emails: ['stranger@example.com'] })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'alert_emails'])
  const [ada, left] = ['ada', 'left'].map((name) => `${name}-${payer.accountId}@example.com`) as [
    string,
    string,
  ]
  for (const email of [ada, left]) await joinAccount(gateway, { email, key: payer.key })
  const settings = { alert_emails: [ada, left], statement_emails: [ada] }
  expect((await setAlerts(payer.key, settings)).status).toBe(200)
  const path = `/v1/organization/users?emails[]=${encodeURIComponent(left)}`
  const { body } = await gateway.request('GET', path, { key: payer.key })
  await gateway.request('DELETE', `/v1/organization/users/${body.data[0].id}`, { key: payer.key })
  await reachBudget({}, payer)
  await expect.poll(() => mailsTo(ada).length, POLL).toBe(1)
  expect(mailsTo(ada)[0]?.content).toContain('Subject: 80 % of the monthly budget of the account is spent')
  expect(mailsTo(left)).toEqual([])
})

test('who may only read usage sees the host of the webhook, and not its secret path', async () => {
  const { accountId, key } = await createAccount(gateway)
  const url = 'https://hooks.slack.com/services/T0/B0/secret'
  await setAlerts(key, { webhook_url: url, webhook_form: 'slack' })
  await gateway.request('POST', '/v1/organization/budgets', {
    key,
    body: { subject: { type: 'account' }, window: 'month', limit_usd: 5, webhook: { url, form: 'slack' } },
  })
  const auditor = await joinAccount(gateway, { email: `${accountId}@example.com`, role: 'auditor', key })
  const read = async (path: string) => [
    (await gateway.request('GET', path, { key })).body,
    (await auditor.request('GET', path)).body,
  ]
  const [full, masked] = await read(SETTINGS)
  expect([full.webhook_url, masked.webhook_url]).toEqual([url, 'https://hooks.slack.com/…'])
  const [budgets, maskedBudgets] = await read('/v1/organization/budgets')
  expect([budgets.data[0].webhook.url, maskedBudgets.data[0].webhook.url]).toEqual([
    url,
    'https://hooks.slack.com/…',
  ])
})

test('who manages a project sees only the host of the webhook of a budget that the account gave it', async () => {
  const project = await createProject(gateway)
  const key = await createProjectKey(gateway, project)
  const url = 'https://hooks.slack.com/services/T0/B0/secret'
  const give = async (giver: string) => {
    const subject = { type: 'project', id: project }
    const body = { subject, window: 'month', limit_usd: 500, webhook: { url, form: 'slack' } }
    return (await gateway.request('POST', '/v1/organization/budgets', { key: giver, body })).body
  }
  const [given, own] = [await give(gateway.key), await give(key)]
  expect([given.level, own.level]).toEqual(['account', 'project'])
  const read = async (id: string) =>
    (await gateway.request('GET', `/v1/organization/budgets/${id}`, { key })).body.webhook.url
  expect([await read(given.id), await read(own.id)]).toEqual(['https://hooks.slack.com/…', url])
})
