import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refresh, signInTool } from '../grants/sign-in-tool.ts'
import { createProject, joinAccount } from '../organization/join-account.ts'
import { failureOf } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startSmtpServer, type SmtpServer } from '../upstreams/smtp-server.ts'
import { beginLastSessionAfter } from './begin-last-session-after.ts'
import { joinWithPasskey, makeForLink, openBrowser, signInWith, type TestBrowser } from './passkey-person.ts'

let smtp: SmtpServer
let gateway: TestGateway

beforeAll(async () => {
  smtp = await startSmtpServer()
  const limits = { strangers: { failures_per_minute: 10_000 } }
  gateway = await startTestGateway({ settings: { PARKWAY_LIMITS: JSON.stringify(limits) } })
})
afterAll(async () => {
  await gateway.close()
  smtp.close()
})

const USED = [401, 'invalid_sign_in_code']

async function idOf(email: string): Promise<string> {
  const { body } = await gateway.request(
    'GET',
    `/v1/organization/users?emails[]=${encodeURIComponent(email)}`,
  )
  return String(body.data[0].id)
}

const linkOf = (userId: string) => `/v1/organization/users/${userId}/recovery_link`

describe('a link for recovery', () => {
  test('lets the member in once, with a new passkey, and ends what was before if asked', async () => {
    const { email, passkey, browser: lost } = await joinWithPasskey(gateway)
    const { status, body } = await gateway.request('POST', linkOf(await idOf(email)), {
      body: { end_passkeys: true },
    })
    expect([status, body.email, body.mailed]).toEqual([200, email, false])
    expect(body.url).toContain(`/accept-invite#code=${body.code}`)
    const fresh = openBrowser(gateway)
    const read = await fresh.post('/v1/invites/read', { code: body.code })
    expect(read.body).toMatchObject({ kind: 'recovery', email, account_name: 'First account' })
    // Reading it and beginning has ended nothing.
    expect((await lost.ask('GET', '/v1/sessions/current')).status).toBe(200)
    const made = await makeForLink(fresh, body.code)
    const joined = { code: body.code, passkey: { name: 'New', credential: made.credential } }
    expect((await fresh.post('/v1/invites/accept', joined)).body.method).toBe('link')
    expect(failureOf(await lost.ask('GET', '/v1/sessions/current'))).toEqual([401, 'invalid_session'])
    expect(failureOf(await signInWith(openBrowser(gateway), passkey))).toEqual([401, 'invalid_passkey'])
    expect((await signInWith(openBrowser(gateway), made.passkey)).status).toBe(201)
    expect(failureOf(await fresh.post('/v1/invites/accept', { code: body.code }))).toEqual(USED)
    const { body: log } = await gateway.request('GET', '/v1/organization/audit_logs?limit=20')
    const types = log.data.map(({ type }: { type: string }) => type)
    expect(types).toEqual(
      expect.arrayContaining(['recovery_link.created', 'recovery_link.used', 'passkey.created']),
    )
  })

  test('ends the signed-in tools of the member in every process within a second, if asked', async () => {
    const other = await startTestGateway({ connectionString: gateway.connectionString })
    try {
      const projectId = await createProject(gateway)
      const projects = [{ id: projectId, role: 'member' }]
      const person = await joinAccount(gateway, { email: 'robbed@example.com', projects })
      const tools = [
        await signInTool(gateway, person, projectId),
        await signInTool(gateway, person, projectId),
      ]
      const recover = async (body: object) => {
        const { body: link } = await gateway.request('POST', linkOf(person.id), { body })
        expect((await openBrowser(gateway).post('/v1/invites/accept', { code: link.code })).status).toBe(201)
      }
      const statuses = async (at: TestGateway) =>
        Promise.all(
          tools.map(
            async ({ accessToken }) => (await at.request('GET', '/v1/models', { key: accessToken })).status,
          ),
        )
      await recover({})
      expect([await statuses(gateway), await statuses(other)]).toEqual([
        [200, 200],
        [200, 200],
      ])
      await recover({ end_passkeys: true })
      expect([await statuses(gateway), await statuses(other)]).toEqual([
        [401, 401],
        [401, 401],
      ])
      for (const { refreshToken } of tools) expect((await refresh(other, refreshToken)).status).toBe(401)
      const { body: log } = await gateway.request(
        'GET',
        '/v1/organization/audit_logs?event_types[]=grant.deleted',
      )
      expect(log.data.map((entry: Record<string, { id: string }>) => entry['grant.deleted']?.id)).toEqual(
        expect.arrayContaining(tools.map(({ grantId }) => grantId)),
      )
    } finally {
      await other.close()
    }
  })

  test('leaves passkeys and sessions otherwise, and a newer one replaces it', async () => {
    const { email, passkey, browser } = await joinWithPasskey(gateway)
    const at = linkOf(await idOf(email))
    const [first, second] = [
      await gateway.request('POST', at, { body: {} }),
      await gateway.request('POST', at, { body: {} }),
    ]
    const accept = (code: string) => openBrowser(gateway).post('/v1/invites/accept', { code })
    expect(failureOf(await accept(first.body.code))).toEqual(USED)
    expect((await accept(second.body.code)).status).toBe(201)
    expect((await browser.ask('GET', '/v1/sessions/current')).status).toBe(200)
    expect((await signInWith(openBrowser(gateway), passkey)).status).toBe(201)
  })

  test('is made only by whoever has all that the member has', async () => {
    const { body: role } = await gateway.request('POST', '/v1/organization/roles', {
      body: { role_name: 'Reception', permissions: ['members.manage', 'organization.read'] },
    })
    const clerk = await joinWithPasskey(gateway)
    const clerkId = await idOf(clerk.email)
    await gateway.request('POST', `/v1/organization/users/${clerkId}/roles`, { body: { role_id: role.id } })
    const owner = await joinWithPasskey(gateway, { role: 'owner' })
    const reader = await joinWithPasskey(gateway)
    const projectId = await createProject(gateway)
    const inProject = await joinAccount(gateway, {
      email: 'in-project@example.com',
      projects: [{ id: projectId, role: 'owner' }],
    })
    const ask = async (userId: string) => clerk.browser.ask('POST', linkOf(userId), {})
    expect(failureOf(await ask(await idOf(owner.email)))).toEqual([403, 'forbidden'])
    expect(failureOf(await ask(inProject.id))).toEqual([403, 'forbidden'])
    const end = `/v1/organization/users/${await idOf(owner.email)}/end_sessions`
    expect(failureOf(await clerk.browser.ask('POST', end))).toEqual([403, 'forbidden'])
    expect((await ask(await idOf(reader.email))).status).toBe(200)
    expect(failureOf(await reader.browser.ask('POST', linkOf(clerkId), {}))).toEqual([403, 'forbidden'])
  })

  test('counts no more when whoever made it has lost the right, or the member has left', async () => {
    const manager = await joinWithPasskey(gateway, { role: 'owner' })
    const [one, other] = [await joinWithPasskey(gateway, { role: 'owner' }), await joinWithPasskey(gateway)]
    const make = async (email: string) => {
      const { body } = await manager.browser.ask('POST', linkOf(await idOf(email)), {})
      return String(body.code)
    }
    const [first, second] = [await make(one.email), await make(other.email)]
    await gateway.request('DELETE', `/v1/organization/users/${await idOf(other.email)}`)
    await gateway.request('POST', `/v1/organization/users/${await idOf(manager.email)}`, {
      body: { role: 'reader' },
    })
    for (const code of [first, second])
      expect(failureOf(await openBrowser(gateway).post('/v1/invites/accept', { code }))).toEqual(USED)
  })

  test('is made by an operator only, for a member who is an operator', async () => {
    const { email } = await joinWithPasskey(gateway)
    const userId = await idOf(email)
    await gateway.request('POST', '/v1/admin/operators', { body: { user_id: userId, role: 'operator' } })
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'manages', scopes: ['inference', 'manage'] },
    })
    expect(failureOf(await gateway.request('POST', linkOf(userId), { key: key.key, body: {} }))).toEqual([
      403,
      'forbidden',
    ])
    const made = await gateway.request('POST', linkOf(userId), { body: {} })
    expect(made.status).toBe(200)
    expect((await openBrowser(gateway).post('/v1/invites/accept', { code: made.body.code })).status).toBe(201)
  })
})

