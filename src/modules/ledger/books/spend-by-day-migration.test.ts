import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOlderDatabase, type OlderDatabase } from '../../../storage/testing/create-older-database.ts'
import { verifyLedger } from '../ledger.ts'

const VERSION = 14
const ACCOUNT_ID = '01890000-0000-7000-8000-000000000001'
const KEY_ID = '01890000-0000-7000-8000-00000000000a'

let older: OlderDatabase

beforeAll(async () => {
  older = await createOlderDatabase(VERSION)
})

afterAll(() => older.drop())

test('what was spent before counts against the same caps, and its entries stay as they are', async () => {
  const { database } = older
  for (const statement of SPENT_BEFORE) await database.query(statement)
  await older.update()
  const [spent] = await database.query(`
    SELECT spent_under('key:${KEY_ID}') AS key, spent_under('day:${ACCOUNT_ID}:2026-10-31') AS day,
      spent_under('month:${ACCOUNT_ID}:2026-10') AS october, spent_under('month:${ACCOUNT_ID}:2026-11') AS november`)
  expect(spent).toEqual({ key: 11n, day: 3n, october: 3n, november: 8n })
  const checks = await verifyLedger(database)
  expect(checks.flatMap(({ differences }) => differences)).toEqual([])
})

/** A grant, a charge on the last day of a month, and one on the first day of the next. */
const SPENT_BEFORE = [
  `INSERT INTO accounts (id, name) VALUES ('${ACCOUNT_ID}', 'payer')`,
  `INSERT INTO credit_accounts (account_id) VALUES ('${ACCOUNT_ID}')`,
  `INSERT INTO credit_lots (id, account_id, class, granted_nano_usd, remaining_nano_usd)
   VALUES (gen_random_uuid(), '${ACCOUNT_ID}', 'paid', 100, 89)`,
  ...[
    ['2026-10-31T23:59:59Z', 3],
    ['2026-11-01T00:00:00Z', 8],
  ].flatMap(([at, cost]) => [
    `INSERT INTO usage_records (account_id, id, key_id, environment, operation, model, provider, outcome, prompt_tokens,
       cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, latency_ms, created_at)
     VALUES ('${ACCOUNT_ID}', gen_random_uuid(), '${KEY_ID}', 'live', 'chat', 'm', 'p', 'completed', 1, 0, 1, 0, ${cost}, 0, 1, '${at}')`,
    `INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests,
       prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
     VALUES ('${ACCOUNT_ID}', date_trunc('hour', timestamptz '${at}', 'UTC'), '${KEY_ID}', 'm', 'p', 'chat', 1, 'live', 1, 1, 0, 1, 0,
       ${cost}, 0)`,
  ]),
  `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd)
   VALUES ('grant', '${ACCOUNT_ID}', 'credit', 'grant', 100), ('grant', '${ACCOUNT_ID}', 'cash', 'grant', -100),
     ('charge:1', '${ACCOUNT_ID}', 'credit', 'charge', -11), ('charge:1', '${ACCOUNT_ID}', 'revenue', 'charge', 11)`,
]
