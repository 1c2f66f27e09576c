import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('payments of all accounts', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  let orchardId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    const made = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Orchard' } })
    orchardId = made.body.id
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  const rows = () => opened.page.getByRole('region', { name: 'Payments' }).locator('tbody tr').count()

  test('an operator finds a payment by its filters, which are in the address, refunds it, and reads why the list fails', async () => {
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
    await page.getByLabel('Reason, which the account reads').fill('Paid twice')
    await page.getByRole('button', { name: 'Refund the payment' }).click()
    await page.getByText('No payment matches').waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(rows).toBe(3)
    await page.getByRole('cell', { name: 'refunded', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'Paid twice' }).waitFor()

    // The list says why it cannot be read, and is read again.
    const failed = '**/v1/admin/payments?*'
    await page.route(failed, (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }),
    )
    await goto('/payments')
    await page.getByText('Payments could not be loaded').waitFor()
    await page.getByText('It broke.').waitFor()
    await takeScreenshots(page, 'payments-failing')
    await page.unroute(failed)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('region', { name: 'Payments' }).waitFor()
  })
})
