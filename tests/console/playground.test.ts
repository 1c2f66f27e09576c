import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the playground', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('streams an answer with its cost, and shows the same request as code', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?model=gpt-5.6')
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-empty')
    await page.getByLabel('System prompt').fill('Answer briefly.')
    await expect.poll(() => new URL(page.url()).searchParams.get('system')).toBe('Answer briefly.')
    await page.getByLabel('Message').fill('Hello there')
    await page.getByLabel('Message').press('Enter')
    await page.getByText(/first token .* tokens .*\$0\.\d+/).waitFor()
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-chat')
    const { body } = await gateway.request('GET', '/v1/usage/records')
    expect(body.data).toHaveLength(1)
    await page.getByRole('button', { name: 'Show code' }).click()
    await page.getByRole('tab', { name: 'Python' }).click()
    const code = await page.getByLabel('The call in Python').innerText()
    expect(code).toContain(`base_url="${gateway.baseUrl}/v1"`)
    expect(code).toContain('"content": "Answer briefly."')
    expect(code).toContain('"content": "Hello there"')
    await takeScreenshots(page, 'playground-code')
    await close()
  })
})
