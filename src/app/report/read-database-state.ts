import { setTimeout as delay } from 'node:timers/promises'
import { listSinks } from '../../modules/exports/exports.ts'
import type { Database } from '../../storage/database.ts'
import type { DatabaseState } from '../../telemetry/state-metrics.ts'

/** Scrapes share what was read within this time, however many of them there are. */
const FRESH_MS = 15_000
/** What takes longer to read changes slowly. */
const SLOW_FRESH_MS = 300_000
/** A scrape is not kept waiting by a database that does not answer. */
const WAIT_MS = 2_000
/** More are not counted exactly. */
const COUNTED_MAX = 10_000
const NANO = 1e9

/** Returns a function that reads what only the database knows, for the metrics. It returns null if the database is away. */
export function createDatabaseStateReader(
  database: Pick<Database, 'query' | 'ping'>,
): () => Promise<DatabaseState | null> {
  const readSlow = keepFor(SLOW_FRESH_MS, () => readSlowState(database))
  const read = keepFor(FRESH_MS, async (): Promise<DatabaseState> => {
    const startedMs = performance.now()
    await database.ping()
    const pingSeconds = (performance.now() - startedMs) / 1e3
    const [[row], slow, exports] = await Promise.all([
      database.query<StateRow>(STATE, [COUNTED_MAX]),
      readSlow(),
      listSinks(database),
    ])
    if (row === undefined) throw new Error('the database returned no state')
    return {
      ...slow,
      pingSeconds,
      connections: Number(row.connections),
      connectionsMax: row.connections_max,
      longestTransactionSeconds: Number(row.transaction_seconds),
      replicationLagBytes: row.lag_bytes === null ? null : Number(row.lag_bytes),
      unpostedCommits: Number(row.unposted),
      refusedCommits: Number(row.refused),
      tasks: { pending: Number(row.pending), processing: Number(row.processing) },
      oldestPendingTaskSeconds: Number(row.oldest_seconds),
      debtUsd: Number(row.debt) / NANO,
      exports,
      ledgerCheck:
        row.checked_seconds === null
          ? null
          : { differences: Number(row.differences), checkedAtSeconds: Number(row.checked_seconds) },
    }
  })
  return async () => {
    const waited = new AbortController()
    const late = delay(WAIT_MS, null, { signal: waited.signal, ref: false }).catch(() => null)
    try {
      return await Promise.race([read().catch(() => null), late])
    } finally {
      waited.abort()
    }
  }
}

/** Shares one run among callers, and its result for a time. A failure is not kept. */
function keepFor<Result>(freshMs: number, read: () => Promise<Result>): () => Promise<Result> {
  let kept: { readonly result: Promise<Result>; readonly atMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (kept !== null && nowMs - kept.atMs < freshMs) return kept.result
    const result = read()
    const mine = { result, atMs: nowMs }
    kept = mine
    result.catch(() => {
      if (kept === mine) kept = null
    })
    return result
  }
}

type SlowState = Pick<DatabaseState, 'bytes' | 'deployments' | 'gpus' | 'storedBytes' | 'expiringKeys'>

async function readSlowState(database: Pick<Database, 'query'>): Promise<SlowState> {
  const [[row], deployments, gpus, stored] = await Promise.all([
    database.query<{ bytes: bigint; expiring: bigint }>(SLOW, [COUNTED_MAX]),
    database.query<Count>(DEPLOYMENTS),
    database.query<Count & { price: string }>(GPUS),
    database.query<Count>(STORED),
  ])
  return {
    bytes: Number(row?.bytes ?? 0),
    expiringKeys: Number(row?.expiring ?? 0),
    deployments: toMap(deployments),
    gpus: new Map(
      gpus.map(({ label, count, price }) => [
        label,
        { count: Number(count), usdPerHour: Number(price) / NANO },
      ]),
    ),
    storedBytes: toMap(stored),
  }
}

interface Count {
  readonly label: string
  readonly count: bigint | string
}

function toMap(counts: readonly Count[]): Map<string, number> {
  return new Map(counts.map(({ label, count }) => [label, Number(count)]))
}

interface StateRow {
  readonly connections: bigint
  readonly connections_max: number
  readonly transaction_seconds: string
  readonly lag_bytes: string | null
  readonly unposted: bigint
  readonly refused: bigint
  readonly pending: bigint
  readonly processing: bigint
  readonly oldest_seconds: string
  readonly debt: bigint | string
  readonly checked_seconds: string | null
  readonly differences: number | null
}

const STATE = `
  SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
    current_setting('max_connections')::int AS connections_max,
    (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::text FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()) AS transaction_seconds,
    (SELECT max(pg_wal_lsn_diff(sent_lsn, replay_lsn))::text FROM pg_stat_replication) AS lag_bytes,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal LIMIT $1) AS commits) AS unposted,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal WHERE refusal IS NOT NULL LIMIT $1) AS commits) AS refused,
    (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE status = 'pending' LIMIT $1) AS waiting) AS pending,
    (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE status = 'processing' LIMIT $1) AS worked) AS processing,
    (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::text FROM (SELECT created_at FROM tasks
      WHERE status = 'pending' LIMIT $1) AS waiting) AS oldest_seconds,
    (SELECT coalesce(sum(debt_nano_usd), 0)::text FROM (SELECT debt_nano_usd FROM credit_accounts
      WHERE debt_nano_usd > 0 LIMIT $1) AS owing) AS debt,
    (SELECT extract(epoch FROM checked_at)::text FROM ledger_check) AS checked_seconds,
    (SELECT differences FROM ledger_check) AS differences`

const SLOW = `
  SELECT pg_database_size(current_database()) AS bytes,
    (SELECT count(*) FROM (SELECT 1 FROM api_keys WHERE revoked_at IS NULL
      AND expires_at BETWEEN now() AND now() + interval '7 days' AND created_at < now() - interval '1 day'
      AND last_used_at > now() - interval '7 days' LIMIT $1) AS ending) AS expiring`

const DEPLOYMENTS = `SELECT status AS label, count(*) AS count FROM deployments WHERE status <> 'deleted' GROUP BY 1`

const GPUS = `
  SELECT gpu_tier AS label, count(*) AS count, sum(deployment_runs.price_per_hour_nano_usd)::text AS price
  FROM deployment_runs JOIN deployments ON deployments.id = deployment_id
  WHERE bound_at IS NOT NULL AND released_at IS NULL GROUP BY 1`

const STORED = 'SELECT kind AS label, sum(bytes)::text AS count FROM stored_bytes GROUP BY 1'
