import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addProvider, callbackOf } from '../directory/sign-in-with-provider.ts'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

describe.skipIf(NO_BROWSER !== null)('company sign-ins on the profile', () => {
  let gateway: TestGateway
  let server: IdentityProviderServer
  beforeAll(async () => {
    gateway = await startTestGateway()
    server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
    await addProvider(gateway, server, { account_rule: 'invited', name: 'Acme' })
    server.people.set('ada', { email: 'ada@acme.example', email_verified: true })
  })
  afterAll(async () => {
    await server.close()
    await gateway.close()
  })

  test('a person links one by signing in there, and removes it after a second question', async () => {
    const person = await joinAccount(gateway, { email: 'ada@home.example' })
    const { page, context, goto, close } = await openConsole(gateway, { key: null })
    const [name = '', value = ''] = (person.headers['cookie'] ?? '').split('=', 2)
    await context.addCookies([{ name, value, url: gateway.baseUrl, httpOnly: true, sameSite: 'Strict' }])
    await goto('/profile')
    await page.getByText('No sign-in of a company is linked').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Link Acme' }).click()
    await page.locator('input[name=login]').fill('ada')
    await page.locator('input[name=login]').press('Enter')
    await page.getByRole('button', { name: 'Remove Acme' }).waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/profile`)
    await page.getByText('ada@acme.example').waitFor()
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Remove Acme' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByText('Remove your last way in?').waitFor()
    await dialog.getByRole('button', { name: 'Remove all the same' }).click()
    await page.getByText('No sign-in of a company is linked').waitFor()
    await close()
  })
})
