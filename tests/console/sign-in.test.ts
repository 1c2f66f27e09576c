import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSignInCode } from '../../src/modules/sessions/sessions.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('signing in to the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('with a key leads to the first page', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/')
    await expect.poll(() => page.url()).toBe(`${gateway.baseUrl}/sign-in`)
    await expectAccessible(page)
    await takeScreenshots(page, 'sign-in')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByText('First account').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    await close()
  })

  test('with a wrong key says so and stays', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in')
    await page.getByLabel('API key').fill('pk-dev-WrongWrongWrongWrongWrongWrongWrongWrong')
    await page.getByLabel('API key').press('Enter')
    await page.getByRole('alert').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await close()
  })

  test('again, after the session has ended, returns to the page where one was', async () => {
    const { page, context, goto, close } = await openConsole(gateway)
    await goto('/models?kind=llm')
    await context.clearCookies()
    await page.reload()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sign-in')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => page.url()).toBe(`${gateway.baseUrl}/models?kind=llm`)
    await close()
  })

  test('with a link leads to the first page, and the code leaves the address', async () => {
    const { connectionString } = gateway
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
    const code = (await createSignInCode(database)) ?? ''
    await database.close()
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto(`/sign-in#code=${code}`)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/`)
    await page.goBack()
    expect(page.url()).not.toContain(code)
    await close()
  })

  test('with a link that is pasted into a tab that waits there', async () => {
    const { connectionString } = gateway
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
    const code = (await createSignInCode(database)) ?? ''
    await database.close()
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in')
    await page.getByLabel('API key').waitFor()
    await goto(`/sign-in#code=${code}`)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/`)
    await close()
  })

  test('says why a sign-in at the directory failed, in words of ours only', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in?problem=no_account')
    await page.getByRole('alert').getByText('No account is open to you').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'sign-in-problem')
    await goto('/sign-in?problem=Call%20%2B1%20555%200100')
    await page.getByRole('alert').getByText('did not work').waitFor()
    expect(await page.getByText('555').count()).toBe(0)
    await close()
  })

  test('says so if the ways to sign in are not known, and takes a key', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await page.route('**/v1/sessions/methods', (route) => route.fulfill({ status: 400, json: {} }))
    await goto('/sign-in')
    await page.getByText('Other ways to sign in could not be loaded').waitFor()
    await page.getByLabel('API key').fill(gateway.key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await close()
  })

  test('offers the directories of the company first', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await page.route('**/v1/sessions/methods', (route) =>
      route.fulfill({
        json: {
          object: 'sign_in.methods',
          providers: [
            { id: 'idp_1', name: 'Orchard Okta', url: '/v1/sessions/directory/idp_1/start' },
            {
              id: 'idp_2',
              name: 'Entra of the subsidiary with a very long name in Switzerland',
              url: '/v1/sessions/directory/idp_2/start',
            },
          ],
          passkeys: true,
          api_key: true,
          link: true,
        },
      }),
    )
    await goto('/sign-in?next=%2Fkeys')
    const button = page.getByRole('link', { name: 'Continue with Orchard Okta' })
    expect(await button.getAttribute('href')).toBe('/v1/sessions/directory/idp_1/start?return_to=%2Fkeys')
    await expectAccessible(page)
    await takeScreenshots(page, 'sign-in-with-directory')
    // A long name is shortened, also on a phone.
    await page.setViewportSize({ width: 390, height: 844 })
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBe(390)
    await page.getByRole('button', { name: 'Use an API key' }).click()
    await page.getByLabel('API key').fill(gateway.key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await close()
  })

  test.each([
    'https://elsewhere.example/',
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    // The browser removes the first segment of this path, and two slashes remain.
    '/.//elsewhere.example/',
  ])('leads to no other site: %s', async (next) => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(new URL(page.url()).origin).toBe(gateway.baseUrl)
    await close()
  })

  test('in one tab takes along a tab that waits, and signing out too', async () => {
    const { page, context, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in?next=%2Fkeys')
    const other = await context.newPage()
    await other.goto('/sign-in')
    await other.getByLabel('API key').fill(gateway.key)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await other.getByRole('button', { name: /First account/ }).click()
    await other.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Parkway' }).waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/sign-in?next=%2Fkeys`)
    await close()
  })

  test('signing in to the console to another account in another tab leaves nothing of the account before', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Orchard' },
    })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'Of the orchard', scopes: ['inference', 'manage'] },
    })
    const { page, context, goto, close } = await openConsole(gateway)
    await goto('/keys')
    await page.getByRole('button', { name: 'First key' }).waitFor()
    const other = await context.newPage()
    await other.goto('/sign-in')
    await other.getByLabel('API key').fill(key.key)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Of the orchard' }).waitFor()
    expect(await page.getByText('First key').count()).toBe(0)
    await close()
  })
})
