import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { balanceOf, createAccount, type TestAccount } from './accounts.ts'
import { readAutoTopUp, SAVED_CARD, setRules } from './auto-top-up-stage.ts'
import { openTestDatabase, type OpenDatabase } from './open-test-database.ts'

let gateway: TestGateway
let database: OpenDatabase

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '50' } })
  database = openTestDatabase(gateway)
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

async function openPage(body: object = {}): Promise<TestAccount & { url: string }> {
  const account = await createAccount(gateway)
  const answer = await gateway.request('POST', SAVED_CARD, { key: account.key, body })
  return { ...account, url: answer.body.url }
}

/** Submits a form of the page, like a browser without scripts. */
const save = (url: string, last4: string) =>
  fetch(`${url}/save/${last4}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  })

test('without Stripe a test card is saved on a page of the gateway, and the top-up has a receipt', async () => {
  const { url, ...account } = await openPage({ success_url: 'https://shop.example/ok' })
  expect(await (await fetch(url)).text()).toContain('no real card is asked for')
  const saved = await save(url, '4242')
  expect([saved.status, saved.headers.get('location')]).toEqual([303, 'https://shop.example/ok'])
  await setRules(gateway, account)
  await eventually(async () => expect(await balanceOf(gateway, account.key)).toBe(20))
  const { body } = await gateway.request('GET', '/v1/payments/history', { key: account.key })
  const receipt = await fetch(body.payments[0].receipt_url, {
    headers: { authorization: `Bearer ${account.key}` },
  })
  expect([receipt.status, receipt.headers.get('content-type')]).toEqual([200, 'application/pdf'])
})

test('a test card that is declined shows what happens then', async () => {
  const { url, ...account } = await openPage()
  const saved = await save(url, '0341')
  expect(saved.headers.get('location')).toBe(new URL(url).pathname)
  expect(await (await fetch(url)).text()).toContain('Card saved')
  await setRules(gateway, account)
  await eventually(async () =>
    expect(await readAutoTopUp(gateway, account)).toMatchObject({ failures: 1, problem: 'card_declined' }),
  )
  expect(await balanceOf(gateway, account.key)).toBe(0)
})

test('a page that has expired saves nothing, and a page that never was is not found', async () => {
  const { url, ...account } = await openPage()
  await database.query('UPDATE payment_method_setups SET expires_at = now() WHERE account_id = $1', [
    account.accountId,
  ])
  expect((await save(url, '4242')).status).toBe(409)
  expect((await save(`${gateway.baseUrl}/checkout/test-card/guess`, '4242')).status).toBe(404)
  expect(await readAutoTopUp(gateway, account)).toMatchObject({ card: null })
})
