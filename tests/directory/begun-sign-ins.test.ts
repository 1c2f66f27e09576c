import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { createHttpBrowser } from './http-browser.ts'
import { addProvider, callbackOf, pageOf, signedInAt } from './sign-in-with-provider.ts'

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

  test('it works once, also at a provider that takes a code twice and from whoever has the cookie', async () => {
    const answers: string[] = []
    server.intercept = (request, response) => {
      if (request.url !== '/token') return false
      const [known] = answers
      if (known === undefined) {
        const end = response.end.bind(response)
        response.end = ((chunk?: unknown) => {
          answers.push(String(chunk))
          return end(chunk)
        }) as typeof response.end
        return false
      }
      request.resume()
      response.setHeader('content-type', 'application/json').end(known)
      return true
    }
    const { browser, url, follow } = await beginSignIn('bob')
    const kept = new Map(browser.cookies)
    expect((await follow(url)).problem).toBeNull()
    const thief = createHttpBrowser()
    for (const [name, value] of kept) thief.cookies.set(name, value)
    const asked = server.requests.length
    const stolen = await follow(url, thief)
    server.intercept = null
    // The provider was asked again and gave the same valid token.
    expect(server.requests.slice(asked)).toContain('POST /token')
    expect([stolen.problem, thief.cookies.get('parkway_session')]).toEqual(['begin_again', undefined])
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
