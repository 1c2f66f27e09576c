import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the first page of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('shows what today cost, and the tasks of the account', async () => {
    const { body: answer } = await gateway.request('POST', '/v1/chat/completions', {
      body: { model: 'gpt-5.6', messages: [{ role: 'user', content: 'Hello' }] },
    })
    await gateway.request('POST', '/v1/videos/generations', {
      body: { model: 'wan-2.6-t2v', prompt: 'Waves', duration: 5 },
    })
    const { page, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.getByText('Requests today').waitFor()
    await page.getByText('wan-2.6-t2v').waitFor()
    const shown = await page.getByText('Spent today').locator('..').innerText()
    expect(Number(/\$([\d.]+)/.exec(shown)?.[1])).toBeGreaterThanOrEqual(answer.usage.cost_usd)
    await expectAccessible(page)
    await takeScreenshots(page, 'home')
    await page.getByRole('link', { name: 'wan-2.6-t2v' }).click()
    await page.getByRole('dialog').getByText('wan-2.6-t2v').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/tasks')
    await close()
  })

  test('makes a key that works', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.getByRole('button', { name: 'Make a key' }).click()
    await page.getByText('The key is shown only now').waitFor()
    const code = await page.getByLabel('Code', { exact: true }).innerText()
    const key = /pk-dev-\w+/.exec(code)?.[0] ?? ''
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(200)
    await page.getByRole('tab', { name: 'LangChain' }).click()
    expect(await page.getByLabel('Code', { exact: true }).innerText()).toContain(
      `base_url="${gateway.baseUrl}/v1", api_key="${key}"`,
    )
    await close()
  })

  test('says what failed, with the request id, and tries again', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/usage/today', (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req_0123' },
        json: { error: { message: 'The database is away.', code: 'internal_error' } },
      }),
    )
    await goto('/')
    const panel = page.getByRole('alert').filter({ hasText: 'The database is away.' })
    await panel.getByText('req_0123').waitFor()
    await takeScreenshots(page, 'home-failed')
    await page.unroute('**/v1/usage/today')
    await panel.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Requests today').waitFor()
    await close()
  })

  test('reaches every page from a phone', async () => {
    const { page, goto, close } = await openConsole(gateway, { width: 390, height: 844 })
    await goto('/')
    await page.getByRole('button', { name: 'Open the navigation' }).click()
    await takeScreenshots(page, 'navigation')
    await page.getByRole('link', { name: 'Models', exact: true }).click()
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    await close()
  })
})
