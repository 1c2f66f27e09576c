import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { completion } from '../upstreams/openai-server.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe.skipIf(NO_BROWSER !== null)('operators in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startChatGateway({
      models: [
        modelEntry('double', [
          { provider: 'vllm', model: 'upstream-name' },
          { provider: 'openai', model: 'second', priority: 2 },
        ]),
      ],
      providers: ['vllm'],
      settings: { PARKWAY_BODY_STORAGE: 'operator' },
    })
    gateway.upstream.respondWith(async () => completion())
  })
  afterAll(() => gateway.close())

  test('follow requests as they end, replay one at another provider, and find the account that spent most', async () => {
    const small = await createUser(gateway, { name: 'Small', creditUsd: 5 })
    const large = await createUser(gateway, { name: 'Large', creditUsd: 5 })
    await gateway.request('PATCH', `/v1/admin/accounts/${large.accountId}/body-storage`, {
      body: { enabled: true },
    })
    const ask = async (user: typeof large) => {
      const answer = await user.request('POST', CHAT, { body: chatBody({ model: 'double' }) })
      expect(answer.status).toBe(200)
      return answer.headers.get('x-request-id') ?? ''
    }
    await ask(small)
    const { page, goto, close } = await openConsole(gateway)
    // The stream does not end, so the network is never idle.
    await page.goto('/requests?view=tail')
    const live = page.getByRole('region', { name: 'Live requests' })
    await live.getByText('Small').first().waitFor()
    const id = await ask(large)
    await live.getByText('Large').first().waitFor()
    expect(await live.getByRole('columnheader').allInnerTexts()).not.toContain('Margin')
    await takeScreenshots(page, 'requests-live')

    await eventually(async () => {
      const path = `/v1/admin/requests/${id}/body?account_id=${large.accountId}`
      expect((await gateway.request('GET', path)).status).toBe(200)
    })
    // Above the rows are the buttons of the table's tools.
    await live.getByRole('button', { name: 'Large' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel('Provider to ask').fill('openai')
    await page.getByRole('option', { name: 'openai' }).click()
    await sheet.getByRole('button', { name: 'Replay' }).click()
    await sheet.getByText('Original: vllm').first().waitFor()
    await sheet.getByText('Test call: openai').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'request-replay')

    await ask(large)
    await goto('/accounts?sort=spend')
    const accounts = page.getByRole('region', { name: 'Accounts' })
    await accounts.getByText('Large').waitFor()
    const names = await accounts.getByRole('row').allInnerTexts()
    const placeOf = (name: string) => names.findIndex((row) => row.includes(name))
    expect(placeOf('Large')).toBeLessThan(placeOf('Small'))
    await takeScreenshots(page, 'accounts-by-spend')
    await close()
  })
})
