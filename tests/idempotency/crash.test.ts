import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { createWorkplace, type Workplace } from '../app/workplace.ts'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { completion, silence, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

let workplace: Workplace
let upstream: OpenAiServer
let testDatabase: TestDatabase
let database: Client

beforeEach(async () => {
  workplace = createWorkplace()
  upstream = await startOpenAiServer()
  testDatabase = await createTestDatabase()
  database = new Client({
    connectionString: testDatabase.connectionString,
    options: '-c search_path=parkway',
  })
  await database.connect()
})

afterEach(async () => {
  await workplace.clean()
  await upstream.close()
  await database.end()
  await testDatabase.drop()
})

test('a request of a killed process is run by another one, under the same request id, when its lease has expired', async () => {
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  const key = 'pk-dev-CrashCrashCrashCrashCrashCrashCrashCrash00'
  const program = workplace.start(['serve'], {
    environment: { ...settings, DATABASE_URL: testDatabase.connectionString, PARKWAY_BOOTSTRAP_KEY: key },
  })
  const { url } = await program.ready()
  upstream.respondWith(silence)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': 'order',
  }
  const dying = fetch(url + CHAT, { method: 'POST', headers, body: JSON.stringify(chatBody()) })
  await upstream.requestNumber(0)
  program.kill('SIGKILL')
  await expect(dying).rejects.toThrow()
  upstream.respondWith(completion())

  const gateway = await startTestGateway({ connectionString: testDatabase.connectionString, key, settings })
  try {
    const ask = () =>
      gateway.request('POST', CHAT, { body: chatBody(), headers: { 'idempotency-key': 'order' } })
    const early = await ask()
    expect([early.status, early.body.error.code]).toEqual([409, 'idempotency_in_progress'])
    const { rows } = await database.query(
      'UPDATE idempotency_keys SET lease_until = now() RETURNING request_id',
    )
    const taken = await ask()
    expect([taken.status, taken.headers.get('x-request-id')]).toEqual([200, rows[0].request_id])
    const again = await ask()
    expect([again.headers.get('idempotent-replayed'), again.body]).toEqual(['true', taken.body])
    expect(upstream.requests).toHaveLength(2)
  } finally {
    await gateway.close()
  }
})
