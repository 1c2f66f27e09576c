import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scimClient } from '../scim/scim-client.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('directory sync', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('is connected with a token that is shown once, tells what a directory wrote and what was refused, and ends', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=directory')
    await page.getByText('No directory is connected').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'scim-off')
    await page.getByRole('button', { name: 'Connect a directory' }).focus()
    await page.keyboard.press('Enter')
    await takeScreenshots(page, 'scim-new-token')
    await page.keyboard.type('Entra')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog')
    const token = (await shown.getByLabel('Secret token').textContent()) ?? ''
    expect(token).toMatch(/^scim-/)
    expect(await shown.getByLabel('Base URL').textContent()).toBe(`${gateway.baseUrl}/scim/v2`)
    await expectAccessible(page)
    await takeScreenshots(page, 'scim-token')
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText('no directory has used it yet').waitFor()
    expect(await page.content()).not.toContain(token)

    const directory = scimClient(gateway, token)
    const person = { userName: 'grace@example.com', displayName: 'Grace Hopper', active: true }
    const { body: grace } = await directory.request('POST', '/Users', person)
    await directory.request('POST', '/Groups', { displayName: 'Engineers', members: [{ value: grace.id }] })
    expect((await directory.request('POST', '/Users', person)).status).toBe(409)
    await goto('/organization?tab=directory')
    await page.getByText('A directory is connected').waitFor()
    await page.getByRole('region', { name: 'Problems' }).getByText('POST /scim/v2/Users').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'scim-on')

    await page.getByRole('button', { name: 'Replace the token Entra' }).click()
    await page.getByRole('button', { name: 'Make the token' }).click()
    await page.getByText('The old one works until you delete it').waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Delete the token Entra' }).last().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete the token' }).click()
      await expect.poll(() => page.getByRole('button', { name: 'Delete the token Entra' }).count()).toBe(left)
    }
    await page.getByText('No token works any more').waitFor()
    expect((await directory.request('GET', '/Users')).status).toBe(401)
    await close()
  })

  test('marks people and groups, and leaves to the directory what only it may change', async () => {
    const user = await createUser(gateway)
    const made = await user.request('POST', '/v1/organization/scim_tokens', { body: { name: 'Okta' } })
    const directory = scimClient(gateway, made.body.value)
    const { body: alan } = await directory.request('POST', '/Users', {
      userName: 'alan@example.com',
      displayName: 'Alan Turing',
      active: true,
    })
    await directory.request('POST', '/Groups', { displayName: 'Research', members: [{ value: alan.id }] })
    const { page, goto, close } = await openConsole(user)
    await goto('/organization')
    await page.getByRole('region', { name: 'Members' }).getByText('directory', { exact: true }).waitFor()
    await takeScreenshots(page, 'scim-members')
    await page.getByRole('button', { name: 'Alan Turing' }).click()
    await page.getByText('Your directory manages this person').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'scim-member')
    await goto('/organization?tab=groups')
    await page.getByRole('button', { name: 'Research' }).click()
    const sheet = page.getByRole('dialog', { name: 'Research' })
    await sheet.getByText('Your directory manages this group').waitFor()
    await sheet.getByText('alan@example.com').waitFor()
    expect(await sheet.getByRole('button', { name: /out of the group/ }).count()).toBe(0)
    expect(await sheet.getByLabel('Name', { exact: true }).count()).toBe(0)
    expect(await sheet.getByLabel('Add a member of the account').count()).toBe(0)
    await expectAccessible(page)
    await takeScreenshots(page, 'scim-group')
    await close()
  })
})
