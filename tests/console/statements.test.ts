import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('statements in the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('a month says what changed the balance and what requests cost, and is saved as PDF and CSV', async () => {
    const user = await createUser(gateway)
    for (const model of ['gpt-4o', 'gpt-4o-mini'])
      await user.request('POST', '/v1/chat/completions', {
        body: { model, messages: [{ role: 'user', content: 'Hello' }] },
      })
    const { body } = await user.request('GET', '/v1/statements')
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByRole('link', { name: 'Statements' }).click()
    await page.getByRole('cell', { name: 'open' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'statements')
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('cell', { name: 'gpt-4o-mini' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'statement')
    expect(await page.getByRole('definition').last().textContent()).toMatch(/^\$\d+\.\d{2,9}$/)
    for (const format of ['PDF', 'CSV']) {
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: format }).click()
      expect((await download).suggestedFilename()).toBe(
        `statement-${body.data[0].month}.${format.toLowerCase()}`,
      )
    }
    await page.getByRole('tab', { name: 'Movements' }).click()
    await page.getByRole('region', { name: 'Movements' }).waitFor()
    expect(new URL(page.url()).searchParams.get('by')).toBe('movements')
    await page.getByRole('tab', { name: 'By project' }).click()
    await page.getByRole('cell', { name: 'Default' }).click()
    await page.getByText('Only what the project Default was charged.').waitFor()
    await page.getByRole('button', { name: 'Show the account' }).click()
    await page.getByText('Closing balance').waitFor()
    await close()
  })

  test('usage of a month is read in UTC or in the time zone of the browser, which the address keeps, and the account where it is told to', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/usage/summary')
        asked.push(`${searchParams.get('window')} ${searchParams.get('time_zone')}`)
    })
    await goto('/usage?period=this_month')
    await page.getByLabel('Time zone of the period').selectOption('Europe/Zurich')
    await page.waitForURL(/zone=Europe/)
    await page.waitForLoadState('networkidle')
    expect(asked).toEqual(['this_month null', 'this_month Europe/Zurich'])
    await page.getByRole('button', { name: 'Make it that of the account' }).click()
    await page.getByText('Europe/Zurich is the time zone of the account').waitFor()
    const ofAccount = page.getByRole('option', { name: 'in Europe/Zurich, that of the account' })
    expect(await ofAccount.getAttribute('value')).toBe('Europe/Zurich')
    const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key: user.key })
    expect(account.time_zone).toBe('Europe/Zurich')
    await takeScreenshots(page, 'usage-of-month')
    await expectAccessible(page)
    await close()
  })
})
