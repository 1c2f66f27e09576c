import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { failureOf } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import {
  invite,
  joinWithPasskey,
  makeForLink,
  openBrowser,
  ORIGIN,
  PAGE,
  signInWith,
} from './passkey-person.ts'
import { useCredential } from './software-authenticator.ts'

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

describe('a person who accepts an invitation with a passkey', () => {
  test('signs in with it in another browser, without saying who they are', async () => {
    const { passkey, email } = await joinWithPasskey(gateway)
    const browser = openBrowser(gateway)
    const begun = await browser.post('/v1/sessions/passkey/options')
    expect(begun.body.public_key).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    expect(begun.body.public_key.allowCredentials ?? []).toEqual([])
    const credential = useCredential(passkey, begun.body.public_key, ORIGIN)
    const { status, body } = await browser.post('/v1/sessions/passkey', { credential })
    expect([status, body.method]).toEqual([201, 'passkey'])
    const { body: current } = await browser.ask('GET', '/v1/sessions/current')
    expect(current.user.email).toBe(email)
    expect(current.confirm_methods).toEqual([
      { type: 'passkey', name: null, url: '/v1/sessions/current/confirm/passkey' },
    ])
  })

  test('sees it with its name and its uses', async () => {
    const { passkey, browser } = await joinWithPasskey(gateway)
    await signInWith(openBrowser(gateway), passkey)
    const { body } = await browser.ask('GET', '/v1/passkeys')
    expect(body.data).toEqual([
      expect.objectContaining({ name: 'Laptop', host: 'localhost', doubted_at: null }),
    ])
    expect(body.data[0].last_used_at).not.toBeNull()
  })

  test('has used the invitation up, and a failed attempt has not', async () => {
    const { code } = await invite(gateway)
    const browser = openBrowser(gateway)
    const { credential } = await makeForLink(browser, code)
    const body = { code, name: 'Grace', passkey: { name: 'Laptop', credential } }
    expect(failureOf(await openBrowser(gateway).post('/v1/invites/accept', body))).toEqual([
      400,
      'invalid_value',
    ])
    expect((await browser.post('/v1/invites/read', { code })).status).toBe(200)
    expect((await browser.post('/v1/invites/accept', { code, name: 'Grace' })).status).toBe(201)
    for (const path of ['/v1/invites/read', '/v1/invites/passkey', '/v1/invites/accept'])
      expect(failureOf(await browser.post(path, { code }))).toEqual([401, 'invalid_sign_in_code'])
  })
})

