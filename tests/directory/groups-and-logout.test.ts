import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { addProvider, callbackOf, signInWithProvider } from './sign-in-with-provider.ts'

let gateway: TestGateway
let second: TestGateway
let server: IdentityProviderServer
let providerId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  second = await startTestGateway({ connectionString: gateway.connectionString })
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  const { body } = await gateway.request('GET', '/v1/tenants/me')
  providerId = await addProvider(gateway, server, {
    account_rule: 'fixed',
    accounts: [{ account_id: body.id }],
    makes_members: true,
    member_role: 'auditor',
    operator_groups: ['Operators'],
  })
})
afterAll(async () => {
  await server.close()
  await second.close()
  await gateway.close()
})

const signIn = (login: string, claims: object = {}, query = '') => {
  server.people.set(login, { email: `${login}@acme.example`, email_verified: true, ...claims })
  return signInWithProvider(gateway, { providerId, login, query })
}

describe('groups of the directory', () => {
  test('are followed at each sign-in, and left as they are if the provider leaves them out', async () => {
    const made = await gateway.request('POST', '/v1/organization/groups', {
      body: { name: 'Engineers', directory_name: 'eng' },
    })
    expect([made.status, made.body.directory_name]).toEqual([200, 'eng'])
    const people = async (): Promise<string[]> => {
      const { body } = await gateway.request('GET', `/v1/organization/groups/${made.body.id}/users`)
      return body.data.map(({ email }: { email: string }) => email)
    }
    await signIn('ann', { groups: ['eng', 'all'] })
    expect(await people()).toEqual(['ann@acme.example'])
    await signIn('ann', { hasgroups: true })
    expect(await people()).toEqual(['ann@acme.example'])
    const { body } = await gateway.request('GET', `/v1/admin/identity-providers/${providerId}`)
    expect(body.groups_missing_at).not.toBeNull()
    const log = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=login.succeeded&limit=1',
    )
    expect(JSON.stringify(log.body.data[0])).toContain('missing')
    await signIn('ann', { groups: ['all'] })
    expect(await people()).toEqual([])
  })

  test('make operators, for as long as the person is in them', async () => {
    const { ask } = await signIn('opal', { groups: ['Operators'] })
    expect((await ask('GET', '/v1/admin/identity-providers')).status).toBe(200)
    await signIn('opal', { groups: [] })
    expect((await ask('GET', '/v1/admin/identity-providers')).status).toBe(403)
  })
})

const EVENT = { 'http://schemas.openid.net/event/backchannel-logout': {} }
let ids = 0
const logoutClaims = (claims: object = {}) => ({
  iss: server.issuer,
  aud: server.clientId,
  iat: Math.floor(Date.now() / 1000),
  exp: Math.floor(Date.now() / 1000) + 120,
  jti: `logout ${(ids += 1)}`,
  events: EVENT,
  ...claims,
})
const sendLogout = async (token: string): Promise<number> => {
  const response = await fetch(`${gateway.baseUrl}/v1/sessions/directory/${providerId}/logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })
  return response.status
}

describe('a logout at the provider', () => {
  test('ends the sessions of the person on every process, and of nobody else', async () => {
    const [lou, max] = [await signIn('lou'), await signIn('max')]
    const cookie = `parkway_session=${lou.browser.cookies.get('parkway_session')}`
    const elsewhere = () =>
      second.request('GET', '/v1/sessions/current', {
        key: null,
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      })
    expect((await elsewhere()).status).toBe(200)
    expect(await sendLogout(await server.sign(logoutClaims({ sub: 'lou' })))).toBe(200)
    expect((await elsewhere()).status).toBe(401)
    expect((await max.ask('GET', '/v1/sessions/current')).status).toBe(200)
  })

  test.each([
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['another audience', { aud: 'other' }],
    ['a nonce, as an ID token has', { nonce: 'x' }],
    ['no event', { events: {} }],
    ['an end in the past', { exp: 1_700_000_000 }],
    ['an old begin', { iat: 1_700_000_000 }],
    ['no id', { jti: undefined }],
    ['no person', { sub: undefined }],
  ])('is refused with %s', async (_, wrong) => {
    const { ask } = await signIn('lou')
    expect(await sendLogout(await server.sign(logoutClaims({ sub: 'lou', ...wrong })))).toBe(400)
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(200)
  })

  test('is refused without the signature of the provider, and a second time', async () => {
    const { ask } = await signIn('lou')
    const token = await server.sign(logoutClaims({ sub: 'lou' }))
    const [, payload] = token.split('.')
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
    expect(await sendLogout(none)).toBe(400)
    expect(await sendLogout('nonsense')).toBe(400)
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(200)
    expect(await sendLogout(token)).toBe(200)
    await signIn('lou')
    expect(await sendLogout(token)).toBe(400)
  })

  test('in a frame ends the session that it names', async () => {
    server.tamper = (claims) => ({ ...claims, sid: 'session-of-kim' })
    const { ask } = await signIn('kim')
    server.tamper = null
    const at = `${gateway.baseUrl}/v1/sessions/directory/${providerId}/logout`
    const wrong = await fetch(`${at}?iss=https://elsewhere.example&sid=session-of-kim`)
    expect([wrong.status, (await ask('GET', '/v1/sessions/current')).status]).toEqual([200, 200])
    const framed = await fetch(`${at}?iss=${encodeURIComponent(server.issuer)}&sid=session-of-kim`)
    expect(framed.headers.get('content-security-policy')).toContain(`frame-ancestors ${server.issuer}`)
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(401)
  })

  test('a provider that is switched off keeps nobody signed in', async () => {
    const { ask } = await signIn('lou')
    const at = `/v1/admin/identity-providers/${providerId}`
    await gateway.request('PATCH', at, { body: { enabled: false } })
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(401)
    await gateway.request('PATCH', at, { body: { enabled: true } })
  })
})

/** What somebody proved a while ago does not count any more. */
async function ageSessions(): Promise<void> {
  const { connectionString } = gateway
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  await database.query(`UPDATE sessions SET confirmed_at = now() - interval '1 hour'`)
  await database.close()
}

describe('to confirm a session', () => {
  test('the same person signs in again at the provider', async () => {
    const { browser, ask } = await signIn('ida', { groups: ['Operators'] })
    await ageSessions()
    const change = () => ask('PATCH', `/v1/admin/identity-providers/${providerId}`, { name: 'Acme' })
    expect((await change()).body.error?.code).toBe('confirmation_required')
    const confirm = (login: string) =>
      signInWithProvider(gateway, { providerId, login, browser, query: '?confirm=1&return_to=/keys' })
    const { path } = await confirm('ida')
    expect(path).toBe('/keys')
    expect((await change()).status).toBe(200)
  })

  test('another person, an old proof, or no session do not', async () => {
    const { browser } = await signIn('ida', { groups: ['Operators'] })
    await signIn('jo')
    const query = '?confirm=1'
    // The provider has forgotten who this browser is of.
    const forget = (): void => {
      for (const name of browser.cookies.keys()) if (name.startsWith('_session')) browser.cookies.delete(name)
    }
    forget()
    const other = await signInWithProvider(gateway, { providerId, login: 'jo', browser, query })
    expect(other.problem).toBe('other_person')
    forget()
    server.tamper = (claims) => ({ ...claims, auth_time: 1_700_000_000 })
    const old = await signInWithProvider(gateway, { providerId, login: 'ida', browser, query })
    expect(old.problem).toBe('not_fresh')
    server.tamper = null
    const none = await signInWithProvider(gateway, { providerId, login: 'ida', query })
    expect(none.problem).toBe('session_ended')
  })
})
