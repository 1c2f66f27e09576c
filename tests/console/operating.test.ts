import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { completion, failure } from '../upstreams/openai-server.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('operating the gateway in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startChatGateway({
      models: [modelEntry('steady', [{ provider: 'vllm', model: 'steady-name', priority: 0 }])],
      providers: ['vllm'],
    })
    gateway.upstream.respondWith(async () => completion())
  })
  afterAll(() => gateway.close())

  test('providers tell what they lack, and a test call tells whether one answers', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/providers')
    await page.getByRole('button', { name: 'vllm' }).focus()
    await page.keyboard.press('Enter')
    const details = page.getByRole('dialog', { name: 'vllm' })
    await details.getByText('steady', { exact: true }).waitFor()
    await details.getByRole('button', { name: 'Test call' }).click()
    await details.getByText('answered').waitFor()
    gateway.upstream.respondWith(async () => failure(401))
    await details.getByRole('button', { name: 'Test call' }).click()
    await details.getByText('failed', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'provider')
    await page.keyboard.press('Escape')
    await page.getByLabel('Which').selectOption('all')
    await page.getByRole('button', { name: 'anthropic' }).click()
    await page.getByRole('dialog').getByText('ANTHROPIC_API_KEY').waitFor()
    await page.keyboard.press('Escape')
    await takeScreenshots(page, 'providers')
    await close()
  })

  test('the doctor says what is wrong and how to mend it', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/doctor')
    // The servers of tests trade safety for speed.
    await page.getByRole('list', { name: 'Findings' }).getByText('fsync: A crash of the machine').waitFor()
    await page.getByText('Set fsync = on in the server.').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'doctor')
    await close()
  })

  test('the overview shows requests as they come, on a phone too', async () => {
    gateway.upstream.respondWith(async () => completion())
    const { page, close } = await openConsole(gateway, { width: 390, height: 844 })
    // The stream does not end, so the network is never idle.
    await page.goto('/overview')
    await page.getByText('Live figures of 1 process').waitFor()
    expect((await gateway.request('POST', CHAT, { body: chatBody({ model: 'steady' }) })).status).toBe(200)
    await page
      .getByRole('region', { name: /^Providers/ })
      .getByText('vllm')
      .waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'overview')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await close()
  })

  test.each([
    ['it is not live', null],
    ['the stream ends with an error', { error: { message: 'The gateway is shutting down.' } }],
  ])('the overview says when %s', async (_, event) => {
    const { page, close } = await openConsole(gateway)
    await page.route('**/v1/admin/live', (route) =>
      event === null
        ? route.abort()
        : route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(event)}\n\n` }),
    )
    await page.goto('/overview')
    await page.getByText('The figures are not live').waitFor()
    await takeScreenshots(page, 'overview-failing')
    await close()
  })
})