describe('a sign-in with a passkey is refused', () => {
  test.each([
    ['for another origin', { origin: 'https://elsewhere.example' }],
    ['for another host', { rpId: 'elsewhere.example' }],
    ['for another port of the host', { origin: 'http://localhost:9999' }],
    ['for a registration instead', { type: 'webauthn.create' }],
    ['without a check of the person', { isVerified: false }],
    ['without anybody present', { isPresent: false }],
    ['with a challenge of its own', { challenge: 'x'.repeat(43) }],
    ['with what another member keeps', { userHandle: 'AAAA' }],
  ])('%s', async (_, lies) => {
    const { passkey } = await joinWithPasskey(gateway)
    expect(failureOf(await signInWith(openBrowser(gateway), passkey, lies))).toEqual(REFUSED)
    expect((await signInWith(openBrowser(gateway), passkey)).status).toBe(201)
  })

  test('with the signature of another key', async () => {
    const [one, other] = [await joinWithPasskey(gateway), await joinWithPasskey(gateway)]
    const answer = await signInWith(openBrowser(gateway), one.passkey, { signsWith: other.passkey })
    expect(failureOf(answer)).toEqual(REFUSED)
  })

  test('in the same words if it is unknown as if it is wrong', async () => {
    const { passkey } = await joinWithPasskey(gateway)
    const unknown = { ...passkey, id: 'A'.repeat(43) }
    const answers = [
      await signInWith(openBrowser(gateway), unknown),
      await signInWith(openBrowser(gateway), passkey, { origin: 'https://elsewhere.example' }),
    ]
    const [first, second] = answers.map(({ status, body }) => [status, body.error.message, body.error.code])
    expect(first).toEqual(second)
  })

  test('a second time with the same answer, and when a wrong answer has used the challenge up', async () => {
    const { passkey } = await joinWithPasskey(gateway)
    const browser = openBrowser(gateway)
    const { body } = await browser.post('/v1/sessions/passkey/options')
    const credential = useCredential(passkey, body.public_key, ORIGIN)
    expect((await browser.post('/v1/sessions/passkey', { credential })).status).toBe(201)
    expect(failureOf(await browser.post('/v1/sessions/passkey', { credential }))).toEqual(REFUSED)
    const again = await browser.post('/v1/sessions/passkey/options')
    const wrong = useCredential(passkey, again.body.public_key, 'https://elsewhere.example')
    expect(failureOf(await browser.post('/v1/sessions/passkey', { credential: wrong }))).toEqual(REFUSED)
    const right = useCredential(passkey, again.body.public_key, ORIGIN)
    expect(failureOf(await browser.post('/v1/sessions/passkey', { credential: right }))).toEqual(REFUSED)
  })

  test('to the challenge of another browser', async () => {
    const { passkey } = await joinWithPasskey(gateway)
    const [victim, attacker] = [openBrowser(gateway), openBrowser(gateway)]
    const { body } = await attacker.post('/v1/sessions/passkey/options')
    const credential = useCredential(passkey, body.public_key, ORIGIN)
    expect(failureOf(await victim.post('/v1/sessions/passkey', { credential }))).toEqual(REFUSED)
    await victim.post('/v1/sessions/passkey/options')
    expect(failureOf(await victim.post('/v1/sessions/passkey', { credential }))).toEqual(REFUSED)
  })

  test('to a challenge that was given out for something else', async () => {
    const { passkey, browser } = await joinWithPasskey(gateway)
    for (const path of ['/v1/sessions/current/confirm/passkey/options', '/v1/passkeys/options']) {
      const { body } = await browser.post(path)
      const options = { challenge: body.public_key.challenge, rpId: 'localhost' }
      const credential = useCredential(passkey, options, ORIGIN)
      expect(failureOf(await browser.post('/v1/sessions/passkey', { credential }))).toEqual(REFUSED)
    }
  })

  test('after five minutes', async () => {
    const { passkey } = await joinWithPasskey(gateway)
    const browser = openBrowser(gateway)
    const { body } = await browser.post('/v1/sessions/passkey/options')
    const credential = useCredential(passkey, body.public_key, ORIGIN)
    await database.query(`UPDATE passkey_challenges SET expires_at = expires_at - interval '5 minutes'`)
    expect(failureOf(await browser.post('/v1/sessions/passkey', { credential }))).toEqual(REFUSED)
  })

  test('when its counter goes back, and its owner is told', async () => {
    const { passkey, browser } = await joinWithPasskey(gateway)
    expect((await signInWith(openBrowser(gateway), passkey, { counter: 7 })).status).toBe(201)
    for (const counter of [7, 6, 0])
      expect(failureOf(await signInWith(openBrowser(gateway), passkey, { counter }))).toEqual(REFUSED)
    const { body } = await browser.ask('GET', '/v1/passkeys')
    expect(body.data[0].doubted_at).not.toBeNull()
    const log = await gateway.request('GET', '/v1/organization/audit_logs?limit=5')
    expect(log.body.data.map(({ type }: { type: string }) => type)).toContain('passkey.doubted')
  })

  test('without the key of the passkey, whose counter nobody doubts then', async () => {
    const { passkey, browser } = await joinWithPasskey(gateway)
    await signInWith(openBrowser(gateway), passkey, { counter: 7 })
    const { passkey: other } = await joinWithPasskey(gateway)
    await signInWith(openBrowser(gateway), passkey, { counter: 1, signsWith: other })
    const { body } = await browser.ask('GET', '/v1/passkeys')
    expect(body.data[0].doubted_at).toBeNull()
  })

  test.each([
    ['person is deactivated', `UPDATE users SET status = 'deactivated' WHERE email = $1`],
    [
      'directory switched the person off',
      `UPDATE account_members SET suspended_at = now() FROM users u WHERE u.id = user_id AND u.email = $1`,
    ],
    ['person has left', `DELETE FROM account_members USING users u WHERE u.id = user_id AND u.email = $1`],
  ])('when the %s', async (_, change) => {
    const { passkey, email } = await joinWithPasskey(gateway)
    await database.query(change, [email])
    expect(failureOf(await signInWith(openBrowser(gateway), passkey))).toEqual(REFUSED)
  })
})

