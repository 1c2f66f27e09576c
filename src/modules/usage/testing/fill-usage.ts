import type { Queryable } from '../../../storage/database.ts'

export interface UsageFilling {
  readonly accountId: string
  readonly requests: number
  /** Spread evenly over this many days up to `untilMs`. */
  readonly days: number
  readonly untilMs: number
  readonly keys: number
  readonly models: number
}

/** Creates many requests of an account and their rollups inside the database. */
export async function fillUsage(queryable: Queryable, filling: UsageFilling): Promise<void> {
  const { accountId, requests, days, untilMs, keys, models } = filling
  await queryable.query(FILL_RECORDS, [accountId, requests, days * 86_400_000, untilMs, keys, models])
  await queryable.query(FILL_ROLLUPS, [accountId])
}

// Uses a hash of the number instead of random values, so that every run has the same rows.
const FILL_RECORDS = `
  INSERT INTO usage_records (account_id, id, key_id, environment, operation, model, provider, outcome, prompt_tokens,
    cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, latency_ms, first_token_ms,
    created_at)
  SELECT $1, (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
    ('01890000-0000-7000-8000-' || lpad(to_hex(pick % $5::int), 12, '0'))::uuid, 'live', 'chat',
    'model-' || (pick / 7 % $6::int), 'provider-' || (pick / 7 % $6::int % 4), 'completed', 1000, 200, 300, 50, 2500000,
    0, 900, 120, to_timestamp(ms / 1000.0)
  FROM generate_series(1, $2::bigint) AS n
  CROSS JOIN LATERAL (SELECT md5(n::text) AS hash) AS hashed
  CROSS JOIN LATERAL (
    SELECT $4::bigint - $3::bigint + n * $3::bigint / ($2::bigint + 1) AS ms,
      ('x' || substr(hash, 20, 7))::bit(28)::int AS pick
  ) AS made`

const FILL_ROLLUPS = `
  INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests,
    prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
  SELECT account_id, date_trunc('hour', created_at, 'UTC'), key_id, model, provider, operation, 1, min(environment),
    count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens), sum(cost_nano_usd),
    sum(promotional_nano_usd)
  FROM usage_records WHERE account_id = $1 GROUP BY 1, 2, 3, 4, 5, 6`
