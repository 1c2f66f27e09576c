import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('tables of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('a table is sorted, shows the columns that were chosen, keeps both in the address, and is saved', async () => {
    const user = await createUser(gateway)
    for (const name of ['beta 10', 'beta 9', 'alpha'])
      await user.request('POST', '/v1/tenants/me/api-keys', { body: { name } })
    const { page, goto, close } = await openConsole(user)
    await goto('/keys')
    const table = page.getByRole('region', { name: 'Keys' })
    const names = () => table.locator('tbody tr td:first-child').allTextContents()
    await expect.poll(async () => (await names()).length).toBe(4)
    const header = table.getByRole('button', { name: 'Name' })
    await header.click()
    await expect
      .poll(async () => (await names()).filter((name) => name.includes('a')))
      .toEqual(expect.arrayContaining(['alpha']))
    const ascending = await names()
    expect(ascending.filter((name) => /alpha|beta/.test(name))).toEqual(['alpha', 'beta 9', 'beta 10'])
    await header.click()
    await expect.poll(names).toEqual(ascending.toReversed())
    expect(await table.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await page.getByRole('button', { name: 'Columns' }).click()
    await expectAccessible(page)
    await takeScreenshots(page, 'table-columns')
    await page.getByRole('menuitemcheckbox', { name: 'Scopes' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(() => table.getByRole('columnheader', { name: 'Scopes' }).count()).toBe(0)
    // A filter of the page leaves the arrangement in the address.
    await page.getByRole('searchbox').fill('beta')
    await expect.poll(names).toEqual(['beta 10', 'beta 9'])
    await expect
      .poll(() => new URL(page.url()).searchParams.get('table_keys'))
      .toMatch(/^-name;name,prefix,state,spent/)
    await page.reload()
    await expect.poll(names).toEqual(['beta 10', 'beta 9'])
    expect(await table.getByRole('columnheader', { name: 'Scopes' }).count()).toBe(0)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const file = await readFile(await (await download).path(), 'utf8')
    expect(file.split('\r\n').map((line) => line.split(',')[0])).toEqual(['name', 'beta 10', 'beta 9', ''])
    // Another page does not inherit it.
    await page.getByRole('link', { name: 'Billing' }).first().click()
    await page.getByRole('heading', { name: 'Billing' }).waitFor()
    expect(page.url()).not.toContain('table_keys')
    await close()
  })

  test('the ledger says the balance after each movement, sorts all of its rows and not a part of them, and is saved by the API', async () => {
    const user = await createUser(gateway)
    const { body } = await user.request('GET', '/v1/tenants/me')
    await Promise.all(
      Array.from({ length: 105 }, (_, index) =>
        gateway.request('POST', `/v1/admin/accounts/${body.id}/credit`, {
          body: { amount_usd: 1 + index, reason: `gift ${index}` },
        }),
      ),
    )
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByRole('link', { name: 'Ledger' }).click()
    const table = page.getByRole('region', { name: 'Movements' })
    await table.waitFor()
    await takeScreenshots(page, 'ledger')
    await expectAccessible(page)
    await table.getByRole('button', { name: 'Amount' }).click()
    await page.getByText('Sorted by Amount, ascending').waitFor()
    const first = table.locator('tbody tr[aria-rowindex="1"]')
    // The first row of all is the oldest of the small gifts, which the first page of 100 need not have.
    await expect.poll(() => first.textContent()).toMatch(/\$1\.00/)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Movements: all rows as CSV' }).click()
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n')
    expect(lines.length).toBeGreaterThan(105)
    await close()
  })

  test('a small table has its tools behind one button, and a long one is sorted, arranged and saved with all of its pages', async () => {
    const user = await createUser(gateway)
    const make = (name: string) => user.request('POST', '/v1/organization/groups', { body: { name } })
    await make('=SUM(A1)')
    const { page, goto, close } = await openConsole(user)
    const saved = async (press: () => Promise<void>): Promise<string[]> => {
      const [download] = await Promise.all([page.waitForEvent('download'), press()])
      return (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
    }
    await goto('/organization?tab=groups')
    expect(await page.getByRole('button', { name: 'Columns', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Columns and file of Groups' }).click()
    await expectAccessible(page)
    await takeScreenshots(page, 'table-small')
    const file = page.getByRole('menuitem', { name: 'Groups: all rows as CSV' })
    // A spreadsheet must not run what somebody wrote.
    expect((await saved(() => file.click()))[1]).toMatch(/^'=SUM\(A1\),group_/)

    await Promise.all(Array.from({ length: 104 }, (_, index) => make(`Group ${index}`)))
    await page.reload()
    const table = page.getByRole('region', { name: 'Groups' })
    const csv = page.getByRole('button', { name: 'Groups: all rows as CSV' })
    const lines = await saved(() => csv.click())
    expect([lines[0], lines.length]).toEqual(['name,id,created', 106])
    await page.getByRole('button', { name: 'Columns', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Id' }).click()
    await page.keyboard.press('Escape')
    await table.getByRole('button', { name: 'Name' }).click()
    await table.getByRole('button', { name: 'Name' }).click()
    const first = table.locator('tbody tr[aria-rowindex="1"]')
    await expect.poll(() => first.textContent()).toContain('Group 103')
    await page.reload()
    await expect.poll(() => first.textContent()).toContain('Group 103')
    expect(await table.getByRole('columnheader', { name: 'Id', exact: true }).count()).toBe(0)

    await page.route('**/v1/organization/groups?*after=*', (route) =>
      route.fulfill({ status: 403, json: {} }),
    )
    await goto('/organization?tab=groups')
    await csv.click()
    await page.getByText('Not all rows could be loaded.').waitFor()
    // The tab of a project is in the address too, so that its tables are found again.
    await goto(`/organization/projects/proj_${user.accountId.replaceAll('-', '')}`)
    await page.getByRole('tab', { name: 'Limits' }).click()
    await page.getByRole('region', { name: 'Limits' }).waitFor()
    await page.reload()
    await page.getByRole('region', { name: 'Limits' }).waitFor()
    await close()
  })
})
