import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { joinAccount } from './join-account.ts'
import { startSmtpServer, type SmtpServer } from '../upstreams/smtp-server.ts'

const POLL = { timeout: 60_000, interval: 100 }
const ALERTS = '/v1/organization/spend_alerts'

let smtp: SmtpServer
let gateway: TestGateway

beforeAll(async () => {
  smtp = await startSmtpServer()
  gateway = await startTestGateway({
    settings: { PARKWAY_SMTP_URL: smtp.url, PARKWAY_SMTP_FROM: 'Parkway <parkway@example.com>' },
  })
})
afterAll(async () => {
  await gateway.close()
  smtp.close()
})

/** @param strangers recipients that are no members of the account */
async function spendWithAlert(members: string[], strangers: string[] = []): Promise<void> {
  const { key } = await createAccount(gateway, { creditUsd: 100 })
  for (const email of members) await joinAccount(gateway, { email, key })
  const recipients = [...strangers, ...members]
  const channel = { type: 'email', recipients, subject_prefix: '[money]' }
  const body = { threshold_amount: 1, currency: 'USD', interval: 'month', notification_channel: channel }
  const made = await gateway.request('POST', ALERTS, { key, body })
  expect([made.status, made.body.threshold_amount]).toEqual([200, 1])
  const image = { model: 'gpt-image-1', prompt: 'Waves' }
  const { status, body: answer } = await gateway.request('POST', '/v1/images/generations', {
    key,
    body: image,
  })
  expect([status, answer.error]).toEqual([200, undefined])
}

const mailsTo = (address: string) => smtp.received.filter(({ to }) => to.includes(address))

test('a spend alert sends one mail to each recipient that is a member of the account, and to nobody else', async () => {
  await spendWithAlert(['ada@example.com', 'grace@example.com'], ['stranger@example.com'])
  for (const address of ['ada@example.com', 'grace@example.com'])
    await expect.poll(() => mailsTo(address).length, POLL).toBe(1)
  const [mail] = mailsTo('ada@example.com')
  expect(mail?.to).toEqual(['ada@example.com'])
  expect(mail?.content).toContain('From: Parkway <parkway@example.com>')
  expect(mail?.content).toMatch(/Subject: \[money\] 100 % of the monthly budget of the account is spent/)
  expect(mail?.content).toContain('It only warns: nothing is refused.')
  expect(mailsTo('stranger@example.com')).toEqual([])
})

test('a mail that the server does not take is sent again', async () => {
  smtp.refuseNext(1)
  await spendWithAlert(['again@example.com'])
  await expect.poll(() => mailsTo('again@example.com').length, POLL).toBe(1)
})
