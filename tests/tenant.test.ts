import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../src/app/version.ts'
import { createKey, createStranger, failureOf, signIn } from './sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const ME = '/v1/tenants/me'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

describe('what a page needs at its start', () => {
  test('is one request, with the rights of the key and what the gateway offers', async () => {
    const { status, body } = await gateway.request('GET', ME)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'tenant',
      balance_usd: 10,
      is_operator: true,
      session: null,
      key: { env: 'dev', allowed_models: null, expires_at: null },
      gateway: {
        version: VERSION,
        url: null,
        has_billing: true,
        has_providers: false,
        has_sandbox: true,
        has_deployments: true,
      },
    })
  })

  test('names the session and whether it is confirmed', async () => {
    const { id, ask } = await signIn(gateway)
    expect((await ask('GET', ME)).body.session).toMatchObject({ id, is_confirmed: true })
  })

  test('says what a restricted key may do', async () => {
    const expiresAt = '2099-01-01T00:00:00.000Z'
    const { key } = await createKey(gateway, {
      scopes: ['inference'],
      allowed_models: ['gpt-4o-mini'],
      expires_at: expiresAt,
    })
    const { body } = await gateway.request('GET', ME, { key })
    expect(body.is_operator).toBe(false)
    expect(body.key).toMatchObject({
      scopes: ['inference'],
      allowed_models: ['gpt-4o-mini'],
      expires_at: expect.stringMatching(/^2099-01-01T00:00:00/),
    })
  })

  test('what a page needs at its start of another account is its own', async () => {
    const { body: own } = await gateway.request('GET', ME)
    const { body } = await gateway.request('GET', ME, { key: await createStranger(gateway) })
    expect(body.id).not.toBe(own.id)
    expect(body.is_operator).toBe(false)
  })

  test('needs a key or a session', async () => {
    expect(failureOf(await gateway.request('GET', ME, { key: null }))).toEqual([401, 'invalid_api_key'])
  })

  test('tells what an operator switched off', async () => {
    const other = await startTestGateway({
      settings: {
        PARKWAY_BILLING: 'false',
        PARKWAY_GPU_DRIVER: 'none',
        PARKWAY_SANDBOX: 'nobody',
        PARKWAY_PUBLIC_URL: 'https://gateway.example.com',
        OPENAI_API_KEY: 'sk-test',
      },
    })
    try {
      expect((await other.request('GET', ME)).body.gateway).toEqual({
        version: VERSION,
        url: 'https://gateway.example.com',
        has_billing: false,
        has_providers: true,
        has_sandbox: false,
        has_deployments: false,
      })
    } finally {
      await other.close()
    }
  })
})
