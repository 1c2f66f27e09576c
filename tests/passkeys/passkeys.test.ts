import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { failureOf } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { confirmWith, joinWithPasskey, openBrowser, ORIGIN, signInWith } from './passkey-person.ts'
import { createCredential } from './software-authenticator.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  // Wrong answers are the point of these tests, and count like wrong keys.
  const limits = { strangers: { failures_per_minute: 10_000 } }
  gateway = await startTestGateway({ settings: { PARKWAY_LIMITS: JSON.stringify(limits) } })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const REFUSED = [401, 'invalid_passkey']

describe('a registration', () => {
  test('on the profile adds a second device, which needs a fresh proof', async () => {
    const { browser, passkey } = await joinWithPasskey(gateway)
    await database.query(`UPDATE sessions SET confirmed_at = now() - interval '15 minutes'`)
    const refused = await browser.post('/v1/passkeys/options')
    expect(failureOf(refused)).toEqual([403, 'confirmation_required'])
    expect(refused.body.error.message).toContain(
      'use your passkey (POST /v1/sessions/current/confirm/passkey)',
    )
    expect((await confirmWith(browser, passkey)).status).toBe(200)
    const begun = await browser.post('/v1/passkeys/options')
    expect(begun.body.public_key.excludeCredentials).toEqual([expect.objectContaining({ id: passkey.id })])
    const made = createCredential(begun.body.public_key, ORIGIN)
    const added = await browser.post('/v1/passkeys', { name: 'Phone', credential: made.credential })
    expect([added.status, added.body.name]).toEqual([201, 'Phone'])
    expect((await signInWith(openBrowser(gateway), made.passkey)).status).toBe(201)
    expect(
      failureOf(await browser.post('/v1/passkeys', { name: 'Phone', credential: made.credential })),
    ).toEqual([400, 'invalid_value'])
  })

  test.each([
    ['another origin', { origin: 'https://elsewhere.example' }],
    ['another host', { rpId: 'elsewhere.example' }],
    ['a sign-in', { type: 'webauthn.get' }],
    ['no check of the person', { isVerified: false }],
    ['a certificate of the maker', { format: 'packed' }],
    ['an unknown form', { format: 'parkway' }],
  ])('for %s is refused', async (_, lies) => {
    const { browser } = await joinWithPasskey(gateway)
    const { body } = await browser.post('/v1/passkeys/options')
    const { credential } = createCredential(body.public_key, ORIGIN, lies)
    expect(failureOf(await browser.post('/v1/passkeys', { name: 'x', credential }))).toEqual([
      400,
      'invalid_value',
    ])
  })

  test('with a certificate is refused before anybody looks at it, because it names addresses to call', async () => {
    const { browser } = await joinWithPasskey(gateway)
    const { body } = await browser.post('/v1/passkeys/options')
    const { credential } = createCredential(body.public_key, ORIGIN, { format: 'packed' })
    const { body: answer } = await browser.post('/v1/passkeys', { name: 'x', credential })
    expect(answer.error.message).toBe('Passkeys with a certificate of their maker are not taken.')
  })

  test('to the challenge of another person is refused', async () => {
    const [one, other] = [await joinWithPasskey(gateway), await joinWithPasskey(gateway)]
    const { body } = await other.browser.post('/v1/passkeys/options')
    const { credential } = createCredential(body.public_key, ORIGIN)
    const answer = await one.browser.post('/v1/passkeys', { name: 'x', credential })
    expect(failureOf(answer)).toEqual([400, 'invalid_value'])
  })

  test('takes no name of a passkey that somebody has', async () => {
    const [one, other] = [await joinWithPasskey(gateway), await joinWithPasskey(gateway)]
    await database.query('UPDATE passkeys SET rp_id = $2 WHERE credential_id = $1', [
      Buffer.from(other.passkey.id, 'base64url'),
      'elsewhere.example',
    ])
    const { body } = await one.browser.post('/v1/passkeys/options')
    const { credential, passkey } = createCredential(body.public_key, ORIGIN)
    await database.query('UPDATE passkeys SET credential_id = $2 WHERE credential_id = $1', [
      Buffer.from(other.passkey.id, 'base64url'),
      Buffer.from(passkey.id, 'base64url'),
    ])
    expect(failureOf(await one.browser.post('/v1/passkeys', { name: 'x', credential }))).toEqual([
      409,
      'conflict',
    ])
  })

  test('stops at twenty', async () => {
    const { browser, email } = await joinWithPasskey(gateway)
    await database.query(
      `INSERT INTO passkeys SELECT gen_random_uuid(), account_id, p.user_id, n::text::bytea || p.credential_id, public_key, user_handle, rp_id,
         counter, transports, is_synced, p.name FROM passkeys p JOIN users u ON u.id = p.user_id AND u.email = $1, generate_series(1, 19) n`,
      [email],
    )
    const { body } = await browser.post('/v1/passkeys/options')
    const { credential } = createCredential(body.public_key, ORIGIN)
    expect(failureOf(await browser.post('/v1/passkeys', { name: 'x', credential }))).toEqual([
      409,
      'conflict',
    ])
  })

  test('is not for keys, nor for sessions of the account itself', async () => {
    const { browser } = await joinWithPasskey(gateway)
    const { body: own } = await browser.post('/v1/tenants/me/api-keys', { name: 'own' })
    expect((await gateway.request('GET', '/v1/passkeys', { key: own.key })).body.data).toEqual([])
    const byKey = openBrowser(gateway)
    await byKey.post('/v1/sessions', { api_key: gateway.key })
    expect(failureOf(await byKey.post('/v1/passkeys/options'))).toEqual([404, 'not_found'])
  })
})

