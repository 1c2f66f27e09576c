import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSignInCode } from '../../src/modules/sessions/sessions.ts'
import { connectDatabase } from '../../src/storage/connect-database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('signing in to the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('with a key leads to the first page', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/')
    await expect.poll(() => page.url()).toBe(`${gateway.baseUrl}/sign-in`)
    await expectAccessible(page)
    await takeScreenshots(page, 'sign-in')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByText('First account').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    await close()
  })

  test('with a wrong key says so and stays', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in')
    await page.getByLabel('API key').fill('pk-dev-WrongWrongWrongWrongWrongWrongWrongWrong')
    await page.getByLabel('API key').press('Enter')
    await page.getByRole('alert').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await close()
  })

  test('again, after the session has ended, returns to the page where one was', async () => {
    const { page, context, goto, close } = await openConsole(gateway)
    await goto('/models?kind=llm')
    await context.clearCookies()
    await page.reload()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sign-in')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => page.url()).toBe(`${gateway.baseUrl}/models?kind=llm`)
    await close()
  })

  test('with a link leads to the first page, and the code leaves the address', async () => {
    const { connectionString } = gateway
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
    const code = (await createSignInCode(database)) ?? ''
    await database.close()
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto(`/sign-in#code=${code}`)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/`)
    await page.goBack()
    expect(page.url()).not.toContain(code)
    await close()
  })

  test('leads to no other site', async () => {
    const { page, goto, close } = await openConsole(gateway, { key: null })
    await goto('/sign-in?next=https%3A%2F%2Felsewhere.example%2F')
    await page.getByLabel('API key').fill(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(new URL(page.url()).origin).toBe(gateway.baseUrl)
    await close()
  })
})
