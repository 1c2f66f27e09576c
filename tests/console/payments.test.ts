import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('payments and promo codes of all accounts', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  let ownId: string
  let orchardId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    ownId = (await gateway.request('GET', '/v1/tenants/me')).body.id
    const made = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Orchard' } })
    orchardId = made.body.id
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  const rows = () => opened.page.getByRole('region', { name: 'Payments' }).locator('tbody tr').count()

  test('an operator finds a payment by its filters, which are in the address, and refunds it', async () => {
    const { page, goto } = opened
    await goto('/payments')
    await page.getByText('No payment yet').waitFor()
    await page.getByRole('link', { name: 'See the accounts' }).waitFor()
    await takeScreenshots(page, 'payments-empty')
    const bought = await gateway.request('POST', '/v1/payments/checkout', { body: { amount_usd: 5 } })
    await fetch(`${bought.body.checkout_url}/pay`, { method: 'POST' })
    await gateway.request('POST', `/v1/admin/accounts/${orchardId}/credit`, {
      body: { amount_usd: 2, reason: 'Thanks for the report' },
    })
    await goto('/payments')
    await expect.poll(rows).toBe(2)
    await expectAccessible(page)
    await takeScreenshots(page, 'payments')
    await page.getByRole('searchbox', { name: 'Account id' }).fill(orchardId)
    await expect.poll(rows).toBe(1)
    await page.getByRole('cell', { name: 'Thanks for the report' }).waitFor()
    await page.getByRole('button', { name: 'Remove the filter by account Orchard' }).click()
    await page.getByLabel('Kind').selectOption('checkout')
    await expect.poll(rows).toBe(1)
    await page.getByLabel('State').selectOption('completed')
    const today = new Date().toISOString().slice(0, 10)
    await page.getByLabel('To, in UTC').fill('2026-01-01')
    await page.getByText('No payment matches').waitFor()
    await page.getByLabel('To, in UTC').fill(today)
    await expect.poll(rows).toBe(1)
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      kind: 'checkout',
      status: 'completed',
      until: today,
    })
    await page.getByRole('button', { name: 'Refund' }).click()
    await page.getByRole('button', { name: 'Refund the payment' }).click()
    await page.getByText('No payment matches').waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(rows).toBe(3)
    await page.getByRole('cell', { name: 'refunded', exact: true }).waitFor()
  })

  test('a promo code has all its limits, shows who redeemed it, and is disabled', async () => {
    const { page, goto } = opened
    await goto('/promo-codes')
    await page.getByText('No promo code yet').waitFor()
    await takeScreenshots(page, 'promo-codes-empty')
    await page.getByRole('button', { name: 'New code' }).first().click()
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('SPRING')
    await page.getByLabel('Credit in USD').fill('3')
    await page.getByLabel('Credit lasts, in days').fill('30')
    await page.getByLabel('Redemptions in all').fill('10')
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
  })

  test('both pages say why their list cannot be read, and read it again', async () => {
    const { page, goto } = opened
    for (const [path, label] of [
      ['payments', 'Payments'],
      ['promo-codes', 'Promo codes'],
    ] as const) {
      const failed = `**/v1/admin/${path}?*`
      await page.route(failed, (route) =>
        route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }),
      )
      await goto(`/${path}`)
      await page.getByText(`${label} could not be loaded`).waitFor()
      await page.getByText('It broke.').waitFor()
      await takeScreenshots(page, `${path}-failing`)
      await page.unroute(failed)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('region', { name: label }).waitFor()
    }
  })
})
