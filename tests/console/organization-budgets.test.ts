import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const CHAT = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 }

describe.skipIf(NO_BROWSER !== null)('budgets of an organization in the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('are made, shown as bars, raised, changed and deleted', async () => {
    const user = await createUser(gateway)
    const project = await createProject(gateway, 'Search', user.key)
    const body = {
      subject: { type: 'account', id: null },
      window: 'month',
      limit_usd: 0.000_05,
      is_hard: false,
    }
    expect((await user.request('POST', '/v1/organization/budgets', { body })).status).toBe(200)
    expect((await user.request('POST', '/v1/chat/completions', { body: CHAT })).status).toBe(200)
    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=budgets')
    await page.getByRole('meter', { name: 'Spent of Whole account a month' }).waitFor()
    await page.getByRole('button', { name: 'New budget' }).click()
    await page.getByLabel('Budget of', { exact: true }).selectOption('project')
    await page.getByLabel('Project', { exact: true }).selectOption('Search')
    await page.getByLabel('Limit in USD').fill('20')
    await expectAccessible(page)
    await takeScreenshots(page, 'new-budget')
    await page.getByRole('button', { name: 'Make the budget' }).click()
    await page.getByText('$0.00 of $20.00 spent').waitFor()
    await page.getByRole('button', { name: 'Change the budget of Project Search' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Raise for a while' }).click()
    await page.keyboard.type('5')
    await page.keyboard.press('Enter')
    await page.getByText('$0.00 of $25.00 spent').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'budgets')
    await goto(`/organization/projects/${project}`)
    await page.getByRole('tab', { name: 'Budgets' }).click()
    await page.getByText('$0.00 of $25.00 spent').waitFor()
    await page.getByRole('button', { name: /^Change the budget/ }).click()
    await page.getByRole('menuitem', { name: 'Change', exact: true }).click()
    await page.getByLabel('Limit in USD').fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('$0.00 of $35.00 spent').waitFor()
    await page.getByRole('button', { name: /^Change the budget/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No budget', { exact: true }).waitFor()
    await close()
  })

  test('a person asks for more, and whoever manages the account approves', async () => {
    const user = await createUser(gateway)
    const project = await createProject(gateway, 'Search', user.key)
    const body = { subject: { type: 'project', id: project }, window: 'week', limit_usd: 10 }
    await user.request('POST', '/v1/organization/budgets', { body })
    const { body: invite } = await user.request('POST', '/v1/organization/invites', {
      body: { email: 'ada@example.com', role: 'reader', projects: [{ id: project, role: 'member' }] },
    })
    const member = await openConsole(gateway, { key: null })
    await member.goto(`/accept-invite#code=${invite.code}`)
    await member.page.getByRole('button', { name: 'Join' }).click()
    await member.page.getByRole('link', { name: 'Organization' }).click()
    await member.page.getByRole('tab', { name: 'Budgets' }).click()
    await member.page.getByRole('button', { name: 'Ask for more' }).click()
    await member.page.keyboard.type('5')
    await member.page.getByLabel('Reason').fill('The launch is on Friday')
    await member.page.getByRole('button', { name: 'Ask', exact: true }).click()
    await member.page.getByRole('region', { name: 'Requests' }).getByText('The launch is on Friday').waitFor()
    await expectAccessible(member.page)
    await takeScreenshots(member.page, 'own-budgets')
    await member.close()

    const { page, goto, close } = await openConsole(user)
    await goto('/organization?tab=requests')
    await takeScreenshots(page, 'requests')
    await page.getByRole('button', { name: 'Approve: The launch is on Friday' }).click()
    await page.getByText('Nobody waits').waitFor()
    await goto('/organization?tab=budgets')
    await page.getByText('$0.00 of $15.00 spent').waitFor()
    await goto('/organization?tab=audit')
    await page.getByLabel('What happened').selectOption('budget request approved')
    await page.getByRole('region', { name: 'Audit log' }).getByText('budget request approved').waitFor()
    expect(await page.getByRole('region', { name: 'Audit log' }).getByText('project created').count()).toBe(0)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'project created' }).first().click()
    await page.getByRole('dialog').getByText('"Search"').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'audit-entry')
    await page.keyboard.press('Escape')
    await takeScreenshots(page, 'organization-audit')
    await close()
  })
})
