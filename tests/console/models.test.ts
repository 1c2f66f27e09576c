import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the models of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('are filtered by what the address says', async () => {
    const { body: list } = await gateway.request('GET', '/v1/models?include=all')
    const models: { category: string }[] = list.data
    const videos = models.filter(({ category }) => category === 'video')
    const { page, goto, close } = await openConsole(gateway)
    await goto('/models')
    await page.getByText(`${models.length} of ${models.length} models`).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'models')
    await page.getByLabel('Kind').selectOption('video')
    await page.getByText(`${videos.length} of ${models.length} models`).waitFor()
    expect(new URL(page.url()).search).toBe('?kind=video')
    await page.getByLabel('Search models').fill('no such model')
    await page.getByText('No model passes these filters').waitFor()
    await takeScreenshots(page, 'models-empty')
    await close()
  })

  test('have a page with price and an example of each call', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/models?text=gpt-5.6')
    await page.getByRole('link', { name: 'GPT-5.6 gpt-5.6', exact: true }).click()
    await page.getByRole('heading', { name: 'GPT-5.6' }).waitFor()
    await page.getByText('1,050,000 tokens').waitFor()
    await page.getByRole('heading', { name: 'With a tool' }).waitFor()
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
    await takeScreenshots(page, 'model')
    await close()
  })

  test('the models of the console that do not exist are said to be missing', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/models/no-such-model')
    await page.getByRole('alert').getByText('model_not_found').waitFor()
    await close()
  })
})
