import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts'
import { addProvider, callbackOf, signInWithProvider } from './sign-in-with-provider.ts'

let gateway: TestGateway
let other: TestGateway
let server: IdentityProviderServer
let second: IdentityProviderServer
let providerId: string
let secondId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  second = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  const accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
  const rule = { account_rule: 'fixed', accounts: [{ account_id: accountId }], makes_members: true }
  providerId = await addProvider(gateway, server, { ...rule, name: 'Acme' })
  secondId = await addProvider(gateway, second, { ...rule, name: 'Second' })
})
afterAll(async () => {
  await server.close()
  await second.close()
  await other.close()
  await gateway.close()
})

let people = 0
/** A person who came in by an invitation, with a browser that has their session. */
async function comeIn(role = 'reader') {
  people += 1
  const login = `person${people}`
  const claims = { email: `${login}@acme.example`, email_verified: true }
  for (const each of [server, second]) each.people.set(login, claims)
  const person = await joinAccount(gateway, { email: `${login}@home.example`, role })
  return { person, login, browser: browserOf(person) }
}

function browserOf(person: Person): HttpBrowser {
  const browser = createHttpBrowser()
  const [name = '', value = ''] = (person.headers['cookie'] ?? '').split('=', 2)
  browser.cookies.set(name, value)
  return browser
}

/** Signs in at a provider to link it. Returns the ticket that the page gets, or the problem. */
async function fetchTicket(browser: HttpBrowser, login: string, id = providerId) {
  const { path, problem } = await signInWithProvider(gateway, {
    providerId: id,
    login,
    query: '?link=1',
    browser,
  })
  return { problem, ticket: new URL(path, gateway.baseUrl).searchParams.get('link') ?? '' }
}

async function link({ person, login, browser }: Awaited<ReturnType<typeof comeIn>>, id = providerId) {
  const { ticket } = await fetchTicket(browser, login, id)
  const linked = await person.request('POST', '/v1/identities', { ticket })
  expect([linked.status, linked.body]).toEqual([201, linked.body])
  return linked.body
}

const idsOf = async (person: Person) => {
  const { body } = await person.request('GET', '/v1/identities')
  return body.data.map(({ id }: { id: string }) => id)
}

describe('a person who came in by an invitation', () => {
  test('links the sign-in of a provider, and then comes in with it as the same person', async () => {
    const { person, login, browser } = await comeIn()
    expect((await signInWithProvider(gateway, { providerId, login: 'nobody' })).problem).not.toBeNull()
    const linked = await link({ person, login, browser })
    expect(linked).toMatchObject({
      id: providerId,
      provider: 'Acme',
      email: `${login}@acme.example`,
      is_enabled: true,
    })
    const { ask } = await signInWithProvider(gateway, { providerId, login })
    expect((await ask('GET', '/v1/sessions/current')).body.user.id).toBe(person.id)
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=identity.created',
    )
    expect(JSON.stringify(log.data[0])).toContain(person.email)
  })

  test('removes it, and it signs in as them no more, and its sessions end in all processes', async () => {
    const one = await comeIn()
    await link(one)
    await link(one, secondId)
    const { ask, browser } = await signInWithProvider(gateway, { providerId, login: one.login })
    const cookie = `parkway_session=${browser.cookies.get('parkway_session')}`
    const removed = await one.person.request('DELETE', `/v1/identities/${providerId}`)
    expect([removed.status, await idsOf(one.person)]).toEqual([200, [secondId]])
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(401)
    const elsewhere = { key: null, headers: { cookie, 'sec-fetch-site': 'same-origin' } }
    expect((await other.request('GET', '/v1/sessions/current', elsewhere)).status).toBe(401)
    // A newcomer, not the person of before.
    const again = await signInWithProvider(gateway, { providerId, login: one.login })
    expect((await again.ask('GET', '/v1/sessions/current')).body.user.id).not.toBe(one.person.id)
    expect((await one.person.request('DELETE', `/v1/identities/${providerId}`)).status).toBe(404)
  })

  test('keeps the last way in, unless they say that they mean it', async () => {
    const one = await comeIn()
    await link(one)
    const refused = await one.person.request('DELETE', `/v1/identities/${providerId}`)
    expect([refused.status, refused.body.error.code, await idsOf(one.person)]).toEqual([
      409,
      'conflict',
      [providerId],
    ])
    // A provider that is switched off is no way.
    await link(one, secondId)
    const at = `/v1/admin/identity-providers/${secondId}`
    await gateway.request('PATCH', at, { body: { enabled: false } })
    expect((await one.person.request('DELETE', `/v1/identities/${providerId}`)).status).toBe(409)
    await gateway.request('PATCH', at, { body: { enabled: true } })
    expect((await one.person.request('DELETE', `/v1/identities/${providerId}`)).status).toBe(200)
    const last = await one.person.request('DELETE', `/v1/identities/${secondId}?even_if_last=true`)
    expect([last.status, await idsOf(one.person)]).toEqual([200, []])
  })
})

