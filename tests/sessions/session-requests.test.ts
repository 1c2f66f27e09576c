import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createKey, failureOf, OWN_PAGE, signIn } from './sign-in.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway()
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

describe('a session', () => {
  test('may do what its key may do, on usual and on hot routes', async () => {
    const { ask } = await signIn(gateway)
    const { status, body } = await ask('GET', '/v1/tenants/me')
    const own = await gateway.request('GET', '/v1/tenants/me')
    expect([status, body.id]).toEqual([200, own.body.id])
    const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await ask('POST', '/v1/chat/completions', chat)).status).toBe(200)
    const narrow = await signIn(gateway, (await createKey(gateway, { scopes: ['inference'] })).key)
    expect(failureOf(await narrow.ask('GET', '/v1/admin/accounts'))).toEqual([403, 'forbidden'])
  })

  test.each([
    ['no proof of its origin', {}],
    ['a foreign site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['a typed address', { 'sec-fetch-site': 'none' }],
    ['a foreign origin', { origin: 'https://elsewhere.example' }],
    ['a forged origin', { 'sec-fetch-site': 'cross-site', origin: 'OWN' }],
    ['an origin that is null', { origin: 'null' }],
  ])('gets nothing in a request with %s', async (_, given) => {
    const { cookie } = await signIn(gateway)
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value === 'OWN' ? gateway.baseUrl : value]),
    )
    for (const [method, path] of [
      ['GET', '/v1/tenants/me'],
      ['POST', '/v1/chat/completions'],
    ] as const) {
      const answer = await gateway.request(method, path, {
        key: null,
        headers: { ...headers, cookie },
        ...(method === 'POST' && { body: { model: 'gpt-4o-mini', messages: [] } }),
      })
      expect(failureOf(answer)).toEqual([403, 'forbidden'])
    }
  })

  test.each([
    ['application/x-www-form-urlencoded', 'amount_usd=1000'],
    ['text/plain', '{"amount_usd":1000,"reason":"x"}'],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('gets nothing for a form of a foreign site, sent as %s', async (contentType, body) => {
    const { cookie, ask } = await signIn(gateway)
    const { body: account } = await ask('GET', '/v1/tenants/me')
    for (const path of [`/v1/admin/accounts/${account.id}/credit`, '/v1/sessions', '/v1/chat/completions']) {
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: {
          cookie,
          origin: 'https://elsewhere.example',
          'sec-fetch-site': 'cross-site',
          'content-type': contentType,
        },
        body,
      })
      expect([403, 415]).toContain(answer.status)
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
    expect((await ask('GET', '/v1/tenants/me')).body.balance_usd).toBe(account.balance_usd)
  })

  test('is not in the page: a copy of it without the cookie gets nothing', async () => {
    await signIn(gateway)
    const answer = await gateway.request('GET', '/v1/tenants/me', {
      key: null,
      headers: { ...OWN_PAGE, origin: gateway.baseUrl, referer: `${gateway.baseUrl}/keys` },
    })
    expect(failureOf(answer)).toEqual([401, 'invalid_api_key'])
  })

  test('counts with the origin of the gateway, for browsers that send no site', async () => {
    const { cookie } = await signIn(gateway)
    const headers = { cookie: `theme=dark; ${cookie}`, origin: gateway.baseUrl }
    expect((await gateway.request('GET', '/v1/tenants/me', { key: null, headers })).status).toBe(200)
  })

  test('does not replace a key that a request has', async () => {
    const { cookie } = await signIn(gateway)
    const answer = await gateway.request('GET', '/v1/tenants/me', {
      key: 'pk-dev-WrongWrongWrongWrongWrongWrongWrongWrong',
      headers: { ...OWN_PAGE, cookie },
    })
    expect(failureOf(answer)).toEqual([401, 'invalid_api_key'])
  })

  test.each(['', 'short', 'x'.repeat(43), '%00', `${'a'.repeat(42)}"`])(
    'a session of the text %j is unknown',
    async (token) => {
      const headers = { ...OWN_PAGE, cookie: `parkway_session=${token}` }
      const answer = await gateway.request('GET', '/v1/tenants/me', { key: null, headers })
      expect(failureOf(answer)).toEqual([401, 'invalid_session'])
    },
  )

  test('ends when its key is revoked', async () => {
    const { id, key } = await createKey(gateway)
    const { ask } = await signIn(gateway, key)
    expect((await ask('GET', '/v1/tenants/me')).status).toBe(200)
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${id}`)
    expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
  })

  test.each([
    ['after 12 hours without a request', `last_used_at = now() - interval '12 hours'`],
    ['a week after it began', 'expires_at = now()'],
  ])('ends %s', async (_, change) => {
    const { id, ask } = await signIn(gateway)
    await database.query(`UPDATE sessions SET ${change} WHERE id = $1`, [id])
    expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
    const { body } = await gateway.request('GET', '/v1/sessions')
    expect(body.sessions.map((session: { id: string }) => session.id)).not.toContain(id)
  })

  test('is kept alive by requests, with one write a minute', async () => {
    const { id, ask } = await signIn(gateway)
    const readUse = async () =>
      (await database.query<{ at: Date }>('SELECT last_used_at AS at FROM sessions WHERE id = $1', [id]))[0]
        ?.at
    const begun = await readUse()
    await ask('GET', '/v1/tenants/me')
    expect(await readUse()).toEqual(begun)
    await database.query(`UPDATE sessions SET last_used_at = now() - interval '2 minutes' WHERE id = $1`, [
      id,
    ])
    await ask('GET', '/v1/tenants/me')
    expect((await readUse())?.getTime()).toBeGreaterThanOrEqual(begun?.getTime() ?? Infinity)
  })
})
