import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { addProvider, callbackOf, signInWithProvider } from './sign-in-with-provider.ts'

let gateway: TestGateway
let server: IdentityProviderServer
let accountId: string
let providerId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
  providerId = await addProvider(gateway, server, everybody())
  for (const name of ['ada', 'eve', 'bob']) server.people.set(name, personOf(name))
})
afterEach(() => {
  server.tamper = null
  server.forge = null
  server.intercept = null
})
afterAll(async () => {
  await server.close()
  await gateway.close()
})

const everybody = (settings = {}) => ({
  account_rule: 'fixed',
  accounts: [{ account_id: accountId }],
  makes_members: true,
  member_role: 'auditor',
  ...settings,
})
const personOf = (name: string, claims = {}) => ({
  email: `${name}@acme.example`,
  email_verified: true,
  ...claims,
})
const signIn = (login: string, query = '') => signInWithProvider(gateway, { providerId, login, query })

describe('a sign-in with a provider', () => {
  test('makes a member, and leads to the page that the person wanted', async () => {
    const { path, ask } = await signIn('ada', '?return_to=/usage?by=model')
    expect(path).toBe('/usage?by=model')
    const { status, body } = await ask('GET', '/v1/sessions/current')
    expect([status, body.user?.email, body.user?.role]).toEqual([200, 'ada@acme.example', 'auditor'])
    const sessions = await ask('GET', '/v1/sessions')
    expect(sessions.body.data[0].method).toBe('directory')
    const log = await gateway.request('GET', '/v1/organization/audit_logs?event_types[]=login.succeeded')
    expect(JSON.stringify(log.body.data)).toContain('Acme')
  })

  test('finds the same person again', async () => {
    await signIn('ada')
    const { body } = await gateway.request('GET', '/v1/organization/users?emails[]=ada@acme.example')
    expect(body.data).toHaveLength(1)
  })

  test('is offered on the sign-in page', async () => {
    const { body } = await gateway.request('GET', '/v1/sessions/methods', { key: null })
    expect(body.providers).toContainEqual({
      id: providerId,
      name: 'Acme',
      url: `/v1/sessions/directory/${providerId}/start`,
    })
  })

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example/',
    '/%0d%0aset-cookie:x=1',
    '/\tevil',
    'javascript:alert(1)',
    '/.//evil.example',
    '/v1/sessions/directory/x/start',
    'usage',
  ])('never returns to %j', async (target) => {
    const { path } = await signIn('ada', `?return_to=${encodeURIComponent(target)}`)
    expect(path === '/' || path === '/%0d%0aset-cookie:x=1').toBe(true)
  })

  test('ends at the sign-in page if the person goes back', async () => {
    const { path, browser } = await signIn('')
    expect(path).toBe('/sign-in?problem=cancelled')
    expect(browser.cookies.get('parkway_session')).toBeUndefined()
  })

  test('goes on with the new keys of a provider at once', async () => {
    await server.rotateKeys()
    expect((await signIn('ada')).problem).toBeNull()
    await server.rotateKeys()
    expect((await signIn('ada')).problem).toBeNull()
  })
})

describe('an answer of a provider is refused', () => {
  test.each([
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['another audience', { aud: 'another-client' }],
    ['several audiences without the authorized party', { aud: ['parkway', 'other'], azp: 'other' }],
    ['another nonce', { nonce: 'of another sign-in' }],
    ['no nonce', { nonce: undefined }],
    ['an end in the past', { exp: 1_700_000_000 }],
    ['a begin in the future', { nbf: 4_000_000_000 }],
    ['no subject', { sub: undefined }],
  ])('with %s', async (_, wrong: object) => {
    server.tamper = (claims) => ({ ...claims, ...wrong })
    const { problem, browser } = await signIn('ada')
    expect(problem).toBe('invalid_answer')
    expect(browser.cookies.get('parkway_session')).toBeUndefined()
  })

  test('with the algorithm `none`', async () => {
    server.forge = (token) => {
      const header = Buffer.from('{"alg":"none"}').toString('base64url')
      return `${header}.${token.split('.')[1]}.`
    }
    expect((await signIn('ada')).problem).toBe('invalid_answer')
  })

  test('with claims that were changed after they were signed', async () => {
    server.forge = (token) => {
      const [header, payload = '', signature] = token.split('.')
      const claims = {
        ...JSON.parse(Buffer.from(payload, 'base64url').toString()),
        email: 'eve@acme.example',
      }
      return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
    }
    expect((await signIn('ada')).problem).toBe('invalid_answer')
  })

  test('with the key of a stranger', async () => {
    const other = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
    server.forge = async (token) => {
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      return other.sign(claims)
    }
    expect((await signIn('ada')).problem).toBe('invalid_answer')
    await other.close()
  })

  test.each([
    ['an address that is not verified', personOf('mallory', { email_verified: false }), 'unverified_email'],
    [
      'an address of which nothing is said',
      personOf('mallory', { email_verified: undefined }),
      'unverified_email',
    ],
    ['no address', { email_verified: true }, 'no_email'],
  ])('with %s', async (_, person, problem) => {
    server.people.set('mallory', person)
    expect((await signIn('mallory')).problem).toBe(problem)
    const { body } = await gateway.request('GET', `/v1/admin/identity-providers/${providerId}`)
    expect(body.last_failure.message).toMatch(/email/)
  })

  test('with an address of a foreign domain', async () => {
    const narrow = await addProvider(gateway, server, everybody({ allowed_domains: ['other.example'] }))
    const { problem } = await signInWithProvider(gateway, { providerId: narrow, login: 'ada' })
    expect(problem).toBe('foreign_domain')
  })
})

describe('a provider that is away', () => {
  test('at the start is told, and is asked again at once', async () => {
    const late = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
    const port = Number(new URL(late.issuer).port)
    await late.close()
    const lateId = await addProvider(gateway, late, everybody())
    const order = { providerId: lateId, login: 'ada' }
    expect((await signInWithProvider(gateway, order)).problem).toBe('provider_unreachable')
    const { body: failed } = await gateway.request('POST', `/v1/admin/identity-providers/${lateId}/test`)
    expect([failed.ok, failed.checks[0].name]).toEqual([false, 'metadata'])
    const back = await startIdentityProvider({ redirectUris: [callbackOf(gateway)], port })
    back.people.set('ada', personOf('ada.late'))
    const { body: test } = await gateway.request('POST', `/v1/admin/identity-providers/${lateId}/test`)
    expect(test.ok).toBe(true)
    expect((await signInWithProvider(gateway, order)).problem).toBeNull()
    await back.close()
  })

  test.each([
    ['breaks off', (response: { destroy(): void }) => response.destroy()],
    [
      'fails',
      (response: { writeHead(status: number): { end(text: string): void } }) =>
        response.writeHead(503).end('{}'),
    ],
  ])('in the middle is told: it %s', async (_, answer) => {
    server.intercept = (request, response) => {
      if (request.url?.startsWith('/token') !== true) return false
      answer(response)
      return true
    }
    expect((await signIn('ada')).problem).toBe('provider_unreachable')
    server.intercept = null
    expect((await signIn('ada')).problem).toBeNull()
  })
})

describe('a person who is switched off', () => {
  test('is refused at the sign-in, and their session at once', async () => {
    const { ask } = await signIn('bob')
    const { body } = await gateway.request('GET', '/v1/organization/users?emails[]=bob@acme.example')
    const { id } = body.data[0]
    expect((await gateway.request('POST', `/v1/admin/users/${id}/deactivate`)).status).toBe(200)
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(401)
    expect((await signIn('bob')).problem).toBe('deactivated')
  })
})
