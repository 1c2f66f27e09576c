import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createKey, createStranger, failureOf, signIn, type SignedIn } from './sign-in.ts'

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

describe('signing in', () => {
  test('sets a cookie that scripts cannot read and other sites cannot send, and the answer has no secret', async () => {
    const { headers, body } = await gateway.request('POST', '/v1/sessions', {
      key: null,
      body: { api_key: gateway.key },
    })
    const cookie = headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^parkway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(JSON.stringify(body)).not.toContain(cookie.slice('parkway_session='.length, 59))
    expect(JSON.stringify(body)).not.toContain(gateway.key)
    const [row] = await database.query<{ text: string }>(
      'SELECT row_to_json(sessions)::text AS text FROM sessions WHERE id = $1',
      [body.id],
    )
    expect(row?.text).not.toContain(cookie.slice('parkway_session='.length, 59))
  })

  test('over https sets a cookie that is bound to the host', async () => {
    const { headers } = await gateway.request('POST', '/v1/sessions', {
      key: null,
      headers: { 'x-forwarded-proto': 'https' },
      body: { api_key: gateway.key },
    })
    expect(headers.get('set-cookie')).toMatch(/^__Host-parkway_session=[\w-]{43};.*; Secure$/)
  })

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['of another origin', { origin: 'https://elsewhere.example' }],
    ['without an origin of its own', { origin: 'null' }],
  ])('is refused for a page %s', async (_, headers) => {
    const answer = await gateway.request('POST', '/v1/sessions', {
      key: null,
      headers,
      body: { api_key: gateway.key },
    })
    expect(failureOf(answer)).toEqual([403, 'forbidden'])
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test.each([
    ['a wrong key', { api_key: 'pk-dev-WrongWrongWrongWrongWrongWrongWrongWrong' }, [401, 'invalid_api_key']],
    ['no key', {}, [400, 'missing_required_parameter']],
    ['a number', { api_key: 5 }, [400, 'invalid_value']],
  ])('with %s is refused', async (_, body, failure) => {
    const answer = await gateway.request('POST', '/v1/sessions', { key: null, body })
    expect(failureOf(answer)).toEqual(failure)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('ends the oldest sessions of a key that has too many', async () => {
    const { key } = await createKey(gateway)
    const first = await signIn(gateway, key)
    for (let index = 0; index < 20; index += 1) await signIn(gateway, key)
    expect(failureOf(await first.ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
  })
})

describe('the list of sessions', () => {
  test('has those of the account for a key that manages it, and its own for another key', async () => {
    const narrow = await createKey(gateway, { scopes: ['inference'] })
    const [mine, own] = [await signIn(gateway), await signIn(gateway, narrow.key)]
    const ids = async (key?: string) =>
      (await gateway.request('GET', '/v1/sessions', key === undefined ? {} : { key })).body.sessions.map(
        (session: { id: string }) => session.id,
      )
    expect(await ids()).toEqual(expect.arrayContaining([mine.id, own.id]))
    expect(await ids(narrow.key)).toEqual([own.id])
    expect(await ids(await createStranger(gateway))).toEqual([])
    const { body } = await own.ask('GET', '/v1/sessions')
    expect(body.sessions).toMatchObject([{ id: own.id, is_current: true, key_id: narrow.id }])
  })

  test('the list of sessions of another account cannot be touched', async () => {
    const { id, ask } = await signIn(gateway)
    const key = await createStranger(gateway)
    expect(failureOf(await gateway.request('DELETE', `/v1/sessions/${id}`, { key }))).toEqual([
      404,
      'not_found',
    ])
    const narrow = await createKey(gateway, { scopes: ['inference'] })
    const other = await gateway.request('DELETE', `/v1/sessions/${id}`, { key: narrow.key })
    expect(failureOf(other)).toEqual([404, 'not_found'])
    expect((await ask('GET', '/v1/tenants/me')).status).toBe(200)
  })
})

describe('signing out', () => {
  test('ends the session and deletes the cookie', async () => {
    const { id, ask } = await signIn(gateway)
    const { status, headers, body } = await ask('DELETE', '/v1/sessions/current')
    expect([status, body.id]).toEqual([200, id])
    expect(headers.get('set-cookie')).toContain('Max-Age=0')
    expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
  })

  test('from afar ends another session', async () => {
    const [one, other] = [await signIn(gateway), await signIn(gateway)]
    expect((await one.ask('DELETE', `/v1/sessions/${other.id}`)).status).toBe(200)
    expect(failureOf(await other.ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
    expect((await one.ask('GET', '/v1/tenants/me')).status).toBe(200)
  })

  test('with a key instead of a session needs an id', async () => {
    const answer = await gateway.request('DELETE', '/v1/sessions/current')
    expect(failureOf(answer)).toEqual([400, 'invalid_request'])
  })
})

describe('changing credit', () => {
  const grant = (ask: SignedIn['ask'], accountId: string) =>
    ask('POST', `/v1/admin/accounts/${accountId}/credit`, { amount_usd: 1, reason: 'test' })

  test('asks for the key again 15 minutes after it was entered', async () => {
    const { body: account } = await gateway.request('GET', '/v1/tenants/me')
    const { id, ask } = await signIn(gateway)
    expect((await grant(ask, account.id)).status).toBe(201)
    await database.query(`UPDATE sessions SET confirmed_at = now() - interval '15 minutes' WHERE id = $1`, [
      id,
    ])
    expect(failureOf(await grant(ask, account.id))).toEqual([403, 'confirmation_required'])
    const other = await createKey(gateway)
    const wrong = await ask('POST', '/v1/sessions/current/confirm', { api_key: other.key })
    expect(failureOf(wrong)).toEqual([403, 'forbidden'])
    expect(failureOf(await grant(ask, account.id))).toEqual([403, 'confirmation_required'])
    expect((await ask('POST', '/v1/sessions/current/confirm', { api_key: gateway.key })).status).toBe(200)
    expect((await grant(ask, account.id)).status).toBe(201)
  })

  test('does not ask a client that has the key itself', async () => {
    const { body: account } = await gateway.request('GET', '/v1/tenants/me')
    const answer = await gateway.request('POST', `/v1/admin/accounts/${account.id}/credit`, {
      body: { amount_usd: 1, reason: 'test' },
    })
    expect(answer.status).toBe(201)
  })
})
