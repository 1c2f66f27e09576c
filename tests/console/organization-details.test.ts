import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const CHAT = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 }

/** Returns what a button saves as a file. */
async function savedBy(page: Page, name: string): Promise<string> {
  const download = page.waitForEvent('download')
  await page
    .getByRole('button', { name })
    .or(page.getByRole('link', { name }))
    .or(page.getByRole('menuitem', { name }))
    .first()
    .click()
  return readFile(await (await download).path(), 'utf8')
}

describe.skipIf(NO_BROWSER !== null)('the details of an organization in the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('the page of a project has its models, limits and usage, and changes them', async () => {
    const user = await createUser(gateway)
    const id = await createProject(gateway, 'Search', user.key)
    const key = await createProjectKey(gateway, id, { key: user.key })
    expect((await gateway.request('POST', '/v1/chat/completions', { key, body: CHAT })).status).toBe(200)
    const { page, goto, close } = await openConsole(user)
    await goto(`/organization/projects/${id}`)
    await page.getByRole('tab', { name: 'Models' }).click()
    await page.getByText('may use every model that the account has').waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByLabel('The project may use').selectOption('allow_list')
    await page.getByPlaceholder('Find a model').fill('gpt-5.4-mini')
    await page.getByLabel('gpt-5.4-mini', { exact: true }).check()
    await expectAccessible(page)
    await takeScreenshots(page, 'project-models-dialog')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('may use only these models').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'project-models')
    await page.getByRole('tab', { name: 'Limits' }).click()
    await page.getByRole('button', { name: 'Change gpt-5.4-mini' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Requests a minute').fill('7')
    await page.getByLabel('Requests a day').fill('0')
    await page.getByText('A whole number above zero').waitFor()
    await page.getByLabel('Requests a day').fill('5000')
    await expectAccessible(page)
    await takeScreenshots(page, 'project-limit-dialog')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Limits' }).getByText('5,000').waitFor()
    await takeScreenshots(page, 'project-limits')
    const { body } = await user.request('GET', `/v1/organization/projects/${id}/rate_limits`)
    expect(body.data).toMatchObject([
      { model: 'gpt-5.4-mini', max_requests_per_1_minute: 7, max_requests_per_1_day: 5000 },
    ])
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('region', { name: 'By key' }).getByText('of a project').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'project-usage')
    await page.getByRole('link', { name: 'Log', exact: true }).last().click()
    await page.waitForURL(`**/log?*project_id=${id}*`)
    await close()
  })

  test('an own role is changed, and given to a person and a group', async () => {
    const user = await createUser(gateway)
    const person = await joinAccount(gateway, { email: 'ada@example.com', name: 'Ada', key: user.key })
    const { body: group } = await user.request('POST', '/v1/organization/groups', { body: { name: 'Eng' } })
    await user.request('POST', '/v1/organization/roles', {
      body: { role_name: 'Treasurer', permissions: ['budgets.manage'] },
    })
    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=roles')
    await page.getByRole('button', { name: 'Change the role Treasurer' }).click()
    await page.getByLabel('usage.read').check()
    await expectAccessible(page)
    await takeScreenshots(page, 'role-dialog')
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await takeScreenshots(page, 'roles-own')
    await goto('/organization')
    await page.getByRole('button', { name: 'Ada' }).click()
    await page.getByLabel('Give a role').selectOption('Treasurer')
    await page.getByRole('button', { name: 'Give', exact: true }).click()
    await page.getByRole('button', { name: 'Take the role Treasurer' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'member-roles')
    const { body: me } = await person.request('GET', '/v1/tenants/me/permissions')
    expect(JSON.stringify(me)).toContain('budgets.manage')
    expect(JSON.stringify(me)).toContain('usage.read')
    await page.getByRole('button', { name: 'Take the role Treasurer' }).click()
    await page.getByText('None.', { exact: true }).waitFor()
    await goto('/organization?tab=groups')
    await page.getByRole('button', { name: 'Eng', exact: true }).click()
    await page.getByLabel('Give a role').selectOption('Treasurer')
    await page.getByRole('button', { name: 'Give', exact: true }).click()
    await page.getByRole('button', { name: 'Take the role Treasurer' }).waitFor()
    await takeScreenshots(page, 'group-roles')
    const { body } = await user.request('GET', `/v1/organization/groups/${group.id}/roles`)
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Treasurer'])
    await close()
  })

  test('the audit log is filtered, tells the address, and is saved as a file', async () => {
    const user = await createUser(gateway)
    await createProject(gateway, '=SUM(A1)', user.key)
    await createProject(gateway, 'Search', user.key)
    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=audit')
    const log = page.getByRole('region', { name: 'Audit log' })
    await log.getByText('127.0.0.1').first().waitFor()
    await page.getByLabel('What happened').selectOption('project.created')
    await log.getByRole('button', { name: 'login succeeded' }).waitFor({ state: 'detached' })
    await page.getByLabel('Period').selectOption('24h')
    await log.getByText('Search', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'audit')
    const lines = (await savedBy(page, 'CSV')).trim().split('\r\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe('time,id,type,actor,ip_address,user_agent,project,details')
    expect(lines[1]).toMatch(/,project\.created,key [\w-]+,127\.0\.0\.1,/)
    // A spreadsheet must not run what somebody wrote.
    expect(lines[2]).toContain("'=SUM(A1)")
    await log.getByRole('button', { name: 'project created' }).first().click()
    await page.getByRole('dialog').getByText('127.0.0.1').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'audit-entry')
    await close()
  })

  test('usage and the log are filtered and grouped by tag, on the page and in files', async () => {
    const user = await createUser(gateway)
    for (const tag of ['team=search', 'team=chat'])
      await gateway.request('POST', '/v1/chat/completions', {
        key: user.key,
        headers: { 'x-gateway-tags': tag },
        body: CHAT,
      })
    const { page, goto, close } = await openConsole(user)
    await goto('/usage')
    await page.getByLabel('Groups').first().selectOption('tag')
    await page.getByLabel('Name of the tag, such as team').fill('team')
    const groups = page.getByRole('region', { name: 'Groups' }).last()
    await groups.getByText('search', { exact: true }).waitFor()
    await groups.getByText('chat', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'usage-by-tag')
    const usage = await savedBy(page, 'CSV over time')
    expect(usage).toContain(',search,team=search,')
    expect(usage).toContain(',chat,team=chat,')
    const tag = page.getByRole('combobox', { name: 'Tag, such as team=search' })
    await tag.fill('team=chat')
    await tag.press('Enter')
    await groups.getByText('search', { exact: true }).waitFor({ state: 'detached' })
    await goto('/log?tag=team%3Dsearch')
    await page.getByText('1 request', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'log-by-tag')
    await page.getByRole('button', { name: 'Columns and file of Requests' }).click()
    const log = (await savedBy(page, 'Requests: all rows as CSV')).trim().split('\r\n')
    expect([log.length, log[1]?.includes('team=search')]).toEqual([2, true])
    await close()
  })
})
