import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fakeClock } from '../src/kernel/testing/fake-clock.ts'
import { createId } from '../src/kernel/identifiers.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import { fillUsage } from '../src/modules/usage/testing/fill-usage.ts'
import {
  createUsage,
  DAY_MS,
  floorDay,
  HOUR_MS,
  type GatewayDimension,
  type GroupsQuery,
  type Usage,
} from '../src/modules/usage/usage.ts'
import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import type { Database } from '../src/storage/database.ts'
import { startEmbeddedPostgres } from '../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../src/storage/migrate.ts'

/** Measures reading usage with many rows: `node bench/usage-rows.ts --rows 1000000 --keys 50 --models 10`. */
const OPTIONS = {
  rows: { type: 'string', default: '1000000' },
  days: { type: 'string', default: '30' },
  keys: { type: 'string', default: '50' },
  models: { type: 'string', default: '10' },
  accounts: { type: 'string', default: '1000' },
} as const
const ROUNDS = 15
const KEY_ID = '01890000-0000-7000-8000-000000000001'

/** Each request of the account has one of ten tags. */
const FILL_LABELS = `
  INSERT INTO usage_by_label (account_id, hour, label, key_id, model, operation, writer, requests, prompt_tokens, cached_tokens,
    cache_write_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
  SELECT account_id, hour, 'tag:team=' || hashtext(key_id::text || model) % 5 + 5, key_id, model, operation, writer, sum(requests),
    sum(prompt_tokens), sum(cached_tokens), 0, sum(completion_tokens), sum(reasoning_tokens), sum(cost_nano_usd), 0
  FROM usage_rollups WHERE account_id = $1 GROUP BY 1, 2, 3, 4, 5, 6, 7`

const NO_BUCKET_FILTER = {
  projectIds: null,
  ownerIds: null,
  keyIds: null,
  models: null,
  operations: null,
  labels: null,
}

const { values: options } = parseArgs({ options: OPTIONS })
const nowMs = Date.now()
const dataDir = await mkdtemp(join(tmpdir(), 'parkway-usage-'))
const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
try {
  await migrate({ connectionString: server.connectionString, logger: silentLogger })
  const database = connectDatabase({
    connectionString: server.connectionString,
    poolSize: 4,
    statementTimeoutMs: 600_000,
  })
  try {
    await measure(database)
  } finally {
    await database.close()
  }
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}

async function measure(database: Database): Promise<void> {
  const accountId = await fill(database)
  const [sizes] = await database.query<{ records: string; rollups: string; count: bigint }>(
    `SELECT pg_size_pretty(pg_total_relation_size('usage_records')) AS records,
      pg_size_pretty(pg_total_relation_size('usage_rollups')) AS rollups, (SELECT count(*) FROM usage_rollups) AS count`,
  )
  print(`${options.rows} requests, ${sizes?.records}; ${sizes?.count} rollups, ${sizes?.rollups}`)
  const usage = createUsage({
    logger: silentLogger,
    database,
    clock: fakeClock(() => nowMs),
    ledger: {
      readBalance: async () => ({ balanceNanoUsd: 0n, heldNanoUsd: 0n }),
      readBudgets: async () => [],
      readLimitingBudgets: async () => [],
      postCharges: async () => {},
    },
  })
  for (const [name, ask] of Object.entries(questions(accountId))) {
    const tookMs: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const startMs = performance.now()
      await ask(usage)
      tookMs.push(performance.now() - startMs)
    }
    const sorted = tookMs.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(ROUNDS / 2)] ?? 0
    print(`${name.padEnd(44)} median ${median.toFixed(1)} ms, slowest ${(sorted.at(-1) ?? 0).toFixed(1)} ms`)
  }
}

/** Inserts one account with most of the rows, and many accounts with a few each. */
async function fill(database: Database): Promise<string> {
  const shared = { days: Number(options.days), untilMs: nowMs }
  const accountId = createId()
  await addAccount(database, accountId)
  await fillUsage(database, {
    ...shared,
    accountId,
    requests: Number(options.rows),
    keys: Number(options.keys),
    models: Number(options.models),
  })
  for (let index = 0; index < Number(options.accounts); index += 1) {
    const otherId = createId()
    await addAccount(database, otherId)
    await fillUsage(database, { ...shared, accountId: otherId, requests: 10, keys: 1, models: 1 })
  }
  await database.query(FILL_LABELS, [accountId])
  await database.query('VACUUM ANALYZE')
  return accountId
}

