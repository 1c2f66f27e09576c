import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deploy, startGpuGateway } from '../deployments/deploy.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const OF_INFERENCE = ['Playground', 'Models', 'Tasks', 'Batches', 'Files', 'Compare', 'Deployments']
const OF_ACCOUNT = ['Usage', 'Log', 'Keys', 'Billing']
const OF_OPERATORS = ['overview', 'accounts', 'providers', 'payments', 'promo-codes', 'audit']

describe.skipIf(NO_BROWSER !== null)('who is no operator', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGpuGateway()
  })
  afterAll(() => gateway.close())

  test.each([
    ['inference', [...OF_INFERENCE, ...OF_ACCOUNT]],
    ['manage', [...OF_ACCOUNT, 'Organization']],
    ['inference, manage', [...OF_INFERENCE, ...OF_ACCOUNT, 'Organization']],
  ])('finds only pages that a key with the scopes %s can use', async (scopes, pages) => {
    const user = await createUser(gateway, { name: 'Orchard', scopes: scopes.split(', ') })
    const { page, goto, close } = await openConsole(user)
    const alerts = page.getByRole('alert')
    await goto('/')
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    await expect.poll(() => links.allInnerTexts()).toEqual(['Home', ...pages])
    await expect.poll(() => alerts.allInnerTexts()).toEqual([])
    await takeScreenshots(page, `permissions-home-${scopes.replace(', ', '-')}`)
    for (const name of pages) {
      await links.filter({ hasText: name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      await expect.poll(() => alerts.allInnerTexts()).toEqual([])
      await takeScreenshots(page, `permissions-${name.toLowerCase()}-${scopes.replace(', ', '-')}`)
    }
    await close()
  })

  test('reads on every page of operators which scope it needs', async () => {
    const { page, goto, close } = await openConsole(await createUser(gateway))
    for (const path of OF_OPERATORS) {
      await goto(`/${path}`)
      await page.getByText('This page needs a key with the scope admin').waitFor()
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    }
    await expectAccessible(page)
    await takeScreenshots(page, 'permissions-refused')
    await goto(`/accounts/${(await gateway.request('GET', '/v1/tenants/me')).body.id}`)
    await page.getByText('This page needs a key with the scope admin').waitFor()
    expect(await page.getByText('First account').count()).toBe(0)
    await close()
  })

  test('reads what a key without the scope manage cannot do', async () => {
    const user = await createUser(gateway, { scopes: ['inference'] })
    const { page, goto, close } = await openConsole(user)
    await goto('/billing')
    await page.getByText('need a key with the scope manage').waitFor()
    await takeScreenshots(page, 'permissions-billing')
    await goto('/keys')
    await page.getByRole('button', { name: 'Own key' }).click()
    const sheet = page.getByRole('dialog', { name: 'Own key' })
    await sheet.getByText('needs a key with the scope manage').waitFor()
    for (const name of ['Save changes', 'Revoke'])
      expect(await sheet.getByRole('button', { name }).count()).toBe(0)
    await expectAccessible(page)
    await takeScreenshots(page, 'permissions-key')
    await close()
  })

  test('sees with a key without the scope manage the figures of that key, and no balance', async () => {
    const owner = await createUser(gateway, { name: 'Ada', creditUsd: 7319.25 })
    const { body: key } = await owner.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'Worker', scopes: ['inference'], allowed_models: ['gpt-4o-mini', 'gpt-4o'] },
    })
    const ask = (model: string, apiKey: string) =>
      owner.request('POST', '/v1/chat/completions', {
        key: apiKey,
        body: { model, messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 10 },
      })
    await ask('gpt-4.1', owner.key)
    await ask('gpt-4o-mini', key.key)
    const { page, goto, close } = await openConsole({ ...owner, key: key.key })
    const main = page.getByRole('main')
    const alerts = page.getByRole('alert')
    await goto('/')
    await main.getByText('Those of the account need the scope manage').waitFor()
    await goto('/log')
    await main.getByText('Every request of this key').waitFor()
    await main.getByText('gpt-4o-mini').first().waitFor()
    expect(await main.getByText('gpt-4.1').count()).toBe(0)
    await goto('/usage')
    await main.getByText('What this key used').waitFor()
    await goto('/billing')
    await main.getByText('This key can spend').waitFor()
    await main.getByText('No limit', { exact: true }).waitFor()
    for (const path of ['/', '/log', '/usage', '/billing', '/tasks', '/compare']) {
      await goto(path)
      await page.waitForLoadState('networkidle')
      expect(await alerts.allInnerTexts()).toEqual([])
      expect(await page.getByText(/7,?31\d/).count()).toBe(0)
    }
    await takeScreenshots(page, 'permissions-own-figures')
    await close()
  })

  test('sees nothing of another account by the ids in addresses', async () => {
    const { body: image } = await gateway.request('POST', '/v1/images/generations', {
      body: { model: 'flux-schnell', prompt: 'A secret lighthouse' },
      headers: { prefer: 'respond-async' },
    })
    const { body: run } = await gateway.request('POST', '/v1/compare/runs', {
      body: { name: 'A secret run', prompt: 'Hi', models: ['gpt-4o-mini', 'gpt-5.4'] },
    })
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'A secret key' },
    })
    const deploymentId = await deploy(gateway, { name: 'A secret deployment' })
    const asked = await gateway.request('POST', '/v1/chat/completions', {
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    })
    const requestId = asked.headers.get('x-request-id') ?? ''
    await expect
      .poll(async () => (await gateway.request('GET', `/v1/requests/${requestId}`)).status)
      .toBe(200)
    const { page, goto, close } = await openConsole(await createUser(gateway))
    for (const [path, message] of [
      [`/tasks?task=${image.id}`, 'No such task.'],
      [`/compare/${run.id}`, 'No such run.'],
      [`/compare?round=${run.id}`, 'No such run.'],
      [`/deployments/${deploymentId}`, 'No such deployment.'],
      [`/keys?key=${key.id}`, 'This account has no such key.'],
      [`/log?request=${requestId}`, 'No such request.'],
    ] as const) {
      await goto(path)
      await page.getByText(message).first().waitFor()
      expect([path, await page.getByText('secret').count()]).toEqual([path, 0])
      await takeScreenshots(page, `permissions-foreign-${path.split(/[/?]/)[1]}`)
    }
    await close()
  })
})
