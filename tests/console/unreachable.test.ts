import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

describe.skipIf(NO_BROWSER !== null)('the console without its gateway', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  const banner = 'The gateway cannot be reached. Trying again…'

  test('says so on every page, and shows the page when the gateway is back', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/')
    await page.route('**/v1/**', (route) => route.abort('connectionrefused'))
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByText(banner).waitFor()
    await page.getByText('Keys could not be loaded').waitFor()
    await page.unroute('**/v1/**')
    await page.getByRole('button', { name: 'First key' }).waitFor()
    await page.getByText(banner).waitFor({ state: 'detached' })
    await close()
  })

  test('stays on the screen if a page cannot be loaded, and loads it when the gateway is back', async () => {
    const { page, context, goto, close } = await openConsole(gateway, { expected: /could not be loaded/ })
    await goto('/')
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByText(banner).waitFor()
    await page.getByText('A part of the console could not be loaded.').waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor()
    await context.setOffline(false)
    await page.getByRole('button', { name: 'First key' }).waitFor()
    await page.getByText(banner).waitFor({ state: 'detached' })
    await close()
  })

  test.each([
    ['/compare', '**/v1/models*', 'Models could not be loaded'],
    ['/deployments/new', '**/v1/deployment-templates', 'Templates could not be loaded'],
  ])('%s tells what failed, and reads it again', async (path, routes, title) => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route(routes, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req_0193' },
        json: { error: { message: 'The database is away.', code: 'internal_error' } },
      }),
    )
    await goto(path)
    await page.getByText(title).waitFor()
    await page.getByText('req_0193').waitFor()
    await page.unroute(routes)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(title).waitFor({ state: 'detached' })
    expect(await page.getByRole('alert').count()).toBe(0)
    await close()
  })
})
