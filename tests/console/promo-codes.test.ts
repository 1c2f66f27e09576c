import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('promo codes of an operator', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  let ownId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    ownId = (await gateway.request('GET', '/v1/tenants/me')).body.id
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  test('a promo code has all its limits, shows who redeemed it, and is disabled, in a list that says when it cannot be read', async () => {
    const { page, goto } = opened
    await goto('/promo-codes')
    await page.getByText('No promo code yet').waitFor()
    await takeScreenshots(page, 'promo-codes-empty')
    await page.getByRole('button', { name: 'New code' }).first().click()
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('SPRING')
    await page.getByLabel('Credit in USD').fill('3')
    await page.getByLabel('Credit lasts, in days').fill('30')
    await page.getByLabel('Redemptions in total').fill('10')
    await page.getByLabel('Redemptions by one account').fill('2')
    await page.getByLabel('Code expires').fill('2099-01-01T00:00')
    await expectAccessible(page)
    await takeScreenshots(page, 'promo-codes-new')
    await page.getByRole('button', { name: 'Make the code' }).click()
    await page.getByRole('cell', { name: 'SPRING' }).waitFor()
    const { body: codes } = await gateway.request('GET', '/v1/admin/promo-codes')
    expect(codes.data[0]).toMatchObject({
      amount_usd: 3,
      credit_expires_in_days: 30,
      redemptions_max: 10,
      redemptions_per_account_max: 2,
      expires_at: '2098-12-31T23:00:00.000Z',
    })
    await gateway.request('POST', '/v1/promo/redeem', { body: { code: 'SPRING' } })
    await goto(`/promo-codes?code=${codes.data[0].id}`)
    const sheet = page.getByRole('dialog', { name: 'SPRING' })
    await sheet.getByText('1 of 10').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'promo-code')
    const link = sheet.getByRole('region', { name: 'Redemptions' }).getByRole('link')
    expect(await link.first().getAttribute('href')).toBe(`/accounts/${ownId}`)
    await sheet.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Disable the code' }).click()
    await sheet.getByText('disabled').first().waitFor()
    const again = await gateway.request('POST', '/v1/promo/redeem', { body: { code: 'SPRING' } })
    expect(again.status).toBeGreaterThanOrEqual(400)

    // The list says why it cannot be read, and is read again.
    const failed = '**/v1/admin/promo-codes?*'
    await page.route(failed, (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }),
    )
    await goto('/promo-codes')
    await page.getByText('Promo codes could not be loaded').waitFor()
    await page.getByText('It broke.').waitFor()
    await takeScreenshots(page, 'promo-codes-failing')
    await page.unroute(failed)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('region', { name: 'Promo codes' }).waitFor()
  })
})
