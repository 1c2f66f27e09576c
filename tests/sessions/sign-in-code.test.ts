import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSignInCode } from '../../src/modules/sessions/sessions.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { failureOf, OWN_PAGE } from './sign-in.ts'

let gateway: TestGateway
let database: Database
let code: string

beforeAll(async () => {
  gateway = await startTestGateway()
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
beforeEach(async () => {
  code = (await createSignInCode(database)) ?? ''
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const signIn = (body: object = { code }, headers: Record<string, string> = OWN_PAGE, from = gateway) =>
  from.request('POST', '/v1/sessions', { key: null, body, headers })

describe('the code of a sign-in link', () => {
  test('starts a session of the operator, with the cookie of every session', async () => {
    const { status, headers, body } = await signIn()
    expect([status, body.object]).toEqual([201, 'session'])
    expect(headers.get('set-cookie')).toMatch(
      /^parkway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict;/,
    )
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const me = await gateway.request('GET', '/v1/admin/accounts', {
      key: null,
      headers: { ...OWN_PAGE, cookie },
    })
    expect(me.status).toBe(200)
  })

  test('works once, also when many requests come at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(failureOf(answer)).toEqual([401, 'invalid_sign_in_code'])
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
  })

  test('expires after an hour', async () => {
    const [row] = await database.query<{ minutes: number }>(
      'SELECT extract(epoch FROM expires_at - created_at)::int / 60 AS minutes FROM sign_in_codes',
    )
    expect(row?.minutes).toBe(60)
    await database.query('UPDATE sign_in_codes SET expires_at = now()')
    expect(failureOf(await signIn())).toEqual([401, 'invalid_sign_in_code'])
  })

  test('is stored as a hash', async () => {
    const [row] = await database.query<{ text: string }>(
      'SELECT row_to_json(sign_in_codes)::text AS text FROM sign_in_codes',
    )
    expect(row?.text).not.toContain(code)
    expect(row?.text).not.toContain(Buffer.from(code).toString('hex'))
  })

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another origin', { origin: 'https://elsewhere.example' }],
  ])('is not used by a page %s', async (_, headers) => {
    expect(failureOf(await signIn({ code }, headers))).toEqual([403, 'forbidden'])
    expect((await signIn()).status).toBe(201)
  })

  test.each([
    ['of another form', { code: 'guess' }, [401, 'invalid_sign_in_code']],
    ['that is unknown', { code: 'x'.repeat(43) }, [401, 'invalid_sign_in_code']],
    ['that is no text', { code: 7 }, [400, 'invalid_value']],
    ['that is too long', { code: 'x'.repeat(201) }, [400, 'invalid_value']],
    ['beside a key', { code: 'x'.repeat(43), api_key: 'pk' }, [400, 'invalid_request']],
  ])('%s is refused', async (_, body, failure) => {
    expect(failureOf(await signIn(body))).toEqual(failure)
  })

  test('gives nothing once its key is revoked, and its account suspended', async () => {
    await database.query('UPDATE api_keys SET revoked_at = now()')
    try {
      expect(failureOf(await signIn())).toEqual([401, 'invalid_sign_in_code'])
      expect(await createSignInCode(database)).toBeNull()
    } finally {
      await database.query('UPDATE api_keys SET revoked_at = NULL')
    }
    await database.query(`UPDATE accounts SET status = 'suspended'`)
    try {
      expect(failureOf(await signIn())).toEqual([403, 'account_suspended'])
    } finally {
      await database.query(`UPDATE accounts SET status = 'active'`)
    }
  })
})

test('guesses are slowed like wrong keys, and the right code then has to wait too', async () => {
  const limits = { strangers: { failures_per_minute: 3, delay_seconds_max: 600 } }
  // On a database of its own: a blocked address is announced to every process on the same one.
  const slow = await startTestGateway({ settings: { PARKWAY_LIMITS: JSON.stringify(limits) } })
  const { connectionString } = slow
  const slowDatabase = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  try {
    const statuses: number[] = []
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await signIn({ code: `${'x'.repeat(42)}${index}` }, OWN_PAGE, slow)).status)
    }
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
    expect(statuses.at(-1)).toBe(429)
    const right = await createSignInCode(slowDatabase)
    const waiting = await signIn({ code: right }, OWN_PAGE, slow)
    expect(failureOf(waiting)).toEqual([429, 'rate_limit_exceeded'])
    expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await slowDatabase.close()
    await slow.close()
  }
})
