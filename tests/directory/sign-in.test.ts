import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { createHttpBrowser } from './http-browser.ts'
import { addProvider, callbackOf, pageOf, signedInAt, signInWithProvider } from './sign-in-with-provider.ts'

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

/** Goes to the provider and stops before the answer reaches the gateway. */
async function beginSignIn(login: string) {
  const browser = createHttpBrowser()
  const isCallback = (url: URL): boolean => url.href.startsWith(callbackOf(gateway))
  const begun = await browser.visit(`${gateway.baseUrl}/v1/sessions/directory/${providerId}/start`)
  const { url } = await browser.visit(begun.url.href, { form: { login }, isEnd: isCallback })
  const follow = async (target: URL, by = browser) => {
    const visited = await by.visit(target.href, { isEnd: pageOf(gateway) })
    return signedInAt(gateway, by, visited.url)
  }
  return { browser, url, follow }
}

describe('an answer counts only for the sign-in that this browser began', () => {
  test('it is refused in another browser', async () => {
    const { url, follow } = await beginSignIn('eve')
    const { problem, browser } = await follow(url, createHttpBrowser())
    expect([problem, browser.cookies.get('parkway_session')]).toEqual(['begin_again', undefined])
  })

  test('it is refused in another browser that began a sign-in too', async () => {
    const [eve, victim] = [await beginSignIn('eve'), await beginSignIn('ada')]
    expect((await eve.follow(eve.url, victim.browser)).problem).toBe('begin_again')
  })

  test('it works once', async () => {
    const { browser, url, follow } = await beginSignIn('eve')
    const kept = new Map(browser.cookies)
    expect((await follow(url)).problem).toBeNull()
    expect((await follow(url)).problem).toBe('begin_again')
    const thief = createHttpBrowser()
    for (const [name, value] of kept) thief.cookies.set(name, value)
    expect((await follow(url, thief)).problem).toBe('begin_again')
  })

  test('it is refused with another state, code or issuer', async () => {
    for (const [name, problem] of [
      ['state', 'begin_again'],
      ['code', 'begin_again'],
      ['iss', 'invalid_answer'],
    ] as const) {
      const { url, follow } = await beginSignIn('eve')
      url.searchParams.set(name, name === 'iss' ? 'https://elsewhere.example' : 'x'.repeat(43))
      expect([name, (await follow(url)).problem]).toEqual([name, problem])
    }
  })

  test('its cookie cannot be read by a page, and is sealed', async () => {
    const response = await fetch(`${gateway.baseUrl}/v1/sessions/directory/${providerId}/start`, {
      redirect: 'manual',
    })
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^parkway_sign_in_\d=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    const url = new URL(response.headers.get('location') ?? '')
    expect(cookie).not.toContain(url.searchParams.get('nonce'))
    expect(url.searchParams.get('code_challenge_method')).toBe('S256')
  })

  test('an answer of another provider is refused', async () => {
    const other = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
    other.people.set('eve', personOf('eve'))
    const otherId = await addProvider(gateway, other, everybody({ name: 'Other' }))
    const browser = createHttpBrowser()
    const begun = await beginSignIn('ada')
    const isCallback = (url: URL): boolean => url.href.startsWith(callbackOf(gateway))
    const start = await browser.visit(`${gateway.baseUrl}/v1/sessions/directory/${otherId}/start`)
    const { url } = await browser.visit(start.url.href, { form: { login: 'eve' }, isEnd: isCallback })
    // The state is of the sign-in at the first provider, the code of the second.
    url.searchParams.set('state', begun.url.searchParams.get('state') ?? '')
    expect((await begun.follow(url)).problem).toBe('invalid_answer')
    await other.close()
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

describe('a member whom nobody signed in with the provider', () => {
  test('is not taken over by somebody with the same address', async () => {
    const member = await joinAccount(gateway, { email: 'grace@acme.example', role: 'owner' })
    server.people.set('grace', personOf('grace'))
    expect((await signIn('grace')).problem).toBe('no_account')
    expect((await member.request('GET', '/v1/sessions/current')).status).toBe(200)
  })

  test('signs in where the provider speaks for the domain and the account, and only the first subject does', async () => {
    const linking = await addProvider(
      gateway,
      server,
      everybody({ links_members: true, allowed_domains: ['acme.example'] }),
    )
    const { ask } = await signInWithProvider(gateway, { providerId: linking, login: 'grace' })
    expect((await ask('GET', '/v1/sessions/current')).body.user.role).toBe('owner')
    server.people.set('impostor', personOf('grace'))
    const { problem } = await signInWithProvider(gateway, { providerId: linking, login: 'impostor' })
    expect(problem).toBe('no_account')
    const other = await addProvider(
      gateway,
      server,
      everybody({ links_members: true, allowed_domains: ['acme.example'] }),
    )
    expect((await signInWithProvider(gateway, { providerId: other, login: 'grace' })).problem).toBe(
      'no_account',
    )
  })
})

describe('accounts', () => {
  const createAccount = async (name: string): Promise<string> =>
    (await gateway.request('POST', '/v1/admin/accounts', { body: { name } })).body.id

  test('are found by domain, by group, and by invitation', async () => {
    const [north, south] = [await createAccount('North'), await createAccount('South')]
    server.people.set('nora', { email: 'nora@north.example', email_verified: true, groups: ['Southerners'] })
    const enter = async (settings: object): Promise<string | null> => {
      const id = await addProvider(gateway, server, { ...everybody(), ...settings })
      const { ask, problem } = await signInWithProvider(gateway, { providerId: id, login: 'nora' })
      return problem ?? (await ask('GET', '/v1/sessions/current')).body.account.name
    }
    const accounts = (match: string) => [
      { account_id: north, match },
      { account_id: south, match: 'elsewhere' },
    ]
    expect(await enter({ account_rule: 'domain', accounts: accounts('north.example') })).toBe('North')
    expect(await enter({ account_rule: 'domain', accounts: accounts('other.example') })).toBe('no_account')
    const bySouth = [{ account_id: south, match: 'Southerners' }]
    expect(await enter({ account_rule: 'group', accounts: bySouth })).toBe('South')
    const invited = { account_rule: 'invited', accounts: [], makes_members: false }
    expect(await enter(invited)).toBe('no_account')
    await gateway.request('POST', '/v1/organization/invites', {
      body: { email: 'Nora@North.example', role: 'billing' },
    })
    expect(await enter(invited)).toBe('First account')
    expect(await enter({ account_rule: 'own', accounts: [], makes_members: false })).toBe(
      'nora@north.example',
    )
  })

  test('whoever leaves the group does not enter the account any more', async () => {
    const west = await createAccount('West')
    const id = await addProvider(gateway, server, {
      ...everybody(),
      account_rule: 'group',
      accounts: [{ account_id: west, match: 'Westerners' }],
    })
    server.people.set('wes', personOf('wes', { groups: ['Westerners'] }))
    expect((await signInWithProvider(gateway, { providerId: id, login: 'wes' })).problem).toBeNull()
    server.people.set('wes', personOf('wes', { groups: [] }))
    expect((await signInWithProvider(gateway, { providerId: id, login: 'wes' })).problem).toBe('no_account')
  })
})

describe('settings that would let anybody in', () => {
  test.each([
    ['an issuer without encryption', { issuer: 'http://login.acme.com' }, 'issuer'],
    ['an issuer with a password', { issuer: 'https://a:b@login.acme.com' }, 'issuer'],
    ['no domains and no proof of addresses', { needs_verified_email: false }, 'allowed_domains'],
    ['members linked without a domain', { links_members: true }, 'links_members'],
    ['members made of everybody who is invited', { makes_members: true }, 'makes_members'],
    [
      'operators by groups that nobody reads',
      { operator_groups: ['Ops'], groups_claim: null },
      'groups_claim',
    ],
  ])('are refused: %s', async (_, settings, param) => {
    const { status, body } = await gateway.request('POST', '/v1/admin/identity-providers', {
      body: { name: 'Wrong', issuer: server.issuer, client_id: 'x', ...settings },
    })
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('the secret of a client is never shown, and is stored sealed', async () => {
    const { body } = await gateway.request('GET', '/v1/admin/identity-providers')
    expect(body.data[0].has_client_secret).toBe(true)
    expect(JSON.stringify(body)).not.toContain(server.clientSecret)
  })
})
