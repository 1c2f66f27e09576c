import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { joinAccount } from './join-account.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway()
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

async function createAccount(): Promise<{ id: string; key: string }> {
  const { body } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'full' } })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${body.id}/api-keys`, {
    body: { scopes: ['inference', 'manage'] },
  })
  return { id: String(body.id), key: String(key.key) }
}

test('an account has at most 10,000 projects', async () => {
  const { id, key } = await createAccount()
  await database.query(
    `INSERT INTO projects (id, account_id, name) SELECT gen_random_uuid(), $1, 'x' FROM generate_series(1, 9998)`,
    [id],
  )
  const create = () => gateway.request('POST', '/v1/organization/projects', { key, body: { name: 'x' } })
  expect((await create()).status).toBe(200)
  expect((await create()).status).toBe(409)
})

test('an invitation that has expired is told as such and does not work', async () => {
  const { id, key } = await createAccount()
  const { body } = await gateway.request('POST', '/v1/organization/invites', {
    key,
    body: { email: 'late@example.com', role: 'owner' },
  })
  await database.query(`UPDATE invites SET expires_at = now() - interval '1 second' WHERE account_id = $1`, [
    id,
  ])
  const read = await gateway.request('GET', `/v1/organization/invites/${body.id}`, { key })
  expect(read.body.status).toBe('expired')
  const accepted = await gateway.request('POST', '/v1/invites/accept', {
    key: null,
    body: { code: body.code, name: 'Late' },
  })
  expect([accepted.status, accepted.body.error.code]).toEqual([401, 'invalid_sign_in_code'])
})

test('the code of an invitation is not in the database', async () => {
  const { body } = await gateway.request('POST', '/v1/organization/invites', {
    body: { email: 'hidden@example.com', role: 'owner' },
  })
  const rows = await database.query('SELECT invites::text AS text FROM invites')
  expect(JSON.stringify(rows)).not.toContain(body.code)
})

test('the key of a session does not work as a bearer, also with its secret', async () => {
  const person = await joinAccount(gateway, { email: 'bearer@example.com', role: 'owner' })
  const secret = 'pk-dev-KnownKnownKnownKnownKnownKnownKnownKnownKnow'
  const changed = await database.query(
    `UPDATE api_keys SET key_hash = $1 WHERE is_of_sessions
       AND user_id = (SELECT id FROM users WHERE email = 'bearer@example.com') RETURNING id`,
    [createHash('sha256').update(secret).digest()],
  )
  expect(changed).toHaveLength(1)
  expect((await person.request('GET', '/v1/organization/users')).status).toBe(200)
  const refused = await gateway.request('GET', '/v1/organization/users', { key: secret })
  expect([refused.status, refused.body.error.message]).toEqual([
    401,
    'The API key is unknown: this gateway has not issued it.',
  ])
})

test('many wrong codes of invitations from one address have to wait, as wrong keys have', async () => {
  const throttled = await startTestGateway({ connectionString: gateway.connectionString })
  try {
    let status = 0
    for (let attempt = 0; attempt < 200 && status !== 429; attempt += 1) {
      const code = `${attempt}`.padStart(43, 'x')
      const answer = await throttled.request('POST', '/v1/invites/accept', { key: null, body: { code } })
      status = answer.status
    }
    expect(status).toBe(429)
  } finally {
    await throttled.close()
  }
})
