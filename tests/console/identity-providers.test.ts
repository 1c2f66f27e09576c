import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callbackOf } from '../directory/sign-in-with-provider.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

let gateway: TestGateway
let server: IdentityProviderServer

describe.skipIf(NO_BROWSER !== null)('identity providers', () => {
  beforeAll(async () => {
    gateway = await startTestGateway()
    server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
    server.people.set('ada', { email: 'ada@acme.example', email_verified: true })
  })
  afterAll(async () => {
    await server.close()
    await gateway.close()
  })

  test('an operator adds a provider and tests it, and a person signs in with it', async () => {
    const { body: account } = await gateway.request('GET', '/v1/tenants/me')
    const operator = await openConsole(gateway)
    const { page } = operator
    await operator.goto('/identity-providers')
    await page.getByRole('button', { name: 'Add a provider' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Kind').selectOption('dex')
    await dialog.getByLabel('Issuer').fill(server.issuer)
    await dialog.getByLabel('Name', { exact: true }).fill('Acme')
    await dialog.getByLabel('Client id').fill(server.clientId)
    await dialog.getByLabel('Client secret').fill(server.clientSecret)
    await dialog.getByLabel('Scopes').fill('openid email profile')
    await dialog.getByLabel('People enter').selectOption('fixed')
    await dialog.getByLabel('Accounts').fill(account.id)
    await dialog.getByRole('switch', { name: 'Make people members' }).click()
    await expectAccessible(page)
    await takeScreenshots(page, 'identity-provider-new')
    await dialog.getByRole('button', { name: 'Add the provider' }).click()
    await page.getByRole('button', { name: 'Test the provider' }).click()
    await page.getByText('The signing keys were read.').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'identity-provider')
    await operator.goto('/identity-providers')
    await takeScreenshots(page, 'identity-providers')
    await operator.close()

    const person = await openConsole(gateway, { key: null })
    const { body: methods } = await gateway.request('GET', '/v1/sessions/methods', { key: null })
    await person.page.goto(`${methods.providers[0].url}?return_to=/organization`)
    await person.page.getByLabel('Name').fill('ada')
    await person.page.getByRole('button', { name: 'Sign in' }).click()
    await person.page.waitForURL(`${gateway.baseUrl}/organization**`)
    await person.page.getByRole('main').waitFor()
    const current = await person.page.evaluate(async () => (await fetch('/v1/sessions/current')).text())
    expect(current).toContain('ada@acme.example')
    await person.close()
  })
})
