import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the pages of operators', () => {
  let gateway: TestGateway
  let accountId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    const made = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Orchard', credit_usd: 1 },
    })
    accountId = made.body.id
  })
  afterAll(() => gateway.close())

  test('an operator grants credit and finds it in the audit log', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/accounts')
    await page.getByRole('searchbox', { name: 'Name or id' }).fill('orch')
    await expect
      .poll(() => page.getByRole('region', { name: 'Accounts' }).locator('tbody tr').count())
      .toBe(1)
    expect(new URL(page.url()).search).toBe('?search=orch')
    await expectAccessible(page)
    await takeScreenshots(page, 'accounts')
    await page.getByRole('link', { name: 'Orchard' }).click()
    await page.getByRole('button', { name: 'Change credit' }).click()
    await page.getByLabel('Amount in USD').fill('12.5')
    await page.getByLabel('Reason').fill('Apology for the outage')
    await takeScreenshots(page, 'account-credit')
    await page.getByRole('button', { name: 'Give', exact: true }).click()
    await page.getByText('The credit is changed').waitFor()
    await page.getByText('$13.50').first().waitFor()
    await page.getByRole('tab', { name: 'Ledger' }).click()
    await page.getByRole('cell', { name: 'Apology for the outage' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'account')
    await page.getByRole('link', { name: 'Audit', exact: true }).click()
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    expect(new URL(page.url()).searchParams.get('account')).toBe(accountId)
    await page
      .getByRole('button', { name: /credit/ })
      .first()
      .click()
    await page.getByLabel('What was asked for').getByText('Apology for the outage').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'audit')
    await close()
  })

  test('a suspended account is refused until it is activated', async () => {
    const made = await gateway.request('POST', `/v1/admin/accounts/${accountId}/api-keys`, { body: {} })
    const { key } = made.body
    const { page, goto, close } = await openConsole(gateway)
    await goto(`/accounts/${accountId}`)
    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('button', { name: 'Suspend the account' }).click()
    await page.getByRole('button', { name: 'Activate' }).waitFor()
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(403)
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('button', { name: 'Activate the account' }).click()
    await page.getByRole('button', { name: 'Suspend' }).waitFor()
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(200)
    await close()
  })

  test('a key without the scope admin does not see them', async () => {
    const made = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'Developer', scopes: ['inference', 'manage'] },
    })
    const { page, goto, close } = await openConsole(gateway, { key: made.body.key })
    await goto('/accounts')
    await page.getByText('This page needs a key with the scope admin').waitFor()
    expect(await page.getByRole('button', { name: 'New account' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Accounts' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Keys' }).waitFor()
    await takeScreenshots(page, 'accounts-refused')
    await close()
  })
})
