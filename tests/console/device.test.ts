import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { poll, requestCodes } from '../grants/sign-in-tool.ts'
import { chatStatus, createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the page where people sign tools in', () => {
  let gateway: TestGateway
  let person: Person
  beforeAll(async () => {
    gateway = await startTestGateway()
    const id = await createProject(gateway)
    person = await joinAccount(gateway, {
      email: 'ada@example.com',
      role: 'reader',
      projects: [{ id, role: 'member' }],
    })
  })
  afterAll(() => gateway.close())

  /** Opens the console in the session of the person. */
  async function openAsPerson(): Promise<OpenConsole> {
    const opened = await openConsole(gateway, { key: null })
    const [name = '', value = ''] = (person.headers['cookie'] ?? '').split('=')
    await opened.context.addCookies([{ name, value, url: gateway.baseUrl }])
    return opened
  }

  test('shows who asks, signs the tool in, lists it and signs it out', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    const { page, goto, close } = await openAsPerson()
    await goto('/device')
    await page.getByLabel('Code', { exact: true }).fill(userCode.toLowerCase().replace('-', ' '))
    await expectAccessible(page)
    await takeScreenshots(page, 'device-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('parkway-cli (as it calls itself)').waitFor()
    await page.getByText('ada@example.com').first().waitFor()
    await page.getByLabel('Where it works').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'device-decide')
    expect((await poll(gateway, deviceCode)).body.error).toBe('authorization_pending')
    await page.getByRole('button', { name: 'Yes, sign it in' }).click()
    await page.getByText('continues by itself').waitFor()
    const { status, body } = await poll(gateway, deviceCode)
    expect([status, await chatStatus(gateway, body.access_token)]).toEqual([200, 200])
    await goto('/device')
    const tools = page.getByRole('list', { name: 'Connected tools' })
    await tools.getByText('parkway-cli').waitFor()
    await takeScreenshots(page, 'device-tools')
    await tools.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('No tool is signed in for you.').waitFor()
    expect(await chatStatus(gateway, body.access_token)).toBe(401)
    await close()
  })

  test('does nothing by itself when a link has the code, and refuses on demand', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    const { page, goto, close } = await openAsPerson()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/v1/device-authorizations')) asked.push(request.url())
    })
    await goto(`/device?user_code=${userCode}`)
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe(userCode)
    expect(asked).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'No, refuse it' }).click()
    await page.getByText('The tool was refused').waitFor()
    expect((await poll(gateway, deviceCode)).body.error).toBe('access_denied')
    await close()
  })

  test('says what is wrong with a code, and leads through the sign-in', async () => {
    const { page, goto, close } = await openAsPerson()
    await goto('/device')
    await page.getByLabel('Code', { exact: true }).fill('BCDF-BCDF')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('No tool waits for this code').waitFor()
    await close()
    const signedOut = await openConsole(gateway, { key: null })
    await signedOut.page.goto('/device?user_code=BCDF-GHJK')
    await signedOut.page.waitForURL(/\/sign-in/)
    expect(decodeURIComponent(signedOut.page.url())).toContain('/device?user_code=BCDF-GHJK')
    await signedOut.close()
  })
})