describe('a passkey', () => {
  test('confirms only the session of its own person, in its own account', async () => {
    const email = 'in-two-accounts@example.com'
    const here = await joinWithPasskey(gateway, { email })
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Elsewhere' },
    })
    const { body: made } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev', scopes: ['inference', 'manage'] },
    })
    const there = await joinWithPasskey(gateway, { email, key: made.key })
    expect(failureOf(await confirmWith(here.browser, there.passkey))).toEqual(REFUSED)
    const colleague = await joinWithPasskey(gateway)
    expect(failureOf(await confirmWith(here.browser, colleague.passkey))).toEqual(REFUSED)
    expect((await confirmWith(here.browser, here.passkey)).status).toBe(200)
    const elsewhere = openBrowser(gateway)
    await signInWith(elsewhere, there.passkey)
    expect((await elsewhere.ask('GET', '/v1/sessions/current')).body.account.name).toBe('Elsewhere')
  })

  test('is renamed and removed by its person only, and the last one not by mistake', async () => {
    const { browser, passkey } = await joinWithPasskey(gateway)
    const { body } = await browser.ask('GET', '/v1/passkeys')
    const at = `/v1/passkeys/${body.data[0].id}`
    const colleague = await joinWithPasskey(gateway)
    for (const method of ['PATCH', 'DELETE'])
      expect(
        failureOf(await colleague.browser.ask(method, at, method === 'PATCH' ? { name: 'Mine' } : undefined)),
      ).toEqual([404, 'not_found'])
    expect((await browser.ask('PATCH', at, { name: 'Old laptop' })).body.name).toBe('Old laptop')
    expect(failureOf(await browser.ask('DELETE', at))).toEqual([409, 'conflict'])
    expect((await browser.ask('DELETE', `${at}?even_if_last=true`)).status).toBe(200)
    expect(failureOf(await signInWith(openBrowser(gateway), passkey))).toEqual(REFUSED)
  })

  test('is not made for the address of a gateway without a name', async () => {
    const browser = openBrowser(gateway, { 'sec-fetch-site': 'same-origin', origin: 'http://10.0.0.7:8080' })
    expect(failureOf(await browser.post('/v1/sessions/passkey/options'))).toEqual([400, 'invalid_request'])
    const methods = (host: string) =>
      gateway.request('GET', '/v1/sessions/methods', { key: null, headers: { origin: host } })
    expect((await methods('http://10.0.0.7:8080')).body.passkeys).toBe(false)
    expect((await methods(ORIGIN)).body.passkeys).toBe(true)
  })
})
