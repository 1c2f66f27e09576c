import { afterAll, beforeAll, expect, test } from 'vitest'
import { SEALED_COLUMNS } from '../../src/app/build/list-sealed-columns.ts'
import { resealAll } from '../../src/app/commands/reseal.ts'
import { createKeyring } from '../../src/kernel/seal-text.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { forgetSealed } from '../../src/storage/installation.ts'
import { SCHEMA } from '../../src/storage/schema.ts'
import { anythingSealed, SEALED_TABLES } from '../../src/storage/sealed-tables.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const OLD = 'the key of last year'
const NEW = 'the key of this year'
const SECRET = 'sk-of-the-sealed-provider'

let upstream: OpenAiServer
let first: ChatGateway
let database: Database

beforeAll(async () => {
  upstream = await startOpenAiServer(completion())
  first = await startChatGateway({
    models: [modelEntry('sealed-model', [{ provider: 'sealed', model: 'm', priority: 0 }])],
    settings: { PARKWAY_SEALING_KEY: OLD, PARKWAY_OTHER_SEALING_KEY: NEW, PARKWAY_BODY_STORAGE: 'accounts' },
  })
  const { connectionString } = first
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
})
afterAll(async () => {
  await database.close()
  await first.close()
  await upstream.close()
})

const start = (settings: Record<string, string>) =>
  startTestGateway({
    connectionString: first.connectionString,
    settings: { PARKWAY_CATALOG_FILE: first.catalogFile, ...settings },
  })

const chat = (gateway: Pick<TestGateway, 'request'>) =>
  gateway.request('POST', CHAT, { body: chatBody({ model: 'sealed-model' }) })

const readBody = async (gateway: Pick<TestGateway, 'request'>, id: string): Promise<string> =>
  (await gateway.request('GET', `/v1/requests/${id}/body`)).body.request?.text ?? ''

test('a sealing key is replaced while requests run, and the one before is forgotten then', async () => {
  const added = await first.request('POST', '/v1/admin/providers', {
    body: {
      name: 'sealed',
      base_url: upstream.apiUrl,
      api_key: SECRET,
      headers: { 'x-secret': 'of the header' },
    },
  })
  expect([added.status, added.body.error?.message]).toEqual([201, undefined])
  const path = '/v1/body-storage'
  expect((await first.request('PATCH', path, { body: { enabled: true } })).status).toBe(200)
  const stored = (await chat(first)).headers.get('x-request-id') ?? ''
  await expect.poll(() => readBody(first, stored)).toContain('sealed-model')

  const second = await start({ PARKWAY_SEALING_KEY: NEW, PARKWAY_OTHER_SEALING_KEY: OLD })
  const load = { isOver: false }
  const statuses = new Set<number>()
  const client = async (gateway: Pick<TestGateway, 'request'>): Promise<void> => {
    while (!load.isOver) statuses.add((await chat(gateway)).status)
  }
  const clients = [first, second, first, second].map(client)
  expect(await resealAll(database, createKeyring(NEW, [OLD]))).toBe(0)
  // A process that has the new key reads what is sealed with either.
  const changed = await second.request('PATCH', '/v1/admin/providers/sealed', {
    body: { timeouts: { idle_ms: 70_000 } },
  })
  expect(changed.status).toBe(200)
  load.isOver = true
  await Promise.all(clients)
  expect([...statuses]).toEqual([200])
  await second.close()

  const last = await start({ PARKWAY_SEALING_KEY: NEW })
  expect((await chat(last)).status).toBe(200)
  expect(await readBody(last, stored)).toContain('sealed-model')
  expect(upstream.requests.at(-1)?.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    'x-secret': 'of the header',
  })
  await last.close()
  await expect(start({ PARKWAY_SEALING_KEY: OLD })).rejects.toThrow(/not the one that sealed/)
})

test('what no known key opens is told, and the key of before stays the one of the database', async () => {
  const before = await database.query('SELECT sealing_fingerprint FROM installation')
  expect(await resealAll(database, createKeyring('a third key'))).toBe(1)
  expect(await database.query('SELECT sealing_fingerprint FROM installation')).toEqual(before)
})

/** Sealed with keys of their own, or no secrets. Hashes and salts are left out by their names. */
const OTHERWISE_SEALED = [
  'idempotency_keys.answer',
  'idempotency_keys.fingerprint',
  // Generated, and only good for addresses of results that end within hours.
  'media_secret.secret',
  'offered_providers.sealed_headers',
  'offered_providers.sealed_proxy_password',
  'passkey_challenges.bound_to',
  'passkey_challenges.user_handle',
  'passkeys.credential_id',
  'passkeys.public_key',
  'passkeys.user_handle',
  'provider_credentials.sealed',
  // Hashes.
  'receipt_leaves.leaves',
]

test('every column of bytes is sealed anew with a new key, or known to be sealed otherwise', async () => {
  const columns = await database.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE data_type = 'bytea' AND table_type = 'BASE TABLE' AND column_name !~ '_(hash|salt)$'
       AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  )
  const resealed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`)
  expect(columns.map(({ name }) => name).toSorted()).toEqual([...resealed, ...OTHERWISE_SEALED].toSorted())
})

test('a restore and the loss of a key know every column that is sealed anew', () => {
  const known = SEALED_TABLES.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`))
  const resealed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`)
  expect(known.toSorted()).toEqual(resealed.toSorted())
})

test('without the key everything that it sealed can be forgotten, and nothing sealed is left', async () => {
  expect(await forgetSealed(database)).toBeGreaterThanOrEqual(2)
  expect(await database.query(`SELECT ${anythingSealed(SCHEMA)} AS is_left`)).toEqual([{ is_left: false }])
  expect(await forgetSealed(database)).toBe(0)
})
