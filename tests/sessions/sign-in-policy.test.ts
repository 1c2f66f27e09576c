import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSignInCode } from '../../src/modules/sessions/sessions.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { addProvider, callbackOf, signInWithProvider } from '../directory/sign-in-with-provider.ts'
import { joinAccount } from '../organization/join-account.ts'
import { joinWithPasskey, openBrowser, signInWith } from '../passkeys/passkey-person.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { OWN_PAGE } from './sign-in.ts'

let gateway: TestGateway
let other: TestGateway
let server: IdentityProviderServer
let providerId: string

const AT = '/v1/organization/sign_in_policy'
const ALL = ['directory', 'passkey', 'key']

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  const accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
  const rule = { account_rule: 'fixed', accounts: [{ account_id: accountId }], makes_members: true }
  providerId = await addProvider(gateway, server, { ...rule, member_role: 'owner' })
  server.people.set('ada', { email: 'ada@acme.example', email_verified: true })
})
afterAll(async () => {
  await server.close()
  await other.close()
  await gateway.close()
})
beforeEach(async () => {
  expect((await set(ALL)).status).toBe(200)
})

const set = (methods: readonly string[], even_if_locked_out?: boolean) =>
  gateway.request('POST', AT, { body: { methods, ...(even_if_locked_out && { even_if_locked_out }) } })
const signInWithKey = (at = gateway) =>
  at.request('POST', '/v1/sessions', { key: null, headers: OWN_PAGE, body: { api_key: gateway.key } })
const directory = () => signInWithProvider(gateway, { providerId, login: 'ada' })

describe('an account that demands', () => {
  test('a directory lets nobody in otherwise, in any process, and the API still takes keys', async () => {
    const { passkey, email, browser } = await joinWithPasskey(gateway, { role: 'owner' })
    expect((await directory()).problem).toBeNull()
    const { body } = await set(['directory'])
    expect(body).toMatchObject({ methods: ['directory'], locked_out_members: expect.any(Number) })
    expect(body.locked_out_members).toBeGreaterThan(0)
    for (const at of [gateway, other]) {
      const refused = await signInWithKey(at)
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        expect.stringContaining('company’s sign-in only'),
      ])
    }
    expect((await signInWith(openBrowser(gateway), passkey)).status).toBe(403)
    // The session that began with a passkey has ended.
    expect((await browser.ask('GET', '/v1/sessions/current')).status).toBe(401)
    const { body: found } = await gateway.request('GET', `/v1/organization/users?emails[]=${email}`)
    const link = await gateway.request('POST', `/v1/organization/users/${found.data[0].id}/recovery_link`, {
      body: {},
    })
    const { code } = link.body
    expect((await openBrowser(gateway).post('/v1/invites/accept', { code })).status).toBe(403)
    expect((await directory()).problem).toBeNull()
    expect((await gateway.request('GET', '/v1/models')).status).toBe(200)
  })

  test('passkeys lets nobody in with the directory or a key, and newcomers by their invitation', async () => {
    const { passkey } = await joinWithPasskey(gateway, { role: 'owner' })
    const { ask } = await directory()
    expect((await set(['passkey'])).status).toBe(200)
    expect((await ask('GET', '/v1/sessions/current')).status).toBe(401)
    expect((await directory()).problem).toBe('method_refused')
    expect((await signInWithKey()).status).toBe(403)
    expect((await signInWith(openBrowser(gateway), passkey)).status).toBe(201)
    await joinAccount(gateway, { email: 'newcomer@example.com' })
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=sign_in_policy.updated',
    )
    expect(log.data[0]['sign_in_policy.updated']).toMatchObject({
      changes_requested: { methods: ['passkey'] },
    })
  })
})

describe('nobody locks everybody out', () => {
  test('without saying so: a way that no owner has is refused and changes nothing', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Other' } })
    const { body: root } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'root' },
    })
    const owner = await joinAccount(gateway, { email: 'alone@example.com', role: 'owner', key: root.key })
    // Of readers, who could not change it back.
    await joinWithPasskey(gateway, { key: root.key })
    for (const methods of [['passkey'], ['directory'], ['directory', 'passkey']]) {
      const refused = await owner.request('POST', AT, { methods })
      expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    }
    expect((await owner.request('GET', AT)).body.methods).toEqual(ALL)
    const meant = await owner.request('POST', AT, { methods: ['passkey'], even_if_locked_out: true })
    expect(meant.status).toBe(200)
    // The session that did it goes on, and a key of the account changes it back.
    expect((await owner.request('GET', AT)).body.methods).toEqual(['passkey'])
    expect((await gateway.request('POST', AT, { key: root.key, body: { methods: ALL } })).status).toBe(200)
  })

  test('for good: the link of the command line lets the operator in, who changes it back', async () => {
    await directory()
    await set(['directory'])
    const { connectionString } = gateway
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
    const code = (await createSignInCode(database)) ?? ''
    await database.close()
    const browser = openBrowser(gateway)
    expect((await browser.post('/v1/sessions', { code })).status).toBe(201)
    expect((await browser.ask('POST', AT, { methods: ['directory'] })).status).toBe(200)
    expect((await browser.ask('POST', AT, { methods: ALL })).status).toBe(200)
  })

  test('without the right: only whoever manages the members sets it, and not for no way at all', async () => {
    const reader = await joinAccount(gateway, { email: 'reader@example.com' })
    expect((await reader.request('POST', AT, { methods: ALL })).status).toBe(403)
    for (const methods of [[], ['password'], ['key', 'key']]) expect((await set(methods)).status).toBe(400)
  })
})
