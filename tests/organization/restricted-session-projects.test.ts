import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey, failureOf, signIn } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chat, enter } from './enter-project.ts'
import { createProject } from './join-account.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

/** More than the limit of a key pays for. */
const REQUESTS_MAX = 60

describe('the session of a restricted key', () => {
  test('keeps its models, and spends from its limit in every project', async () => {
    const { key } = await createKey(gateway, { allowed_models: ['gpt-5.4-mini'], limit_usd: 0.0001 })
    const { ask } = await signIn(gateway, key)
    await enter(ask, await createProject(gateway))
    expect((await ask('GET', '/v1/tenants/me')).body.key.allowed_models).toEqual(['gpt-5.4-mini'])
    expect(failureOf(await ask('POST', '/v1/chat/completions', chat('gpt-4o'))).at(0)).toBe(403)
    const refused = await ask('POST', '/v1/chat/completions', chat('gpt-5.4-mini', 100_000))
    expect(refused.status).toBe(402)
  })

  test('shares one limit between its projects', async () => {
    const { key } = await createKey(gateway, { limit_usd: 0.0005 })
    const { ask } = await signIn(gateway, key)
    const askOnce = async () => (await ask('POST', '/v1/chat/completions', chat('gpt-5.4-mini', 20))).status
    let status = 200
    for (let count = 0; count < REQUESTS_MAX && status === 200; count += 1) status = await askOnce()
    expect(status).toBe(402)
    await enter(ask, await createProject(gateway))
    expect(await askOnce()).toBe(402)
  })

  test('spends from the budget of its key in every project', async () => {
    const { id, key } = await createKey(gateway)
    const { body: budget } = await gateway.request('POST', '/v1/organization/budgets', {
      body: { subject: { type: 'key', id }, window: 'total', limit_usd: 0.0005 },
    })
    const { ask } = await signIn(gateway, key)
    await enter(ask, await createProject(gateway))
    const askOnce = async () => (await ask('POST', '/v1/chat/completions', chat('gpt-5.4-mini', 20))).status
    let status = 200
    for (let count = 0; count < REQUESTS_MAX && status === 200; count += 1) status = await askOnce()
    expect(status).toBe(402)
    await enter(ask, await createProject(gateway))
    expect(await askOnce()).toBe(402)
    const { body } = await gateway.request('GET', `/v1/organization/budgets/${budget.id}`)
    expect(body.spent_usd).toBeGreaterThan(0.0003)
    expect(body.spent_usd).toBeLessThanOrEqual(0.0005)
  })

  test('has the tags that its key demands, and so have keys that it makes', async () => {
    const { key } = await createKey(gateway, { fixed_tags: { team: 'search' } })
    const { ask } = await signIn(gateway, key)
    await enter(ask, await createProject(gateway))
    const { body: made } = await ask('POST', '/v1/tenants/me/api-keys', { name: 'made' })
    expect(made.fixed_tags).toEqual({ team: 'search' })
    const free = await ask('POST', '/v1/tenants/me/api-keys', { name: 'free', fixed_tags: null })
    expect(failureOf(free)).toEqual([403, 'forbidden'])
  })

  test('gets restrictions that are added later, and loses rights with its key', async () => {
    const { id, key } = await createKey(gateway)
    const { ask } = await signIn(gateway, key)
    await enter(ask, await createProject(gateway))
    const change = (body: object) => gateway.request('PATCH', `/v1/tenants/me/api-keys/${id}`, { body })
    await change({ allowed_models: ['gpt-5.4-mini'] })
    expect((await ask('GET', '/v1/tenants/me')).body.key.allowed_models).toEqual(['gpt-5.4-mini'])
    await change({ scopes: ['inference'] })
    expect((await ask('GET', '/v1/tenants/me')).body.key.scopes).toEqual(['inference'])
    const made = await ask('POST', '/v1/tenants/me/api-keys', { name: 'wide' })
    expect(failureOf(made)).toEqual([403, 'forbidden'])
  })

  test('makes no keys without its limits, and lets nobody in', async () => {
    const { key } = await createKey(gateway, { limit_usd: 1 })
    const { ask } = await signIn(gateway, key)
    const projectId = await createProject(gateway)
    await enter(ask, projectId)
    expect(failureOf(await ask('POST', '/v1/tenants/me/api-keys', { name: 'wide' }))).toEqual([
      403,
      'forbidden',
    ])
    const body = { user_id: 'user-0123456789abcdef0123456789abcdef', role: 'owner' }
    expect((await ask('POST', `/v1/organization/projects/${projectId}/users`, body)).status).not.toBe(200)
  })

  test('ends with its key, whatever project it is in', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { key } = await createKey(gateway, { expires_at: expiresAt })
    const { ask } = await signIn(gateway, key)
    await enter(ask, await createProject(gateway))
    expect((await ask('GET', '/v1/tenants/me')).body.key.expires_at).toBe(expiresAt)
  })
})
