import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('billing in the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  const readBalance = async (user: TestGateway): Promise<number> =>
    (await user.request('GET', '/v1/tenants/me')).body.balance_usd

  test('a top-up with the test checkout gives credit', async () => {
    const user = await createUser(gateway)
    const before = await readBalance(user)
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await expectAccessible(page)
    await takeScreenshots(page, 'billing-first')
    await page.getByRole('button', { name: '$50', exact: true }).click()
    await page.getByRole('button', { name: 'Go to checkout' }).click()
    await page.getByRole('button', { name: /^Pay/ }).click()
    await page.getByText('The payment and its state are in the history below.').waitFor()
    await page.getByRole('cell', { name: 'completed' }).waitFor()
    await page.getByRole('cell', { name: '$50.00' }).waitFor()
    expect(await readBalance(user)).toBe(before + 50)
    await page
      .getByText(`$${(before + 50).toFixed(2)}`)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    expect(new URL(page.url()).search).toBe('')
    await close()
  })

  test('a card is saved, the automatic top-up is switched on and charges it, and the card is removed', async () => {
    const user = await createUser(gateway)
    const before = await readBalance(user)
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByRole('button', { name: 'Automatic top-up' }).click()
    await page.getByText('No card is saved.').waitFor()
    await page.getByRole('button', { name: 'Save a card' }).click()
    await page.getByRole('button', { name: 'Save the test card 4242' }).click()
    // Back on the page, the sheet is open again.
    await page.getByText('test card ending in 4242').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'billing-auto-top-up')
    await page.getByLabel('Threshold in USD').fill(String(before + 10))
    await page.getByLabel('Amount in USD').last().fill('2000')
    await page.getByLabel('Ceiling of a month in USD').fill('3000')
    await page.getByRole('button', { name: 'Save amounts' }).click()
    await page.getByText('The amounts are saved').waitFor()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('button', { name: 'Switch off' }).waitFor()
    await expect.poll(() => readBalance(user), { timeout: 30_000 }).toBe(before + 2000)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page
      .getByRole('dialog', { name: 'Remove the card?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await page.getByText('No card is saved.').waitFor()
    await close()
  })

  test('a promo code gives credit, and a wrong one says so', async () => {
    await gateway.request('POST', '/v1/admin/promo-codes', { body: { code: 'WELCOME', amount_usd: 7 } })
    const user = await createUser(gateway)
    const before = await readBalance(user)
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByRole('textbox', { name: 'Code' }).fill('WRONG-ONE')
    await page.getByRole('textbox', { name: 'Code' }).press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByRole('textbox', { name: 'Code' }).fill('welcome')
    await page.getByRole('textbox', { name: 'Code' }).press('Enter')
    await page.getByText('$7.00 of credit was added').waitFor()
    await page.getByRole('cell', { name: 'Promo code WELCOME' }).waitFor()
    expect(await readBalance(user)).toBe(before + 7)
    await close()
  })

  test('a budget is shown with what is spent of it, on a phone', async () => {
    const { body } = await gateway.request('GET', '/v1/tenants/me')
    await gateway.request('PATCH', `/v1/admin/accounts/${body.id}/budget`, {
      body: { monthly_usd: 40, daily_usd: 4 },
    })
    const { page, goto, close } = await openConsole(gateway, { width: 390, height: 844 })
    await goto('/billing')
    await page.getByRole('meter', { name: 'Budget of this month (UTC)' }).waitFor()
    await page.getByText('$0.00 of $4.00').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'billing-full')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await close()
  })

  test('a checkout that cannot be started says why', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/billing')
    await page.route('**/v1/payments/checkout', (route) =>
      route.fulfill({
        status: 502,
        headers: { 'x-request-id': 'req_0195' },
        json: { error: { message: 'The payment provider does not answer.', code: 'provider_error' } },
      }),
    )
    await page.getByRole('button', { name: 'Go to checkout' }).click()
    await page.getByText('The payment provider does not answer.').waitFor()
    await page.getByText('req_0195').waitFor()
    await takeScreenshots(page, 'billing-failing')
    await close()
  })
})