describe('pages of other sites', () => {
  test.each([
    ['a foreign site', { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'http://other.localhost' }],
    ['a foreign origin of an old browser', { origin: 'https://elsewhere.example' }],
  ])('as %s begin and end nothing', async (_, headers) => {
    const { passkey } = await joinWithPasskey(gateway)
    const { code } = await invite(gateway)
    const browser = openBrowser(gateway, headers)
    const options = { challenge: 'x'.repeat(43), rpId: 'localhost' }
    const credential = useCredential(passkey, options, ORIGIN)
    for (const [path, body] of [
      ['/v1/sessions/passkey/options', undefined],
      ['/v1/sessions/passkey', { credential }],
      ['/v1/invites/read', { code }],
      ['/v1/invites/passkey', { code }],
      ['/v1/invites/accept', { code }],
    ] as const) {
      const answer = await browser.post(path, body)
      expect([path, ...failureOf(answer)]).toEqual([path, 403, 'forbidden'])
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })
})

describe('a sign-in', () => {
  test('never continues the session that a browser brings', async () => {
    const attacker = await joinWithPasskey(gateway)
    const { passkey, email } = await joinWithPasskey(gateway)
    const victim = openBrowser(gateway)
    const planted = attacker.browser.cookies.get('parkway_session') ?? ''
    victim.cookies.set('parkway_session', planted)
    expect((await signInWith(victim, passkey)).status).toBe(201)
    expect(victim.cookies.get('parkway_session')).not.toBe(planted)
    expect((await victim.ask('GET', '/v1/sessions/current')).body.user.email).toBe(email)
    expect((await attacker.browser.ask('GET', '/v1/sessions/current')).body.user.email).toBe(attacker.email)
  })

  test.each([
    ['a body of 1 MiB', { padding: 'x'.repeat(1024 * 1024) }, 413],
    [
      'a long signature',
      { credential: { ...EMPTY(), response: { ...EMPTY().response, signature: 'A'.repeat(5000) } } },
      400,
    ],
    ['a name that is no base64url', { credential: { ...EMPTY(), id: '<script>' } }, 400],
    ['nothing', {}, 400],
  ])('refuses %s', async (_, body, status) => {
    expect((await openBrowser(gateway).post('/v1/sessions/passkey', body)).status).toBe(status)
  })

  test('keeps nothing of a challenge that could be answered from the database', async () => {
    const browser = openBrowser(gateway)
    const { body } = await browser.post('/v1/sessions/passkey/options')
    const stored = await database.query<{ text: string }>('SELECT c::text AS text FROM passkey_challenges c')
    const hex = Buffer.from(body.public_key.challenge, 'base64url').toString('hex')
    expect(stored.length).toBeGreaterThan(0)
    expect(stored.some(({ text }) => text.includes(hex))).toBe(false)
  })
})

function EMPTY() {
  return {
    id: 'AAAA',
    rawId: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
  }
}

test('guesses are slowed like wrong keys', async () => {
  const limits = { strangers: { failures_per_minute: 3, delay_seconds_max: 600 } }
  const slow = await startTestGateway({ settings: { PARKWAY_LIMITS: JSON.stringify(limits) } })
  try {
    const credential = EMPTY()
    const browser = openBrowser(slow, PAGE)
    const statuses: number[] = []
    for (let index = 0; index < 6; index += 1)
      statuses.push((await browser.post('/v1/sessions/passkey', { credential })).status)
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
    expect(statuses.at(-1)).toBe(429)
  } finally {
    await slow.close()
  }
})
