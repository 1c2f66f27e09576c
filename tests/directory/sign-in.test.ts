import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { addProvider, callbackOf, signInWithProvider } from './sign-in-with-provider.ts'

let gateway: TestGateway
let server: IdentityProviderServer
let accountId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
})
afterAll(async () => {
  await server.close()
  await gateway.close()
})

describe('a sign-in with a provider', () => {
  test('makes a member, and leads to the page that the person wanted', async () => {
    const providerId = await addProvider(gateway, server, {
      account_rule: 'fixed',
      accounts: [{ account_id: accountId }],
      makes_members: true,
      member_role: 'auditor',
    })
    server.people.set('ada', { email: 'ada@acme.example', email_verified: true })
    const { path, ask } = await signInWithProvider(gateway, {
      providerId,
      login: 'ada',
      query: '?return_to=/usage?by=model',
    })
    expect(path).toBe('/usage?by=model')
    const { status, body } = await ask('GET', '/v1/sessions/current')
    expect([status, body.user?.email, body.user?.role]).toEqual([200, 'ada@acme.example', 'auditor'])
    const sessions = await ask('GET', '/v1/sessions')
    expect(sessions.body.data[0].method).toBe('directory')
  })
})
