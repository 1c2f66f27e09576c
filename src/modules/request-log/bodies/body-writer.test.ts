import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { createSealer } from '../../../kernel/seal-text.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import type { BodyPolicy } from './body-policies.ts'
import { BodyWriter } from './body-writer.ts'

let drop: () => Promise<unknown>
let database: Database
let writer: BodyWriter
let accountId: string
let keyId: string
let policy: BodyPolicy | null
const dropped: string[] = []
let lastMs = Date.now()

/** Sorts after all ids before it. */
const nextId = (): string => createId((lastMs += 1))

beforeAll(async () => {
  const created = await createTestDatabase()
  drop = () => created.drop()
  database = connectDatabase({
    connectionString: created.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
})

beforeEach(async () => {
  accountId = createId()
  keyId = createId()
  policy = { isOn: true, retentionDays: 7 }
  dropped.length = 0
  await database.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [accountId, 'Ada'])
  await database.query(
    `INSERT INTO api_keys (id, account_id, name, environment, key_prefix, key_hash, scopes)
     VALUES ($1, $2, 'key', 'dev', 'pk-dev-', $3, '{inference}')`,
    [keyId, accountId, keyId],
  )
  await database.query('INSERT INTO body_policies VALUES ($1, $1, true, 7)', [accountId])
  writer = new BodyWriter({
    database,
    logger: silentLogger,
    sealer: createSealer('of this test'),
    policies: { find: () => policy },
    bodyBytesMax: 1_000,
    accountBytesMax: 10_000,
    onDropped: (reason) => dropped.push(reason),
  })
})

afterEach(() => writer.close())

afterAll(async () => {
  await database.close()
  await drop()
})

function note(request = 'question'): string {
  const id = nextId()
  const answer = [Buffer.from('answer')]
  writer.note({ id, accountId, keyId, request, answer, requestBytes: request.length, answerBytes: 6 })
  return id
}

const storedIds = async () =>
  (
    await database.query<{ id: string }>('SELECT id FROM request_bodies WHERE account_id = $1 ORDER BY id', [
      accountId,
    ])
  ).map(({ id }) => id)

test('the sweep deletes bodies whose retention has passed, and no others', async () => {
  const [old, recent] = [note(), note()]
  await writer.flush()
  expect(await storedIds()).toEqual([old, recent])
  await database.query('UPDATE request_bodies SET expires_at = now() WHERE id = $1', [old])
  await writer.sweep()
  expect(await storedIds()).toEqual([recent])
})

test('the sweep deletes bodies of revoked keys', async () => {
  note()
  await writer.flush()
  await writer.sweep()
  expect(await storedIds()).toHaveLength(1)
  await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId])
  await writer.sweep()
  expect(await storedIds()).toEqual([])
})

test('the sweep deletes the oldest bodies of an account that is full', async () => {
  const [old, recent] = [nextId(), nextId()]
  for (const id of [old, recent])
    await database.query(
      `INSERT INTO request_bodies SELECT $1, $2, $3, repeat('x', 6000)::bytea, '', 1, 1, false, false, now() + interval '1 day'`,
      [accountId, id, keyId],
    )
  note()
  await writer.flush()
  expect(dropped).toEqual(['body_account_full'])
  await writer.sweep()
  expect(await storedIds()).toEqual([recent])
  const next = note()
  await writer.flush()
  expect(await storedIds()).toEqual([recent, next])
})

test('what was queued when it was switched off is not stored', async () => {
  note()
  policy = null
  await writer.flush()
  expect(await storedIds()).toEqual([])
})

test('what another process switched off is not stored, though this one does not know yet', async () => {
  note()
  await database.query('UPDATE body_policies SET is_on = false WHERE account_id = $1', [accountId])
  await writer.flush()
  expect(await storedIds()).toEqual([])
})

test('the queue in memory is bounded; what does not fit is dropped and counted', async () => {
  const ids = Array.from({ length: 2_005 }, () => note('x'))
  expect(dropped).toEqual(Array.from({ length: 5 }, () => 'body_queue_full'))
  // What is in the queue need not be prepared and stored for this.
  policy = null
  await writer.flush()
  dropped.length = 0
  note('x'.repeat(63 * 1024 * 1024))
  note('x'.repeat(2 * 1024 * 1024))
  expect([ids.length, dropped]).toEqual([2_005, ['body_queue_full']])
})

test('a body that cannot be stored is dropped and counted', async () => {
  await database.query('ALTER TABLE request_bodies RENAME TO away')
  note()
  await writer.flush()
  expect(dropped).toEqual(['body_database'])
})
