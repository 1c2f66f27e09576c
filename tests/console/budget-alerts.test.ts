import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const POLL = { timeout: 30_000, interval: 200 }

describe.skipIf(NO_BROWSER !== null)('budget alerts in the console', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  beforeAll(async () => {
    gateway = await startTestGateway()
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  test('thresholds and a webhook are set, and a bad address says why', async () => {
    const { page, goto } = opened
    await goto('/billing')
    await page.getByRole('button', { name: 'Budget alerts' }).click()
    await page.getByText('No alert yet').waitFor()
    await page.getByLabel('Thresholds in percent').fill('90, 50')
    await page.getByLabel('Webhook').fill('http://example.com/hook')
    await page.getByRole('button', { name: 'Save alerts' }).click()
    await page.getByText('webhook_url must begin with https://.').waitFor()
    await page.getByLabel('Webhook').fill('')
    await page.getByRole('button', { name: 'Save alerts' }).click()
    await page.getByText('The alerts are set').waitFor()
    expect(await page.getByLabel('Thresholds in percent').inputValue()).toBe('50, 90')
    const { body } = await gateway.request('GET', '/v1/budget-alerts/settings')
    expect(body).toMatchObject({ thresholds_percent: [50, 90], webhook_url: null })
  })

  test('an alert is a notice while its period lasts, and stays in the list', async () => {
    const user = await createUser(gateway)
    await user.request('PATCH', '/v1/budget-alerts/settings', { body: { thresholds_percent: [50, 90] } })
    const answer = await user.request('POST', '/v1/chat/completions', {
      body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Hi' }] },
    })
    await gateway.request('PATCH', `/v1/admin/accounts/${user.accountId}/budget`, {
      body: { monthly_usd: Math.ceil((answer.body.usage.cost_usd / 0.7) * 1e9) / 1e9 },
    })
    await expect.poll(async () => (await user.request('GET', '/v1/budget-alerts')).body.total, POLL).toBe(1)
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByText('50 % of the budget of this month was reached').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'billing-alert')
    await page.getByRole('button', { name: 'Budget alerts' }).click()
    const sheet = page.getByRole('dialog', { name: 'Budget alerts' })
    await sheet.getByRole('cell', { name: '50 %' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'billing-alerts')
    await close()
  })

  test('alerts that cannot be read say so', async () => {
    const { page, goto } = opened
    const failed = '**/v1/budget-alerts**'
    await page.route(failed, (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }),
    )
    await goto('/billing')
    await page.getByRole('button', { name: 'Budget alerts' }).click()
    await page.getByText('Budget alerts could not be loaded').waitFor()
    await takeScreenshots(page, 'billing-alerts-failing')
    await page.unroute(failed)
  })
})
