import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the page of one account', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  let accountId: string
  beforeAll(async () => {
    gateway = await startTestGateway()
    const made = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Orchard', credit_usd: 30 },
    })
    accountId = made.body.id
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened?.close()
    await gateway.close()
  })

  test('an operator makes a key, which is shown once, changes its limits and revokes it', async () => {
    const { page, goto } = opened
    const { body: made } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Meadow' } })
    await goto(`/accounts/${made.id}`)
    await page.getByText('The account has no key').waitFor()
    await takeScreenshots(page, 'account-empty')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('Harvest')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const shown = page.getByRole('dialog', { name: 'Key “Harvest”' })
    const key = await shown.getByText(/^pk-dev-/).innerText()
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(200)
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    expect(await page.getByText(key, { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Harvest' }).click()
    await page.getByLabel('Requests per minute').fill('9')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The key is changed').waitFor()
    const { body: keys } = await gateway.request('GET', `/v1/admin/accounts/${made.id}/api-keys`)
    expect(keys.data).toMatchObject([{ name: 'Harvest', requests_per_minute: 9 }])
    await expectAccessible(page)
    await takeScreenshots(page, 'account-key')
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByRole('cell', { name: 'revoked' }).waitFor()
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(401)
    await takeScreenshots(page, 'account-keys')
  })

  test('it draws the usage of the account, in the period of the address', async () => {
    const { page, goto } = opened
    const user = await createUser(gateway)
    await goto(`/accounts/${user.accountId}?tab=usage`)
    await page.getByText('Nothing was used in this period').waitFor()
    for (const model of ['gpt-4o-mini', 'gpt-5.4'])
      await user.request('POST', '/v1/chat/completions', {
        body: { model, messages: [{ role: 'user', content: 'Hi' }] },
      })
    await page.getByText('24h', { exact: true }).click()
    await page.getByText('Spend in US dollars').waitFor()
    expect(new URL(page.url()).search).toBe('?tab=usage&period=24h')
    await page.getByText('gpt-5.4').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'account-usage')
  })

  test('an operator sets the tier of its limits and leaves it to the balance again', async () => {
    const { page, goto } = opened
    await goto(`/accounts/${accountId}?tab=limits`)
    const tier = page.getByLabel('Tier of limits')
    await expect.poll(() => tier.inputValue()).toBe('')
    await tier.selectOption('tier_4')
    await page.getByRole('button', { name: 'Set the tier' }).click()
    await page.getByText('The account has the limits of tier_4.').waitFor()
    const path = `/v1/admin/accounts/${accountId}/limits`
    expect((await gateway.request('GET', path)).body.set_tier).toBe('tier_4')
    await page.getByText('6,000,000').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'account-limits')
    await tier.selectOption('')
    await page.getByRole('button', { name: 'Set the tier' }).click()
    await page.getByText('The account has the limits of tier_2.').waitFor()
    expect((await gateway.request('GET', path)).body.set_tier).toBeNull()
  })

  test('a list that cannot be read says why, and is read again', async () => {
    const { page, goto } = opened
    const failed = '**/v1/admin/accounts/*/limits'
    await page.route(failed, (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error' } } }),
    )
    await goto(`/accounts/${accountId}?tab=limits`)
    await page.getByText('Limits could not be loaded').waitFor()
    await page.getByText('It broke.').waitFor()
    await takeScreenshots(page, 'account-failing')
    await page.unroute(failed)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('Tier of limits').waitFor()
  })

  test('an account that does not exist is not found', async () => {
    const { page, goto } = opened
    await goto('/accounts/01890000-0000-7000-8000-000000000000')
    await page.getByText('The account could not be loaded').waitFor()
  })
})
