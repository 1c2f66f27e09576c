import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

/** Counts the pixels of the first chart that are neither grey nor transparent: those of its bars. */
const COUNT_COLOURED_PIXELS = `(() => {
  const canvas = document.querySelector('canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let count = 0
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] > 200 && Math.abs(data[at] - data[at + 2]) > 60) count += 1
  return count
})()`

describe.skipIf(NO_BROWSER !== null)('usage in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startChatGateway({
      models: ['=quick', 'careful', 'small'].map((id) =>
        modelEntry(id, [{ provider: 'vllm', model: id, priority: 0 }]),
      ),
      providers: ['vllm'],
    })
    gateway.upstream.respondWith(async ({ body }) =>
      Reflect.get(Object(body), 'stream') === true ? stream(chunksOf('Hello')) : completion(),
    )
    for (const model of ['=quick', '=quick', 'careful', 'small'])
      for (const isStream of [false, true])
        await (await gateway.fetch('POST', CHAT, { body: chatBody({ model, stream: isStream }) })).text()
  })
  afterAll(() => gateway.close())

  test('without requests says what to do', async () => {
    const { page, goto, close } = await openConsole(await createUser(gateway))
    await goto('/usage')
    await page.getByText('Nothing was used in this period').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'usage-empty')
    await close()
  })

  test('shows spend by group as a chart, as a table and as CSV', async () => {
    const summary = await gateway.request('GET', '/v1/usage/summary?window=24h')
    expect(summary.body.requests).toBe(8)

    const { page, goto, close } = await openConsole(gateway)
    await goto('/usage?period=24h')
    await page.getByRole('img', { name: 'Spend in US dollars' }).waitFor()
    await page.getByRole('region', { name: 'Groups' }).getByText('careful').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'usage-full')
    await expect.poll(() => page.evaluate(COUNT_COLOURED_PIXELS)).toBeGreaterThan(100)
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('region', { name: 'Spend in US dollars' }).getByText('=quick').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV over time' }).click(),
    ])
    const csv = await readFile(await download.path(), 'utf8')
    const lines = csv.trim().split('\r\n')
    expect(lines[0]).toBe(
      'start,end,group,tag,requests,prompt_tokens,cached_tokens,completion_tokens,total_tokens,cost_usd',
    )
    const requests = lines.slice(1).map((line) => Number(line.split(',')[4]))
    expect(requests.reduce((sum, count) => sum + count, 0)).toBe(8)
    expect(csv).toContain(",'=quick,")

    await page.getByLabel('Groups').first().selectOption('key')
    await page.getByRole('region', { name: 'Groups' }).getByText('First key').waitFor()
    expect(new URL(page.url()).search).toBe('?period=24h&by=key')
    await close()
  })

  test('shows latency percentiles, with the keyboard', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/usage?period=24h')
    await page.getByRole('tab', { name: 'Spend' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'Time to the first token of streams' }).waitFor()
    await page.getByRole('region', { name: 'Latency by group' }).getByText('careful').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'usage-latency')
    await close()
  })

  test('fits a phone', async () => {
    const { page, goto, close } = await openConsole(gateway, { width: 390, height: 844, theme: 'dark' })
    await goto('/usage?period=12mo&view=tokens')
    await page.getByRole('img', { name: 'Tokens' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await expectAccessible(page)
    await close()
  })

  test('says when the API fails', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/usage/**', (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'The database is away.' } } }),
    )
    await goto('/usage')
    await page.getByText('The sums could not be loaded').waitFor()
    await page.getByText('Usage could not be loaded').waitFor()
    await takeScreenshots(page, 'usage-failing')
    await close()
  })

  test.each(['en-US@posix', 'C', 'de-CH'])(
    'draws charts in a browser of the language %s',
    async (language) => {
      const { page, goto, close } = await openConsole(gateway, { language })
      await goto('/usage?period=24h')
      await page.locator('canvas').first().waitFor()
      await expect.poll(() => page.evaluate(COUNT_COLOURED_PIXELS)).toBeGreaterThan(100)
      await close()
    },
  )
})