describe('links are mailed', () => {
  test('where a mail server and the address of the gateway are set, and then not shown', async () => {
    const mailing = await startTestGateway({
      settings: {
        PARKWAY_SMTP_URL: smtp.url,
        PARKWAY_SMTP_FROM: 'Parkway <parkway@example.com>',
        PARKWAY_PUBLIC_URL: 'https://gateway.example.com',
      },
    })
    try {
      const invite = (body: object) => mailing.request('POST', '/v1/organization/invites', { body })
      const sent = await invite({ email: 'mailed@example.com', role: 'reader' })
      expect([sent.body.mailed, sent.body.url, sent.body.code]).toEqual([true, null, null])
      const mail = smtp.received.find(({ to }) => to.includes('mailed@example.com'))
      const content = mail?.content.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
      expect(content).toMatch(/https:\/\/gateway\.example\.com\/accept-invite#code=[\w-]{43}/)
      const shown = await invite({ email: 'shown@example.com', role: 'reader', delivery: 'link' })
      expect([shown.body.mailed, shown.body.url]).toEqual([false, expect.stringContaining('#code=')])
      smtp.refuseNext(1)
      const refused = await invite({ email: 'refused@example.com', role: 'reader' })
      expect([refused.body.mailed, refused.body.url]).toEqual([false, expect.stringContaining('#code=')])
    } finally {
      await mailing.close()
    }
  })

  test('where the operator has set the address, and never with one that a request named', async () => {
    const nameless = await startTestGateway({ settings: { PARKWAY_SMTP_URL: smtp.url } })
    try {
      const body = { email: 'nameless@example.com', role: 'reader' }
      const { body: made } = await nameless.request('POST', '/v1/organization/invites', { body })
      expect(made.mailed).toBe(false)
      expect(smtp.received.some(({ to }) => to.includes('nameless@example.com'))).toBe(false)
    } finally {
      await nameless.close()
    }
  })
})

describe('the sessions of a person', () => {
  const sessionsOf = async (browser: TestBrowser): Promise<{ method: string; is_current: boolean }[]> =>
    (await browser.ask('GET', '/v1/sessions?mine=true')).body.data

  test('are listed over all their keys, and all others end at once', async () => {
    const { passkey, browser } = await joinWithPasskey(gateway)
    const other = openBrowser(gateway)
    await signInWith(other, passkey)
    const byKey = openBrowser(gateway)
    const { body: own } = await browser.post('/v1/tenants/me/api-keys', { name: 'own' })
    await byKey.post('/v1/sessions', { api_key: own.key })
    const methods = (await sessionsOf(browser)).map(({ method }) => method)
    expect(methods.toSorted()).toEqual(['invitation', 'key', 'passkey'])
    const stranger = await joinWithPasskey(gateway)
    expect(await sessionsOf(stranger.browser)).toHaveLength(1)
    expect((await browser.ask('DELETE', '/v1/sessions')).body.ended).toBe(2)
    expect(await sessionsOf(browser)).toEqual([expect.objectContaining({ is_current: true })])
    for (const ended of [other, byKey])
      expect(failureOf(await ended.ask('GET', '/v1/sessions/current'))).toEqual([401, 'invalid_session'])
    expect(await sessionsOf(stranger.browser)).toHaveLength(1)
  })

  test('are not seen and not ended by a key of theirs', async () => {
    const { browser } = await joinWithPasskey(gateway)
    const { body: own } = await browser.post('/v1/tenants/me/api-keys', { name: 'own' })
    const { body } = await gateway.request('GET', '/v1/sessions?mine=true', { key: own.key })
    expect(body.data).toEqual([])
    await gateway.request('DELETE', '/v1/sessions', { key: own.key })
    expect((await browser.ask('GET', '/v1/sessions/current')).status).toBe(200)
  })

  test('are ended by whoever manages the members', async () => {
    const { browser, email } = await joinWithPasskey(gateway)
    const at = `/v1/organization/users/${await idOf(email)}/end_sessions`
    expect((await gateway.request('POST', at)).body.ended).toBe(1)
    expect(failureOf(await browser.ask('GET', '/v1/sessions/current'))).toEqual([401, 'invalid_session'])
  })

  test('are not confirmed with a key that was made in them', async () => {
    const { browser, passkey } = await joinWithPasskey(gateway)
    const { body: own } = await browser.post('/v1/tenants/me/api-keys', { name: 'own' })
    const confirm = (asked: TestBrowser) => asked.post('/v1/sessions/current/confirm', { api_key: own.key })
    expect(failureOf(await confirm(browser))).toEqual([403, 'forbidden'])
    // As if the clock of the gateway that made the key were a second behind that of the database.
    await beginLastSessionAfter(gateway, own.id)
    expect(failureOf(await confirm(browser))).toEqual([403, 'forbidden'])
    let later = browser
    // Only a session that clearly began after the key.
    await expect
      .poll(
        async () => {
          later = openBrowser(gateway)
          await signInWith(later, passkey)
          return (await confirm(later)).status
        },
        { interval: 500 },
      )
      .toBe(200)
    const { body } = await later.ask('GET', '/v1/sessions/current')
    expect(body.confirm_methods.map(({ type }: { type: string }) => type)).toEqual(['passkey', 'key'])
  })

  test('two in two browsers are of two accounts, and each stays in its own', async () => {
    const here = await joinWithPasskey(gateway)
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Orchard' },
    })
    const { body: made } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev', scopes: ['inference', 'manage'] },
    })
    const there = await joinWithPasskey(gateway, { key: made.key })
    const nameOf = async (browser: TestBrowser) =>
      (await browser.ask('GET', '/v1/sessions/current')).body.account.name
    expect([await nameOf(here.browser), await nameOf(there.browser)]).toEqual(['First account', 'Orchard'])
    const { body: theirs } = await there.browser.ask('GET', '/v1/sessions?mine=true')
    expect(failureOf(await here.browser.ask('DELETE', `/v1/sessions/${theirs.data[0].id}`))).toEqual([
      404,
      'not_found',
    ])
    // The same browser then signs in to the other account: one cookie, one account.
    await signInWith(here.browser, there.passkey)
    expect(await nameOf(here.browser)).toBe('Orchard')
  })
})
