import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOlderDatabase, type OlderDatabase } from '../testing/create-older-database.ts'
import { foldStoredBytes } from './fold-stored-bytes.ts'
import { readAllStoredBytes } from './stored-bytes.ts'

const VERSION = 20
const ACCOUNT_ID = '01890000-0000-7000-8000-000000000001'
const KEPT_ID = '01890000-0000-7000-8000-00000000000a'
const DELETED_ID = '01890000-0000-7000-8000-00000000000b'

let older: OlderDatabase

beforeAll(async () => {
  older = await createOlderDatabase(VERSION)
})

afterAll(() => older.drop())

test('existing rows are counted, and so are rows that the previous release stores and deletes afterwards', async () => {
  const { database } = older
  for (const statement of STORED_BEFORE) await database.query(statement)
  await older.update()
  const counted = { media: 70, dataset: 5, task: 16, stored_response: 3, response: 0, file: 0 }
  expect(await readAllStoredBytes(database, ACCOUNT_ID)).toEqual(counted)

  await database.query('DELETE FROM media WHERE bytes = 50')
  await database.query(`UPDATE tasks SET result = '[1, 2]'`)
  await database.query('DELETE FROM idempotency_keys')
  await database.query('UPDATE compare_datasets SET deleted_at = now()')
  const changed = { media: 20, dataset: 0, task: 22, stored_response: 0, response: 0, file: 0 }
  expect(await readAllStoredBytes(database, ACCOUNT_ID)).toEqual(changed)
  await foldStoredBytes(database)
  expect(await readAllStoredBytes(database, ACCOUNT_ID)).toEqual(changed)
  expect(await database.query('SELECT FROM stored_byte_changes')).toEqual([])
  expect(await database.query('SELECT FROM compare_dataset_versions')).toEqual([])
})

const dataset = (id: string, deletedAt: string) => [
  `INSERT INTO compare_datasets (id, account_id, name, version, prompts_total, created_at, updated_at, deleted_at)
   VALUES ('${id}', '${ACCOUNT_ID}', 'Pack', 'v', 1, now(), now(), ${deletedAt})`,
  `INSERT INTO compare_dataset_versions (dataset_id, version, prompts, created_at) VALUES ('${id}', 'v', '["x"]', now())`,
]

const STORED_BEFORE = [
  `INSERT INTO accounts (id, name) VALUES ('${ACCOUNT_ID}', 'keeper')`,
  ...[20, 50, null].map(
    (
      bytes,
    ) => `INSERT INTO media (id, account_id, purpose, kind, content_type, store_key, bytes, created_at, expires_at)
     VALUES (gen_random_uuid(), '${ACCOUNT_ID}', 'result', 'image', 'image/png', 'x', ${bytes}, now(), now())`,
  ),
  `INSERT INTO idempotency_keys (account_id, key_hash, fingerprint, request_id, run_id, claimed_at, lease_until, answer, expires_at)
   VALUES ('${ACCOUNT_ID}', 'k', 'f', 'r', gen_random_uuid(), now(), now(), 'abc', now())`,
  `INSERT INTO tasks (id, account_id, key_id, environment, request_id, type, model, requested_model, work, metadata,
     expected_ms, hold_nano_usd, is_held, deadline_ms, deadline_at, created_at, updated_at, expires_at)
   VALUES (gen_random_uuid(), '${ACCOUNT_ID}', gen_random_uuid(), 'dev', 'r', 'image', 'm', 'm', '{"a": 1}', '{"b": 2}',
     1, 0, false, 1, now(), now(), now(), now())`,
  ...dataset(KEPT_ID, 'NULL'),
  ...dataset(DELETED_ID, 'now()'),
]
