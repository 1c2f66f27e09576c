import type { Queryable } from '../../src/storage/database.ts'
import { ACCOUNT_ID, KEY_ID } from '../growth/seed-accounts.ts'

/** Inserts running deployments on simulated GPUs, spread over the accounts of `seedAccounts`. Looks and charges are spread over time. */
export async function seedDeployments(
  database: Queryable,
  { deployments, accounts }: { readonly deployments: number; readonly accounts: number },
): Promise<void> {
  await database.query(SEED, [deployments, accounts])
}

const COLUMNS = `(id, account_id, key_id, environment, name, huggingface_id, gpu_tier, driver, quantization, idle_timeout_minutes,
    price_per_hour_nano_usd, desired_state, status, endpoint, progress, attempt, created_at, started_at, next_look_at)`

const SEED = `
  WITH numbers AS (
    SELECT n, gen_random_uuid() AS id, gen_random_uuid() AS run_id, ${ACCOUNT_ID('n % $2::int')} AS account_id,
      ${KEY_ID('n % $2::int')} AS key_id, now() - random() * interval '120 seconds' AS since
    FROM generate_series(0, $1::int - 1) AS n
  ), deployment AS (
    INSERT INTO deployments ${COLUMNS}
    SELECT id, account_id, key_id, 'dev', 'Seeded', 'Qwen/Qwen3-8B', 'l4_24gb', 'sandbox', 'auto', 15, 800000000, 'running', 'running',
      'sandbox:', 100, 1, since, since, now() + random() * interval '30 seconds' FROM numbers
    RETURNING id
  ), machine AS (
    INSERT INTO sandbox_machines (instance_id, tier_id, huggingface_id, launched_at)
    SELECT run_id, 'l4_24gb', 'Qwen/Qwen3-8B', since - interval '120 seconds' FROM numbers
  )
  INSERT INTO deployment_runs (id, deployment_id, account_id, price_per_hour_nano_usd, created_at, launched_at, bound_at, ready_at)
  SELECT run_id, id, account_id, 800000000, since, since, since, since FROM numbers JOIN deployment USING (id)`

/** Inserts one running deployment of the first account, whose engine is at this address and which no reconciler looks at. */
export async function seedEngine(database: Queryable, endpoint: string): Promise<string> {
  const [row] = await database.query<{ id: string }>(SEED_ENGINE, [endpoint])
  if (row === undefined) throw new Error('there is no key to make a deployment for')
  return row.id
}

const SEED_ENGINE = `
  INSERT INTO deployments ${COLUMNS}
  SELECT gen_random_uuid(), account_id, id, environment, 'Mock', 'mock/mock', 'cpu_local', 'local', 'auto', 0, 0, 'running', 'running', $1,
    100, 1, now(), now(), NULL
  FROM api_keys ORDER BY id LIMIT 1 RETURNING id`

/** Ends all looks at deployments. Returns how many usage rows they have made. */
export async function forgetDeployments(database: Queryable): Promise<number> {
  await database.query('UPDATE deployments SET next_look_at = NULL')
  const [row] = await database.query<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM usage_records WHERE operation = 'gpu'`,
  )
  return row?.rows ?? 0
}
