import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createId } from '../../src/kernel/identifiers.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { recordUsage } from '../../src/modules/ledger/books/record-usage.ts'
import type { Charge } from '../../src/modules/ledger/books/usage-record.ts'
import { archiveMonth } from '../../src/storage/archive/archive-month.ts'
import { openArchiveStore } from '../../src/storage/archive/archive-store.ts'
import { ARCHIVED_USAGE } from '../../src/storage/archive/archived-tables.ts'
import { monthAt } from '../../src/storage/archive/month.ts'
import { listParts } from '../../src/storage/archive/stored-archives.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'

/** Measures the bytes on disk that a request takes, by table, index and column, and in an archive: `node bench/growth/measure-disk.ts`. */
const OPTIONS = {
  requests: { type: 'string', default: '100000' },
  accounts: { type: 'string', default: '100' },
  days: { type: 'string', default: '3' },
} as const
const BATCH = 1_000
const DAY_MS = 86_400_000
const MODELS = [
  { model: 'gpt-5.4', provider: 'openai' },
  { model: 'claude-sonnet-5', provider: 'anthropic' },
  { model: 'gemini-3-flash', provider: 'google' },
]
/** As a request of one attempt leaves them. */
const DETAILS = '1;s;;;;++0+251'
const PRICE_VERSION = 'f3a1c09e7d52b468'

const RELATIONS = `
  SELECT relname AS name, pg_relation_size(pg_class.oid) AS bytes FROM pg_class
  WHERE relnamespace = 'parkway'::regnamespace AND relkind IN ('r', 'i') ORDER BY bytes DESC`

const COLUMNS = `
  SELECT attname AS name, avg_width::integer AS bytes FROM pg_stats
  WHERE schemaname = 'parkway' AND tablename = 'usage_records' AND null_frac < 1 ORDER BY bytes DESC, name`

const { values } = parseArgs({ options: OPTIONS })
const requests = Number(values.requests)
const accounts = Number(values.accounts)
const dataDir = await mkdtemp(join(tmpdir(), 'parkway-disk-'))
const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
try {
  await migrate({ connectionString: server.connectionString, logger: silentLogger })
  const database = connectDatabase({
    connectionString: server.connectionString,
    poolSize: 1,
    statementTimeoutMs: 600_000,
  })
  await fill(database)
  await report(database)
  await measureArchive(database)
  await database.close()
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}

/** Writes charges in batches of some moments each, like commits do, of accounts in turns. */
async function fill(database: Database): Promise<void> {
  const owners = Array.from({ length: accounts }, () => ({ id: createId(), keys: [createId(), createId()] }))
  const startMs = Date.now() - Number(values.days) * DAY_MS
  const stepMs = (Number(values.days) * DAY_MS) / requests
  for (let first = 0; first < requests; first += BATCH) {
    const charges = Array.from({ length: Math.min(BATCH, requests - first) }, (_, index) =>
      chargeOf(owners, first + index, Math.floor(startMs + (first + index) * stepMs)),
    )
    await database.transaction((transaction) => recordUsage(transaction, { writer: 1, charges }))
  }
  await database.query('VACUUM ANALYZE')
}

function chargeOf(
  owners: readonly { id: string; keys: readonly string[] }[],
  number: number,
  createdAtMs: number,
): Charge {
  const owner = owners[number % owners.length]
  const made = MODELS[number % MODELS.length]
  if (owner === undefined || made === undefined) throw new Error('at least one account is needed')
  return {
    record: {
      id: createId(createdAtMs).replaceAll('-', ''),
      accountId: owner.id,
      keyId: owner.keys[number % owner.keys.length] ?? owner.id,
      environment: 'live',
      operation: 'chat',
      ...made,
      outcome: 'completed',
      promptTokens: 112 + (number % 900),
      cachedTokens: 0,
      completionTokens: 24 + (number % 400),
      reasoningTokens: 0,
      latencyMs: 900 + (number % 1000),
      firstTokenMs: 200,
      createdAtMs,
      details: DETAILS,
      priceVersion: PRICE_VERSION,
      counted: '1',
    },
    costNanoUsd: 31_200n,
    promotionalNanoUsd: 0n,
  }
}

async function report(database: Database): Promise<void> {
  const relations = await database.query<{ name: string; bytes: bigint }>(RELATIONS)
  print('relation                                     bytes a request')
  for (const { name, bytes } of relations)
    if (Number(bytes) / requests >= 0.1) print(`${name.padEnd(44)} ${(Number(bytes) / requests).toFixed(1)}`)
  const total = relations.reduce((sum, { bytes }) => sum + Number(bytes), 0)
  print(`${'all'.padEnd(44)} ${(total / requests).toFixed(1)}`)
  print('\ncolumn of usage_records                      average bytes')
  for (const { name, bytes } of await database.query<{ name: string; bytes: number }>(COLUMNS))
    print(`${name.padEnd(44)} ${bytes}`)
}

/** Archives the months of all requests, closed or not, without rests. */
async function measureArchive(database: Database): Promise<void> {
  const store = openArchiveStore({ directory: join(dataDir, 'archive') })
  const startMs = Date.now() - Number(values.days) * DAY_MS
  const months = [monthAt(startMs), monthAt(Date.now())]
  let [rows, bytes] = [0, 0]
  const startedMs = performance.now()
  for (const month of new Map(months.map((known) => [known.name, known])).values()) {
    const archive = await archiveMonth({ database, store, rest: async () => {} }, ARCHIVED_USAGE, month)
    for (const part of await listParts(database, archive.id)) {
      rows += part.rows
      bytes += part.bytes
    }
  }
  const seconds = (performance.now() - startedMs) / 1000
  print('\narchive')
  print(`${'bytes a row'.padEnd(44)} ${(bytes / rows).toFixed(1)}`)
  print(`${'rows a second'.padEnd(44)} ${Math.round(rows / seconds)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
