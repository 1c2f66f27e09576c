import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('agent settings', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('are set for everybody and a group, tell what is wrong in the JSON, are previewed for a person, and deleted', async () => {
    const user = await createUser(gateway)
    const person = await joinAccount(gateway, { email: 'ada@example.com', name: 'Ada', key: user.key })
    const { body: group } = await user.request('POST', '/v1/organization/groups', {
      body: { name: 'Engineers' },
    })
    await user.request('POST', `/v1/organization/groups/${group.id}/users`, {
      body: { user_id: person.id },
    })
    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=agents')
    await page.getByText('No settings yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'New settings' }).click()
    const sheet = page.getByRole('dialog')
    const editor = sheet.getByLabel('Settings, as JSON')
    await sheet.getByLabel('Begin with').selectOption('Keep agents from secrets and the web')
    expect(await editor.inputValue()).toContain('WebFetch')
    await editor.fill('{\n  "model": "opus",\n}')
    await sheet.getByText('Line 3, column 1').waitFor()
    expect(await sheet.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-wrong')
    await editor.fill('["a list"]')
    await sheet.getByText('Settings are an object').waitFor()
    await editor.fill('{"permissions": {"deny": ["Bash"]}, "hooks": {}}')
    await sheet.getByText('can run programs').waitFor()
    await editor.fill('{"model": "base", "permissions": {"deny": ["Bash"]}}')
    await sheet.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved').waitFor()

    await page.getByRole('button', { name: 'New settings' }).click()
    expect(await sheet.getByLabel('For').locator('option').allTextContents()).toEqual(['Engineers'])
    await sheet.getByLabel('Priority').fill('1')
    await editor.fill('{"model": "strong", "permissions": {"deny": ["WebFetch"]}}')
    await takeScreenshots(page, 'settings-new')
    await sheet.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Engineers' }).waitFor()
    await page.getByLabel('E-mail address of a member').fill('nobody@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('Nobody in this account').waitFor()
    await page.getByLabel('E-mail address of a member').fill('ada@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('in this order: Everybody, then Engineers').waitFor()
    expect(JSON.parse((await page.getByLabel('Settings of the person').textContent()) ?? '')).toEqual({
      model: 'strong',
      permissions: { deny: ['Bash', 'WebFetch'] },
    })
    await expectAccessible(page)
    await takeScreenshots(page, 'settings')

    await page.getByRole('button', { name: 'Engineers' }).click()
    expect(await editor.inputValue()).toContain('strong')
    await sheet.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete the settings' }).click()
    await expect.poll(() => sheet.count()).toBe(0)
    await page.getByRole('button', { name: 'Engineers' }).waitFor({ state: 'detached' })
    const { body } = await user.request('GET', '/v1/organization/managed_settings')
    expect(body.data).toMatchObject([{ group_id: null, settings: { model: 'base' } }])
    await close()
  })

  test('are read, and not changed, by whoever may not manage the account', async () => {
    const user = await createUser(gateway)
    await user.request('POST', '/v1/organization/managed_settings', { body: { settings: { model: 'base' } } })
    const auditor = await joinAccount(gateway, { email: 'eve@example.com', role: 'auditor', key: user.key })
    const { page, context, goto, close } = await openConsole(user, { key: null })
    const [name = '', value = ''] = (auditor.headers['cookie'] ?? '').split('=')
    await context.addCookies([{ name, value, url: gateway.baseUrl }])
    await goto('/organization?tab=agents')
    await page.getByRole('button', { name: 'Everybody' }).click()
    expect(await page.getByLabel('Settings, as JSON').isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'New settings' }).count()).toBe(0)
    await close()
  })
})
