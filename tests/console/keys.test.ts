import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('keys in the console', () => {
  let gateway: TestGateway
  let crawlerId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    const made = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'Crawler' } })
    crawlerId = made.body.id
  })
  afterAll(() => gateway.close())

  test('a key that is made here works until it is revoked here', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/keys')
    await takeScreenshots(page, 'keys-first')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Nightly report')
    await page.getByLabel('Spend limit in USD').fill('2.5')
    await page.getByLabel('Requests per minute').fill('600')
    await page.getByLabel('Every model').uncheck()
    const models = page.getByRole('group', { name: 'Allowed models' })
    const model = (await models.getByRole('checkbox').last().getAttribute('id')) ?? ''
    const modelId = (await page.locator(`label[for="${model}"]`).textContent()) ?? ''
    await page.getByLabel('Find a model').fill(modelId)
    await models.getByLabel(modelId, { exact: true }).check()
    await expectAccessible(page)
    await takeScreenshots(page, 'keys-new')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const shown = page.getByLabel('The new key')
    await shown.waitFor()
    const key = ((await shown.textContent()) ?? '').trim()
    await expectAccessible(page)
    await takeScreenshots(page, 'keys-shown-once')

    const used = await gateway.request('GET', '/v1/tenants/me/api-keys', { key })
    expect(used.body.data[0]).toMatchObject({
      name: 'Nightly report',
      scopes: ['inference'],
      limit_usd: 2.5,
      requests_per_minute: 600,
    })
    expect(used.body.data[0].allowed_models).toEqual([modelId])

    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Nightly report' }).click()
    await page.getByRole('button', { name: 'Rotate' }).click()
    await takeScreenshots(page, 'keys-rotate')
    await page.getByRole('button', { name: 'Rotate the key' }).click()
    const rotated = ((await page.getByLabel('The new key').textContent()) ?? '').trim()
    expect(rotated).not.toBe(key)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText('Former secret').waitFor()
    for (const secret of [key, rotated])
      expect((await gateway.request('GET', '/v1/tenants/me', { key: secret })).status).toBe(200)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await takeScreenshots(page, 'keys-revoke')
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('The key is revoked').waitFor()
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(401)
    await page.getByLabel('State').selectOption('all')
    await page.getByRole('cell', { name: 'revoked' }).waitFor()
    expect(new URL(page.url()).searchParams.get('all')).toBe('true')
    await close()
  })

  test('the settings of a key are changed with the keyboard alone', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/keys?search=craw')
    await page.getByRole('button', { name: 'Crawler' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Crawler' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'keys-details')
    await page.getByLabel('Spend limit in USD').focus()
    await page.keyboard.type('7')
    await page.keyboard.press('Enter')
    await page.getByText('The key is changed').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: '$0.00 of $7.00' }).waitFor()
    const path = `/v1/tenants/me/api-keys/${crawlerId}`
    expect((await gateway.request('GET', path)).body.limit_usd).toBe(7)
    await close()
  })

  test('a failing API shows its message and request id, and can be asked again', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/tenants/me/api-keys*', (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req_0192' },
        json: { error: { message: 'The database is away.', code: 'internal_error', type: 'server_error' } },
      }),
    )
    await goto('/keys')
    await page.getByText('The database is away.').waitFor()
    await page.getByText('req_0192').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'keys-failing')
    await page.unroute('**/v1/tenants/me/api-keys*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Crawler' }).waitFor()
    await close()
  })

  test('a phone shows the list, and a session that ended leads back to it', async () => {
    const { page, context, goto, close } = await openConsole(gateway, { width: 390, height: 844 })
    await goto('/keys?all=true')
    await page.getByRole('button', { name: 'Crawler' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'keys-full')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await context.clearCookies()
    await page.reload()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sign-in')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Crawler' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/keys?all=true')
    await close()
  })
})
