import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, type OpenDatabase } from '../payments/open-test-database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('an operator in the console', () => {
  let gateway: TestGateway
  let database: OpenDatabase
  let opened: OpenConsole
  let accountId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    database = openTestDatabase(gateway)
    const made = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Orchard' } })
    accountId = made.body.id
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await database.close()
    await gateway.close()
  })

  const balance = async (): Promise<number> =>
    (await gateway.request('GET', `/v1/admin/accounts/${accountId}`)).body.balance_usd

  test('is asked for the key again before credit changes, fifteen minutes after it was entered', async () => {
    const { page, goto } = opened
    await goto(`/accounts/${accountId}`)
    await database.query(`UPDATE sessions SET confirmed_at = now() - interval '15 minutes'`)
    await page.getByRole('button', { name: 'Change credit' }).click()
    await page.getByLabel('Amount in USD').fill('3')
    await page.getByLabel('Reason').fill('Apology')
    await page.getByRole('button', { name: 'Give', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Enter your API key again' })
    await dialog.getByLabel('API key').waitFor()
    expect(await balance()).toBe(0)
    await expectAccessible(page)
    await takeScreenshots(page, 'confirm-key')

    const { body: other } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { scopes: ['admin'] },
    })
    await dialog.getByLabel('API key').fill(other.key)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await balance()).toBe(0)

    await dialog.getByLabel('API key').fill(gateway.key)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The credit is changed').waitFor()
    expect(await balance()).toBe(3)
  })

  test('an operator in the console who does not enter the key changes nothing, and is told why', async () => {
    const { page, goto } = opened
    const before = await balance()
    await goto(`/accounts/${accountId}`)
    await database.query(`UPDATE sessions SET confirmed_at = now() - interval '15 minutes'`)
    await page.getByRole('button', { name: 'Change credit' }).click()
    await page.getByLabel('Amount in USD').fill('4')
    await page.getByLabel('Reason').fill('Again')
    await page.getByRole('button', { name: 'Give', exact: true }).click()
    await page.getByRole('dialog', { name: 'Enter your API key again' }).getByLabel('API key').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('The credit could not be changed').waitFor()
    expect(await balance()).toBe(before)
  })

  test.each([
    ['/accounts', '**/v1/admin/accounts?*', 'Accounts could not be loaded'],
    ['/audit', '**/v1/admin/audit?*', 'Audit entries could not be loaded'],
    ['/providers', '**/v1/admin/providers', 'Providers could not be loaded'],
  ])('reads on %s why it fails, with the id of the request, and tries again', async (path, failed, title) => {
    const { page, goto } = opened
    await page.route(failed, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req_0195' },
        json: { error: { message: 'It broke.', code: 'internal_error' } },
      }),
    )
    await goto(path)
    await page.getByText(title).waitFor()
    await page.getByText('It broke.').waitFor()
    await page.getByText('req_0195').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, `${path.slice(1)}-failing`)
    await page.unroute(failed)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(title).waitFor({ state: 'detached' })
  })
})
