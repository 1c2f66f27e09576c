import type { Database } from '../../src/storage/database.ts'
import { ACCOUNT_ID, IS_SEEDED, KEY_ID } from './seed-accounts.ts'

const DAYS = 10
/** A writer that no longer exists, so that no process adds to its sums. */
const WRITER = 30_000

/** Inserts past requests of all accounts, at one hour of each day, with all rows that a charge writes. */
export async function seedUsage(
  database: Database,
  { rows, accounts }: { rows: number; accounts: number },
): Promise<void> {
  if (rows === 0) return
  await database.transaction(async (transaction) => {
    await transaction.query("SET LOCAL work_mem = '256MB'")
    await transaction.query(SEED_RECORDS, [rows, accounts, DAYS])
    await transaction.query(SEED_ROLLUPS, [WRITER])
    await transaction.query(SEED_TOTALS, [WRITER])
    await transaction.query(SEED_ENTRIES)
    await transaction.query(SPEND_LOTS)
  })
}

const FILLED_TABLES = [
  'accounts',
  'api_keys',
  'credit_accounts',
  'credit_lots',
  'ledger_entries',
  'usage_records',
  'usage_rollups',
  'spend_by_day',
]

/** Runs the maintenance that the inserts cause, so that it does not happen during the measurement. */
export async function tidyTables(database: Database): Promise<void> {
  // Only the filled tables: for a table that was empty when analysed, the planner assumes few rows even while it grows.
  await database.query(`VACUUM ANALYZE ${FILLED_TABLES.join(', ')}`)
  await database.query('CHECKPOINT')
}

// A hash of the number instead of a random value, so that every run has the same rows.
const SEED_RECORDS = `
  INSERT INTO usage_records (account_id, id, key_id, environment, operation, model, provider, outcome, prompt_tokens,
    cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, latency_ms, created_at)
  SELECT ${ACCOUNT_ID('n % $2::int')},
    (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
    ${KEY_ID('n % $2::int')}, 'live', 'chat', 'gpt-4o-mini', 'openai', 'completed', 112, 0, 24, 0, 31200, 0, 900,
    to_timestamp(ms / 1000.0)
  FROM (SELECT extract(epoch FROM date_trunc('hour', now(), 'UTC'))::bigint * 1000 AS this_hour_ms) AS times,
    generate_series(0, $1::bigint - 1) AS n
  CROSS JOIN LATERAL (
    SELECT md5(n::text) AS hash,
      this_hour_ms - (1 + n / $2::int % $3::int) * 86400000 + n * 3600000 / $1::bigint AS ms
  ) AS made`

const SEED_ROLLUPS = `
  INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests,
    prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
  SELECT account_id, date_trunc('hour', created_at, 'UTC'), key_id, model, provider, operation, $1::smallint,
    min(environment), count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens),
    sum(cost_nano_usd), sum(promotional_nano_usd)
  FROM usage_records WHERE ${IS_SEEDED} GROUP BY 1, 2, 3, 4, 5, 6`

const SEED_TOTALS = `
  INSERT INTO spend_by_day (account_id, day, key_id, writer, spent_nano_usd)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, key_id, $1::smallint, sum(cost_nano_usd)
  FROM usage_records WHERE ${IS_SEEDED} GROUP BY 1, 2, 3`

// One pair of entries per account and day. A running gateway writes one for each commit.
const SEED_ENTRIES = `
  INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, created_at)
  SELECT format('charge:grown:%s:%s', account_id, day), account_id, book, 'charge', sign * cost, day
  FROM (
    SELECT account_id, date_trunc('day', created_at, 'UTC') AS day, sum(cost_nano_usd) AS cost
    FROM usage_records WHERE ${IS_SEEDED} GROUP BY 1, 2
  ) AS days CROSS JOIN (VALUES ('credit', -1), ('revenue', 1)) AS sides (book, sign)`

const SPEND_LOTS = `
  UPDATE credit_lots SET remaining_nano_usd = granted_nano_usd - cost
  FROM (
    SELECT account_id, sum(cost_nano_usd) AS cost FROM usage_records WHERE ${IS_SEEDED} GROUP BY account_id
  ) AS spent
  WHERE credit_lots.account_id = spent.account_id`
