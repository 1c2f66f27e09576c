import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { silentLogger } from '../src/kernel/logger.ts'
import { sumGatewayDays } from '../src/modules/usage/sums/sum-gateway-days.ts'
import { readGatewayTimeseries, readGatewayUsage } from '../src/modules/usage/gateway/read-gateway-usage.ts'
import { DAY_MS, floorDay, type GatewayDimension } from '../src/modules/usage/usage.ts'
import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import type { Database } from '../src/storage/database.ts'
import { startEmbeddedPostgres } from '../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../src/storage/migrate.ts'
import { seedAccounts, ACCOUNT_ID, KEY_ID } from './growth/seed-accounts.ts'

/**
 * Measures the usage of all accounts with the rollups and histograms that many requests leave, without and with the sums of days:
 * `node bench/gateway-usage.ts --accounts 10000 --requests 20000000 --days 60`.
 */
const OPTIONS = {
  accounts: { type: 'string', default: '10000' },
  requests: { type: 'string', default: '20000000' },
  days: { type: 'string', default: '60' },
} as const
const ROUNDS = 7
/** Of each account and day, with two models. */
const ACTIVE_HOURS = 6

const FILL_DAY = `
  INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests,
    prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
  SELECT ${ACCOUNT_ID('n')}, $1::timestamptz + (n * 7 + hour * 3) % 24 * interval '1 hour', ${KEY_ID('n')},
    'model-' || (n + model * 3) % 20, 'provider-' || (n + model * 3) % 5, 'chat', 1, 'live', $3::bigint,
    $3::bigint * 112, 0, $3::bigint * 24, 0, $3::bigint * (31200 + n % 97), 0
  FROM generate_series(0, $2::int - 1) AS n, generate_series(1, $4::int) AS hour, generate_series(0, 1) AS model
  ON CONFLICT DO NOTHING`

/** Eight durations each, as requests of one hour usually have. */
const FILL_LATENCIES = `
  INSERT INTO latency_rollups
  SELECT account_id, hour, key_id, model, provider, operation, environment,
    ARRAY(SELECT (bucket::bigint << 32) + 1 FROM generate_series(60, 67) AS bucket),
    ARRAY(SELECT (bucket::bigint << 32) + 1 FROM generate_series(50, 53) AS bucket)
  FROM usage_rollups WHERE hour >= now() - interval '45 days'`

const { values: options } = parseArgs({ options: OPTIONS })
const [accounts, requests, days] = [
  Number(options.accounts),
  Number(options.requests),
  Number(options.days),
] as const
const nowMs = Date.now()
const dataDir = await mkdtemp(join(tmpdir(), 'parkway-gateway-usage-'))
const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
try {
  await migrate({ connectionString: server.connectionString, logger: silentLogger })
  const database = connectDatabase({
    connectionString: server.connectionString,
    poolSize: 4,
    statementTimeoutMs: 900_000,
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
  await seedAccounts(database, accounts)
  const perRow = Math.max(1, Math.round(requests / (accounts * days * ACTIVE_HOURS * 2)))
  const firstDay = new Date(floorDay(nowMs) - (days - 1) * DAY_MS)
  for (let day = 0; day < days; day += 1)
    await database.query(FILL_DAY, [
      new Date(firstDay.getTime() + day * DAY_MS),
      accounts,
      perRow,
      ACTIVE_HOURS,
    ])
  await database.query(FILL_LATENCIES)
  await database.query('VACUUM ANALYZE')
  const [sizes] = await database.query<{ rollups: string; count: bigint; requests: bigint }>(
    `SELECT pg_size_pretty(pg_total_relation_size('usage_rollups')) AS rollups, count(*) AS count, sum(requests)::bigint AS requests
     FROM usage_rollups`,
  )
  print(
    `${accounts} accounts, ${sizes?.requests} requests in ${days} days: ${sizes?.count} rollups, ${sizes?.rollups}`,
  )
  await ask(database, 'without sums of days')
  const startMs = performance.now()
  await sumGatewayDays({ database, untilMs: floorDay(nowMs), isStopped: () => false })
  const seconds = (performance.now() - startMs) / 1000
  await database.query('VACUUM ANALYZE gateway_usage_days, gateway_latency_days')
  const [sums] = await database.query<{ size: string; latencies: string }>(
    `SELECT pg_size_pretty(pg_total_relation_size('gateway_usage_days')) AS size,
       pg_size_pretty(pg_total_relation_size('gateway_latency_days')) AS latencies`,
  )
  print(`added up in ${seconds.toFixed(1)} s: ${sums?.size}, and ${sums?.latencies} of durations`)
  await ask(database, 'with sums of days')
}

async function ask(database: Database, state: string): Promise<void> {
  const range = { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs, isUntilNow: true }
  const shared = { tagName: null, accountId: null, filter: {}, regions: new Map<string, string>(), range }
  const previousRange = { fromMs: nowMs - 60 * DAY_MS, toMs: range.fromMs }
  const groups = (by: GatewayDimension) => () =>
    readGatewayUsage(database, { ...shared, previousRange, by, order: 'cost', limit: 100 })
  const questions: Record<string, () => Promise<unknown>> = {
    'by account': groups('account'),
    'by model': groups('model'),
    'by provider': groups('provider'),
    'by key': groups('key'),
    'by day and model': () => readGatewayTimeseries(database, { ...shared, by: 'model', granularity: 'day' }),
  }
  print(state)
  for (const [name, question] of Object.entries(questions)) {
    const tookMs: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const startMs = performance.now()
      await question()
      tookMs.push(performance.now() - startMs)
    }
    const sorted = tookMs.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(ROUNDS / 2)] ?? 0
    print(
      `  ${name.padEnd(20)} median ${median.toFixed(0)} ms, slowest ${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
    )
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
