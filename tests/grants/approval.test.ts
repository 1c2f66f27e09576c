import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { CLIENT_ID, postForm, requestCodes, signInTool } from './sign-in-tool.ts'

let gateway: TestGateway
let projectId: string
let person: Person

beforeAll(async () => {
  gateway = await startTestGateway()
  projectId = await createProject(gateway)
  const projects = [{ id: projectId, role: 'member' }]
  person = await joinAccount(gateway, { email: 'ada@example.com', role: 'reader', projects })
})
afterAll(() => gateway.close())

const AT = '/v1/device-authorizations'

describe('nobody but a person on a page of the gateway signs a tool in', () => {
  test('no key, no token and no other page', async () => {
    const { userCode } = await requestCodes(gateway)
    const { accessToken } = await signInTool(gateway, person, projectId)
    const body = { user_code: userCode }
    const asked = [
      await gateway.request('POST', `${AT}/approve`, { body }),
      await gateway.request('POST', `${AT}/approve`, { key: accessToken, body }),
      await gateway.request('POST', `${AT}/approve`, {
        key: null,
        body,
        headers: { cookie: person.headers['cookie'] ?? '', 'sec-fetch-site': 'cross-site' },
      }),
      await gateway.request('POST', `${AT}/approve`, {
        key: null,
        body,
        headers: { cookie: person.headers['cookie'] ?? '', origin: 'https://evil.example.com' },
      }),
    ]
    expect(asked.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await person.request('POST', `${AT}/find`, body)).status).toBe(200)
  })

  test('no session of a key of the account', async () => {
    const { userCode } = await requestCodes(gateway)
    const session = await gateway.request('POST', '/v1/sessions', {
      key: null,
      body: { api_key: gateway.key },
    })
    const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const { status, body } = await gateway.request('POST', `${AT}/approve`, {
      key: null,
      headers,
      body: { user_code: userCode },
    })
    expect([status, body.error.message]).toEqual([403, expect.stringContaining('no person')])
  })

  test('no form of another page, which browsers send without asking', async () => {
    const { userCode } = await requestCodes(gateway)
    const answer = await gateway.request('POST', `${AT}/approve`, {
      key: null,
      headers: { ...person.headers, 'content-type': 'text/plain' },
      body: JSON.stringify({ user_code: userCode }),
    })
    expect(answer.status).toBe(415)
  })

  test('a person in no project that is not theirs, and not in the account without seeing it', async () => {
    const { userCode } = await requestCodes(gateway)
    const elsewhere = await createProject(gateway, 'Elsewhere')
    for (const project_id of [elsewhere, null]) {
      const { status } = await person.request('POST', `${AT}/approve`, { user_code: userCode, project_id })
      expect(status).toBe(404)
    }
  })

  test('a session of a restricted key gives nothing that the key has not', async () => {
    const limited = await person.request('POST', '/v1/sessions/project', { project_id: projectId })
    expect(limited.status).toBe(200)
    const { body: key } = await person.request('POST', '/v1/tenants/me/api-keys', {
      name: 'small',
      limit_usd: 1,
    })
    const session = await gateway.request('POST', '/v1/sessions', { key: null, body: { api_key: key.key } })
    const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const { userCode } = await requestCodes(gateway)
    const { status, body } = await gateway.request('POST', `${AT}/approve`, {
      key: null,
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      body: { user_code: userCode },
    })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })
})

describe('codes', () => {
  test('cannot be guessed: ten wrong ones in ten minutes, of 25 billion', async () => {
    const guesser = await joinAccount(gateway, {
      email: 'mallory@example.com',
      role: 'reader',
      projects: [{ id: projectId, role: 'member' }],
    })
    const { userCode } = await requestCodes(gateway)
    const guesses = Array.from({ length: 20 }, (_, n) => `BCDF-BCD${'BCDFGHJKLMNPQRSTVWXZ'.charAt(n)}`)
    const answers = await Promise.all(
      guesses.map((user_code) => guesser.request('POST', `${AT}/find`, { user_code })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 404)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    // Also the right one, so that going on tells nothing.
    expect((await guesser.request('POST', `${AT}/approve`, { user_code: userCode })).status).toBe(429)
    expect((await person.request('POST', `${AT}/find`, { user_code: userCode })).status).toBe(200)
    // Whoever guesses in every window hits one code in 48,000 years on average, and one of the most codes that can wait in four.
    const guessesAYear = 10 * 6 * 24 * 365
    expect([20 ** 8 / guessesAYear > 48_000, 20 ** 8 / 10_000 / guessesAYear > 4]).toEqual([true, true])
  })

  test('are bounded for an address while they wait', async () => {
    const alone = await startTestGateway()
    const ask = () => postForm(alone, '/oauth/device_authorization', { client_id: CLIENT_ID })
    for (let count = 0; count < 30; count += 1) expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'slow_down',
      '60',
    ])
    await alone.close()
  })

  test('and tokens are stored as hashes only', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    const { accessToken, refreshToken } = await signInTool(gateway, person, projectId)
    const database = new Client({
      connectionString: gateway.connectionString,
      options: '-c search_path=parkway',
    })
    await database.connect()
    const tables = [
      'device_codes',
      'grants',
      'access_tokens',
      'refresh_tokens',
      'api_keys',
      'account_changes',
    ]
    const stored = await Promise.all(
      tables.map(async (table) => (await database.query(`SELECT t::text AS row FROM ${table} t`)).rows),
    )
    await database.end()
    const text = JSON.stringify(stored)
    for (const secret of [deviceCode, userCode, accessToken, refreshToken]) expect(text).not.toContain(secret)
  })
})