function questions(accountId: string): Record<string, (usage: Usage) => Promise<unknown>> {
  const reader = { accountId, projectId: null, ownKeyId: null }
  const range = { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs, isUntilNow: true }
  const day = { fromMs: nowMs - DAY_MS, toMs: nowMs, isUntilNow: true }
  const page = { limit: 20, afterId: null }
  const filter = {}
  const records = { ...reader, range: { fromMs: 0, toMs: nowMs + 1 }, outcome: null, page }
  const days = { fromMs: floorDay(nowMs) - 30 * DAY_MS, toMs: floorDay(nowMs) + DAY_MS }
  const ofGateway = (by: GatewayDimension): GroupsQuery => ({
    range,
    previousRange: { fromMs: range.fromMs - 30 * DAY_MS, toMs: range.fromMs },
    by,
    tagName: null,
    accountId: null,
    filter,
    regions: new Map(),
    order: 'cost',
    limit: 20,
  })
  const costs = { ...reader, range: days, width: '1d', tagName: null, filter: NO_BUCKET_FILTER } as const
  return {
    'costs 31 days': (usage) => usage.readBuckets({ ...costs, groupBy: new Set() }),
    'costs 31 days by project and line item': (usage) =>
      usage.readBuckets({ ...costs, groupBy: new Set(['project', 'operation', 'model']) }),
    'costs 31 days by key and person': (usage) =>
      usage.readBuckets({ ...costs, groupBy: new Set(['key', 'owner']) }),
    'costs 31 days by a tag': (usage) =>
      usage.readBuckets({ ...costs, groupBy: new Set(['tag']), tagName: 'team' }),
    'costs 31 days of one tag': (usage) =>
      usage.readBuckets({
        ...costs,
        groupBy: new Set(),
        filter: { ...NO_BUCKET_FILTER, labels: ['tag:team=1'] },
      }),
    'usage 24 hours by model': (usage) =>
      usage.readBuckets({
        ...costs,
        width: '1h',
        range: { fromMs: floorDay(nowMs) - DAY_MS, toMs: floorDay(nowMs) },
        groupBy: new Set(['model']),
      }),
    'usage 60 minutes by model': (usage) =>
      usage.readBuckets({
        ...costs,
        width: '1m',
        range: { fromMs: floorDay(nowMs) - HOUR_MS, toMs: floorDay(nowMs) },
        groupBy: new Set(['model']),
      }),
    'timeseries 30 days by hour': (usage) =>
      usage.readTimeseries({ ...reader, range, granularity: 'hour', by: null, filter }),
    'timeseries 30 days by day': (usage) =>
      usage.readTimeseries({ ...reader, range, granularity: 'day', by: null, filter }),
    'timeseries 30 days by hour and model': (usage) =>
      usage.readTimeseries({ ...reader, range, granularity: 'hour', by: 'model', filter }),
    'timeseries 30 days by hour of one key': (usage) =>
      usage.readTimeseries({ ...reader, range, granularity: 'hour', by: null, filter: { keyId: KEY_ID } }),
    'timeseries 24 hours by hour': (usage) =>
      usage.readTimeseries({ ...reader, range: day, granularity: 'hour', by: null, filter }),
    'summary 30 days and the 30 before': (usage) =>
      usage.compareTotals({ ...reader, range }, { fromMs: range.fromMs - 30 * DAY_MS, toMs: range.fromMs }),
    'spending 30 days by key': (usage) =>
      usage.readSpending({ ...reader, range, by: 'key', filter, limit: 20 }),
    'usage of all accounts, 30 days and before': (usage) => usage.ofGateway.read(ofGateway('account')),
    'usage of all accounts by provider': (usage) => usage.ofGateway.read(ofGateway('provider')),
    'usage of all accounts by key': (usage) => usage.ofGateway.read(ofGateway('key')),
    'timeseries of all accounts by day and model': (usage) =>
      usage.ofGateway.readTimeseries({ ...ofGateway('model'), granularity: 'day' }),
    budget: (usage) => usage.readBudget({ ...reader, subjects: [] }),
    'records, newest': (usage) => usage.listRecords({ ...records, filter }),
    'records of a model': (usage) => usage.listRecords({ ...records, filter: { model: 'model-1' } }),
    'records of a model that was never used': (usage) =>
      usage.listRecords({ ...records, filter: { model: 'nothing' } }),
    'records that failed, of which there are none': (usage) =>
      usage.listRecords({ ...records, filter, outcome: 'failed' }),
  }
}

async function addAccount(database: Database, id: string): Promise<void> {
  await database.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [id, id])
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
