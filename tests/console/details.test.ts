import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'

describe.skipIf(NO_BROWSER !== null)('the details of a row', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  beforeAll(async () => {
    gateway = await startTestGateway()
    await gateway.request('POST', '/v1/chat/completions', {
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    })
    await gateway.request('POST', '/v1/images/generations', {
      headers: { prefer: 'respond-async' },
      body: { model: 'gpt-image-1.5', prompt: 'A cube' },
    })
    await gateway.request('POST', '/v1/admin/promo-codes', { body: { code: 'APPLE', amount_usd: 1 } })
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  test.each([
    ['/log', 'Log', 'gpt-4o-mini', 'request'],
    ['/keys', 'Keys', 'First key', 'key'],
    ['/providers?all=true', 'Providers', 'openai', 'provider'],
    ['/promo-codes', 'Promo codes', 'APPLE', 'code'],
    ['/audit', 'Audit log', 'promo_code.create', 'entry'],
    ['/tasks?view=list', 'Tasks', 'A cube', 'task'],
  ])(
    'the details of a row of %s are closed by Back, by Escape, and stay open after a reload',
    async (path, title, row, name) => {
      const { page, goto } = opened
      const link = page.getByRole('button', { name: row, exact: true }).first()
      const sheet = page.getByRole('dialog')
      await goto('/')
      await goto(path)
      await link.click()
      await sheet.waitFor()
      const address = page.url()
      expect(address).toContain(`${name}=`)
      await page.goBack()
      await sheet.waitFor({ state: 'detached' })
      expect(page.url()).toBe(`${gateway.baseUrl}${path}`)

      await link.click()
      await sheet.waitFor()
      await page.reload()
      await sheet.waitFor()
      await page.keyboard.press('Escape')
      await sheet.waitFor({ state: 'detached' })
      expect(page.url()).toBe(`${gateway.baseUrl}${path}`)

      // Opened by its address, as from a bookmark: nothing is behind it that could be gone back to.
      await page.goto(address)
      await sheet.waitFor()
      await page.keyboard.press('Escape')
      await sheet.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: title, exact: true }).waitFor()
      expect(page.url()).toBe(`${gateway.baseUrl}${path}`)
    },
  )

  test('give the focus back to their row', async () => {
    const { page, goto } = opened
    await goto('/keys')
    const link = page.getByRole('button', { name: 'First key', exact: true })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => link.evaluate((element) => element.matches(':focus'))).toBe(true)
  })
})
