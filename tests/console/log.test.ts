import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the log in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    const route = (provider: string, priority: number) => ({ provider, model: `${provider}-name`, priority })
    gateway = await startChatGateway({
      models: [modelEntry('ordered', [route('vllm', 0), route('ollama', 1)])],
      providers: ['vllm', 'ollama'],
    })
  })
  afterAll(() => gateway.close())

  test('without requests says how to send the first', async () => {
    const { page, goto, close } = await openConsole(await createUser(gateway))
    await goto('/log')
    await page.getByText('No request yet').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'log-empty')
    await page.getByRole('link', { name: 'Make a key' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await close()
  })

  test('shows a request with the attempt that failed and the one that answered', async () => {
    gateway.upstream.respondWith(async ({ path }) => (path.startsWith('/vllm') ? failure(503) : completion()))
    const user = await createUser(gateway)
    const answer = await user.fetch('POST', CHAT, { body: chatBody({ model: 'ordered', user: 'ada' }) })
    await answer.text()
    const requestId = answer.headers.get('x-request-id') ?? ''
    const { page, goto, close } = await openConsole(user)
    await goto('/log')
    await page.getByRole('button', { name: 'ordered' }).focus()
    await page.keyboard.press('Enter')
    const details = page.getByRole('dialog', { name: 'Request' })
    await details.getByText(requestId).waitFor()
    await details.getByText('fallback').waitFor()
    await details.getByText('ollama-name').waitFor()
    expect(new URL(page.url()).searchParams.get('request')).toBe(requestId)
    await expectAccessible(page)
    await takeScreenshots(page, 'log-details')
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await close()
  })

  test('keeps its filters in the address', async () => {
    gateway.upstream.respondWith(async () => completion())
    const user = await createUser(gateway)
    for (const [model, status] of [
      ['ordered', 200],
      ['nowhere', 404],
    ])
      expect((await user.request('POST', CHAT, { body: chatBody({ model }) })).status).toBe(status)
    const { page, goto, close } = await openConsole(user)
    await goto('/log')
    const rows = page.getByRole('region', { name: 'Requests' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByLabel('Outcome').selectOption('completed')
    await expect.poll(() => rows.count()).toBe(1)
    expect(new URL(page.url()).search).toBe('?outcome=completed')
    await page.getByRole('button', { name: 'More filters' }).click()
    const provider = page.getByRole('combobox', { name: 'Provider that answered' })
    await provider.fill('else')
    await page.getByRole('option', { name: 'Exactly “else”' }).waitFor()
    await provider.press('Enter')
    await page.getByText('No request matches').waitFor()
    await page.reload()
    await page.getByText('No request matches').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await expect.poll(() => rows.count()).toBe(2)
    await close()
  })

  test('pages by cursor, on a phone too', async () => {
    gateway.upstream.respondWith(async () => completion())
    const user = await createUser(gateway)
    for (let index = 0; index < 110; index += 1)
      expect((await user.request('POST', CHAT, { body: chatBody({ model: 'ordered' }) })).status).toBe(200)
    const { page, goto, close } = await openConsole(user, { width: 390, height: 844 })
    await goto('/log')
    const table = page.getByRole('table')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('100')
    await page.getByText('100+ requests').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'log-full')
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('[aria-label="Requests"]'))`
    expect(await page.evaluate(hidden)).toBeLessThanOrEqual(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await page.locator('tbody tr').count()).toBeLessThan(60)
    await page.evaluate(`document.querySelector('[aria-label="Requests"]').scrollTo(0, 1e6)`)
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('110')
    // A long name is cut before it pushes the cost out of view.
    const { body: list } = await user.request('GET', '/v1/requests?limit=10')
    const long = { model: 'byom-01a1ead8-cdbe-7f0a-8b3f-c4662f6004ef', cost_usd: 0.0000048 }
    const data = list.data.map((request: object) => ({ ...request, ...long }))
    await page.route('**/v1/requests?*', (route) => route.fulfill({ json: { ...list, data } }))
    await goto('/log')
    await page.getByText('byom-').first().waitFor()
    expect(await page.evaluate(hidden)).toBeLessThanOrEqual(0)
    await close()
  })

  test('says when the API fails', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/requests?*', (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req_0193' },
        json: { error: { message: 'The database is away.', code: 'internal_error' } },
      }),
    )
    await goto('/log')
    await page.getByText('Requests could not be loaded').waitFor()
    await page.getByText('req_0193').waitFor()
    await takeScreenshots(page, 'log-failing')
    await close()
  })

  test('shows stored bodies when they are wanted, and says so where there are none', async () => {
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    const storage = `/v1/admin/accounts/${me.id}/body-storage`
    await gateway.request('PATCH', storage, { body: { enabled: true } })
    gateway.upstream.respondWith(async () => stream(chunksOf('Stored **text**')))
    const messages = [{ role: 'user', content: 'Keep this question' }]
    const body = chatBody({ model: 'ordered', stream: true, messages })
    const answer = await gateway.fetch('POST', CHAT, { body })
    await answer.text()
    const id = answer.headers.get('x-request-id') ?? ''
    await expect
      .poll(async () => (await gateway.request('GET', `/v1/requests/${id}`)).body.body_stored)
      .toBe(true)
    const { page, goto, close } = await openConsole(gateway)
    const fetched: string[] = []
    page.on('request', (request) => fetched.push(request.url()))
    await goto(`/log?request=${id}`)
    const details = page.getByRole('dialog', { name: 'Request' })
    await details.getByRole('button', { name: 'Show the bodies' }).waitFor()
    expect(fetched.filter((url) => url.endsWith('/body'))).toEqual([])
    await details.getByRole('button', { name: 'Show the bodies' }).click()
    await details.getByLabel('Request', { exact: true }).getByText('Keep this question').waitFor()
    await details.locator('strong', { hasText: 'text' }).waitFor()
    await details.getByLabel('Answer, as it was streamed').getByText('[DONE]').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'log-bodies')

    await goto('/log?model=ordered')
    await page.getByRole('button', { name: 'As a dataset' }).click()
    const dialog = page.getByRole('dialog', { name: 'A dataset of real requests' })
    await dialog.getByLabel('Name').fill('Real')
    await expectAccessible(page)
    await takeScreenshots(page, 'log-dataset')
    await dialog.getByRole('button', { name: 'Make the dataset' }).click()
    await page.getByText('The dataset “Real” was made').waitFor()
    const { body: made } = await gateway.request('GET', '/v1/compare/datasets')
    expect(made.data).toMatchObject([{ name: 'Real', prompts_total: 1 }])
    await gateway.request('PATCH', storage, { body: { enabled: false } })
    const plain = await gateway.fetch('POST', CHAT, { body: chatBody({ model: 'ordered' }) })
    await plain.text()
    await goto(`/log?request=${plain.headers.get('x-request-id')}`)
    await details.getByText('The bodies of this request are not stored.').waitFor()
    await close()
  })
})
