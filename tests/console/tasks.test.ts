import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('the tasks of the console', () => {
  let gateway: TestGateway
  let hook: Server
  let hookUrl: string
  beforeAll(async () => {
    hook = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
    await once(hook, 'listening')
    const { port } = hook.address() as AddressInfo
    hookUrl = `http://127.0.0.1:${port}/hook`
    gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
  })
  afterAll(async () => {
    await gateway.close()
    hook.closeAllConnections()
    hook.close()
  })

  async function make(path: string, body: object, user = gateway): Promise<string> {
    const answer = await user.request('POST', path, { body, headers: { prefer: 'respond-async' } })
    expect(answer.status).toBe(202)
    return answer.body.id
  }

  async function untilEnded(id: string): Promise<void> {
    for (;;) {
      const { body } = await gateway.request('GET', `/v1/tasks/${id}?wait=20`)
      if (body.status !== 'pending' && body.status !== 'processing') return
    }
  }

  test('say how to make the first one', async () => {
    const { page, goto, close } = await openConsole(await createUser(gateway))
    await goto('/tasks')
    await page.getByText('No tasks yet').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'tasks-empty')
    await close()
  })

  test('appear as a gallery, run visibly, are cancelled, and are made again with the same parameters', async () => {
    const done = await make('/v1/images/generations', {
      model: 'flux-schnell',
      prompt: 'A lighthouse at dusk, seen from the sea',
      n: 2,
      webhook_url: hookUrl,
      metadata: { order: 7 },
    })
    const made = [
      done,
      await make('/v1/images/generations', { model: 'flux-schnell', prompt: 'A red cube on white paper' }),
      await make('/v1/audio/music', { prompt: 'A slow waltz', duration: 10 }),
      await make('/v1/videos/generations', { model: 'wan-2.6-t2v', prompt: 'Waves on a beach' }),
      await make('/v1/images/generations', {
        model: 'flux-schnell',
        prompt: '[[sandbox:job-fail status=422 code=moderated]] A cat',
      }),
    ]
    for (const id of made) await untilEnded(id)
    await make('/v1/videos/generations', {
      model: 'wan-2.6-t2v',
      prompt: '[[sandbox:job ms=600000]] A very long film',
    })
    const { page, goto, close } = await openConsole(gateway)
    await goto('/tasks')
    const picture = page.getByRole('img', { name: 'A lighthouse at dusk, seen from the sea' })
    await expect
      .poll(() => picture.evaluate((image) => Reflect.get(image, 'naturalWidth')))
      .toBeGreaterThan(0)
    await page.locator('audio').waitFor()
    await page.locator('video').waitFor()
    await page.getByRole('progressbar').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'tasks')

    // Cancel the one that runs.
    await page.getByRole('button', { name: /A very long film/ }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByRole('button', { name: 'Cancel' }).click()
    await sheet.getByText('cancelled', { exact: true }).waitFor()
    await sheet.getByText('Given back', { exact: true }).waitFor()
    await page.keyboard.press('Escape')

    // Repeat a finished one.
    await page.getByRole('button', { name: /A lighthouse/ }).click()
    await sheet.getByText(done).waitFor()
    await sheet.getByText('delivered', { exact: true }).waitFor()
    await sheet.getByText(hookUrl).waitFor()
    // The API may ask for a pause, because the webhook was called a moment ago.
    const again = page.waitForResponse(/\/v1\/webhook-deliveries\/[-0-9a-f]+\/redeliver$/)
    await sheet.getByRole('button', { name: 'Call again' }).click()
    expect([200, 429]).toContain((await again).status())
    expect(await sheet.getByRole('img').count()).toBe(2)
    await expectAccessible(page)
    await takeScreenshots(page, 'tasks-detail')
    await sheet.getByRole('button', { name: 'Make again' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('task')).not.toBe(done)
    const madeAgain = new URL(page.url()).searchParams.get('task') ?? ''
    await sheet.getByText('completed', { exact: true }).waitFor()
    const { body: second } = await gateway.request('GET', `/v1/tasks/${madeAgain}`)
    expect(second).toMatchObject({
      prompt: 'A lighthouse at dusk, seen from the sea',
      metadata: { order: 7 },
    })
    await close()
  })

  test('are filtered by the address of the page, with the keyboard alone', async () => {
    const user = await createUser(gateway)
    await make('/v1/audio/music', { prompt: 'A slow waltz', duration: 10 }, user)
    await make('/v1/videos/generations', { model: 'wan-2.6-t2v', prompt: 'Waves on a beach' }, user)
    const { page, goto, close } = await openConsole(user)
    await goto('/tasks?view=list&type=music')
    const table = page.getByRole('region', { name: 'Tasks' })
    await table.getByText('A slow waltz').waitFor()
    expect(await table.getByText('Waves on a beach').count()).toBe(0)
    await takeScreenshots(page, 'tasks-list')
    await page.getByLabel('Type').focus()
    await page.keyboard.press('v')
    await expect.poll(() => new URL(page.url()).searchParams.get('type')).toBe('video')
    const film = table.getByRole('button', { name: 'Waves on a beach' })
    await film.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('completed', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => new URL(page.url()).searchParams.has('task')).toBe(false)
    await page.getByLabel('State').selectOption('failed')
    await page.getByText('No task fits these filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await table.getByText('A slow waltz').waitFor()
    await close()
  })

  test('are reached from the log of the request that made them', async () => {
    const made = await gateway.request('POST', '/v1/images/generations', {
      body: { model: 'flux-schnell', prompt: 'A paper boat' },
      headers: { prefer: 'respond-async' },
    })
    await untilEnded(made.body.id)
    const requestId = made.headers.get('x-request-id') ?? ''
    await expect
      .poll(async () => (await gateway.request('GET', `/v1/requests/${requestId}`)).status)
      .toBe(200)
    const { page, goto, close } = await openConsole(gateway)
    await goto(`/log?request=${requestId}`)
    await page.getByRole('dialog', { name: 'Request' }).getByRole('link', { name: 'image' }).click()
    await page.getByRole('dialog').getByText('A paper boat').first().waitFor()
    expect(new URL(page.url()).searchParams.get('task')).toBe(made.body.id)
    await close()
  })

  test('fit on a phone, and tell what failed when the API does', async () => {
    const user = await createUser(gateway)
    const prompt = '[[sandbox:job ms=600000]] A very long film'
    await make('/v1/videos/generations', { model: 'wan-2.6-t2v', prompt }, user)
    const { page, goto, close } = await openConsole(user, { width: 390, height: 844 })
    await goto('/tasks')
    await page.getByRole('button', { name: /A very long film/ }).waitFor()
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBe(0)
    await page.route('**/v1/tasks?**', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        headers: { 'x-request-id': 'req_broken' },
        body: '{"error":{"message":"The database is away.","code":"internal_error"}}',
      }),
    )
    await page.reload()
    await page.getByText('The database is away.').waitFor()
    await page.getByText('req_broken').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'tasks-failing')
    await page.unroute('**/v1/tasks?**')
    await page.getByRole('button', { name: /again/i }).click()
    await page.getByRole('button', { name: /A very long film/ }).waitFor()
    await close()
  })
})
