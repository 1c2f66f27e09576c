import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the usage of all accounts in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startChatGateway({
      models: ['quick', 'careful'].map((id) =>
        modelEntry(id, [{ provider: 'vllm', model: id, priority: 0 }]),
      ),
      providers: ['vllm'],
    })
    gateway.upstream.respondWith(async () => completion())
    for (const model of ['quick', 'quick', 'careful'])
      await (await gateway.fetch('POST', CHAT, { body: chatBody({ model }) })).text()
  })
  afterAll(() => gateway.close())

  test('leads from the chart to its table, to a group, and to the requests of the group', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/analytics?period=24h&by=model')
    await page.getByRole('img', { name: 'Spend in US dollars' }).waitFor()
    const groups = page.getByRole('region', { name: 'Groups' })
    await groups.getByText('careful').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'analytics')
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('region', { name: 'Spend in US dollars' }).getByText('quick').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Groups: all rows as CSV' }).click(),
    ])
    const csv = await readFile(await download.path(), 'utf8')
    expect(csv.trim().split('\r\n')).toHaveLength(3)
    await page.getByLabel('Order').selectOption('movers')
    await expect.poll(() => new URL(page.url()).search).toBe('?period=24h&by=model&order=movers')
    await groups.getByRole('button', { name: 'quick' }).click()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/requests?period=24h&model=quick')
    await expect.poll(() => page.getByRole('region', { name: 'Requests' }).getByText('quick').count()).toBe(2)
    await close()
  })
})