describe('a link is refused', () => {
  test('if another member comes in with that sign-in, and neither is changed', async () => {
    const [owner, thief] = [await comeIn(), await comeIn()]
    await link(owner)
    const { ticket } = await fetchTicket(thief.browser, owner.login)
    const refused = await thief.person.request('POST', '/v1/identities', { ticket })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect([await idsOf(owner.person), await idsOf(thief.person)]).toEqual([[providerId], []])
  })

  test('if the person is somebody else at that provider already', async () => {
    const [one, stranger] = [await comeIn(), await comeIn()]
    await link(one)
    const { ticket } = await fetchTicket(browserOf(one.person), stranger.login)
    expect((await one.person.request('POST', '/v1/identities', { ticket })).status).toBe(409)
  })

  test('in another session than the one that began it, also of the same person', async () => {
    const [attacker, victim] = [await comeIn(), await comeIn()]
    const { ticket } = await fetchTicket(attacker.browser, attacker.login)
    expect((await victim.person.request('POST', '/v1/identities', { ticket })).status).toBe(400)
    expect(await idsOf(victim.person)).toEqual([])
    expect((await attacker.person.request('POST', '/v1/identities', { ticket })).status).toBe(201)
    // Nor twice.
    expect((await attacker.person.request('POST', '/v1/identities', { ticket })).status).toBe(400)
  })

  test('from a page of another site, without a session, and with a key', async () => {
    const { person, login, browser } = await comeIn()
    const start = `${gateway.baseUrl}/v1/sessions/directory/${providerId}/start?link=1`
    const isEnd = (url: URL) => url.pathname === '/sign-in'
    const crossSite = await browser.visit(start, { isEnd, headers: { 'sec-fetch-site': 'cross-site' } })
    expect(crossSite.url.searchParams.get('problem')).toBe('session_ended')
    expect((await fetchTicket(createHttpBrowser(), login)).problem).toBe('session_ended')
    const { ticket } = await fetchTicket(browser, login)
    const headers = { ...person.headers, 'sec-fetch-site': 'cross-site' }
    const posted = await gateway.request('POST', '/v1/identities', { key: null, headers, body: { ticket } })
    expect(posted.status).toBe(403)
    expect((await gateway.request('POST', '/v1/identities', { body: { ticket } })).status).toBe(404)
    expect(await idsOf(person)).toEqual([])
  })

  test('with a ticket that this gateway did not seal', async () => {
    const { person, login, browser } = await comeIn()
    const { ticket } = await fetchTicket(browser, login)
    // Not the last character, of which some bits say nothing.
    const changed = ticket.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    for (const forged of ['x', changed, 'A'.repeat(6000)])
      expect((await person.request('POST', '/v1/identities', { ticket: forged })).status).toBe(400)
  })

  test('if the provider does not let the person into the account', async () => {
    const { login, browser } = await comeIn()
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Foreign' },
    })
    const accounts = [{ account_id: account.id }]
    const foreign = await addProvider(gateway, server, { account_rule: 'fixed', accounts, name: 'Foreign' })
    expect((await fetchTicket(browser, login, foreign)).problem).toBe('no_account')
  })
})

describe('whoever manages the members', () => {
  test('sees and removes the identities of a member, and nobody else does', async () => {
    const [member, stranger] = [await comeIn(), await comeIn()]
    await link(member)
    const at = `/v1/organization/users/${member.person.id}/identities`
    const { body } = await gateway.request('GET', at)
    expect(body.data).toMatchObject([{ id: providerId, email: `${member.login}@acme.example` }])
    expect((await stranger.person.request('GET', at)).status).toBe(403)
    expect((await stranger.person.request('DELETE', `${at}/${providerId}`)).status).toBe(403)
    expect((await gateway.request('DELETE', `${at}/${providerId}`)).status).toBe(409)
    const removed = await gateway.request('DELETE', `${at}/${providerId}?even_if_last=true`)
    expect([removed.status, await idsOf(member.person)]).toEqual([200, []])
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=identity.deleted',
    )
    expect(log.data[0]['identity.deleted']).toMatchObject({ id: providerId })
  })
})
