import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

describe.skipIf(NO_BROWSER !== null)('around every page of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('a page whose script is gone is loaded again, once', async () => {
    const { page, goto, close } = await openConsole(gateway, {
      expected: /dynamically imported module|reading 'ModelsPage'/,
    })
    await goto('/')
    let refused = 0
    await page.route('**/assets/models-page-*.js', async (route) => {
      refused += 1
      if (refused === 1) await route.fulfill({ status: 404 })
      else await route.continue()
    })
    const loaded = page.waitForEvent('load')
    await page.getByRole('link', { name: 'Models' }).click()
    await loaded
    await page.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    expect(refused).toBeGreaterThan(1)
    await close()
  })

  test('the keyboard goes to any page', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page' }).fill('model')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    await close()
  })

  test('the theme is chosen by the person, and kept', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.getByRole('button', { name: 'First account' }).click()
    await page.getByRole('menuitem', { name: 'Dark' }).click()
    await page.reload()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await close()
  })

  test('signing out ends the session', async () => {
    const { page, context, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.getByRole('button', { name: 'First account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Parkway' }).waitFor()
    expect((await context.request.get('/v1/tenants/me')).status()).toBe(401)
    await close()
  })
})
