import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, failure, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const KEY = 'sk-pasted-0123456789-wxyz'

describe.skipIf(NO_BROWSER !== null)('a fresh gateway', () => {
  let upstream: OpenAiServer
  let gateway: TestGateway
  beforeAll(async () => {
    upstream = await startOpenAiServer()
    gateway = await startTestGateway()
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  test('gets its first provider by a pasted key, which is tested, used, replaced and removed', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/providers')
    await page.getByRole('button', { name: 'Add a provider' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add a provider' })
    await form.getByText('With the first provider').waitFor()
    await form.getByText(/The test checkout closes/).waitFor()
    await form.getByLabel('Vendor').selectOption('openai')
    await form.getByLabel('Key', { exact: true }).fill(KEY)
    await form.getByLabel('Address, if not the usual one').fill(upstream.apiUrl)
    upstream.respondWith(failure(401))
    await form.getByRole('button', { name: 'Test call' }).click()
    await form.getByText('failed', { exact: true }).waitFor()
    upstream.respondWith(completion())
    await form.getByRole('button', { name: 'Test call' }).click()
    await form.getByText('answered').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'add-provider')
    await form.getByRole('button', { name: 'Add it' }).click()
    await page.getByText('The provider is added').waitFor()
    const answer = await gateway.request('POST', CHAT, { body: chatBody() })
    expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'openai'])

    await page.getByRole('button', { name: 'openai' }).click()
    const details = page.getByRole('dialog', { name: 'openai' })
    await details.getByText('…wxyz').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'provider-of-this-page')
    await details.getByRole('button', { name: 'New key' }).click()
    const rotation = page.getByRole('dialog', { name: 'New key of openai' })
    await rotation.getByLabel('Key', { exact: true }).fill('sk-another-0123456789-abcd')
    await rotation.getByRole('button', { name: 'Use this key' }).click()
    await details.getByText('…abcd').waitFor()
    expect(await page.content()).not.toContain(KEY)
    await details.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the provider' }).click()
    await page.getByText('No provider is configured').waitFor()
    expect(
      (await gateway.request('POST', CHAT, { body: chatBody() })).headers.get('x-gateway-provider'),
    ).toBe('sandbox')
    await close()
  })
})
