import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createId } from '../../src/kernel/identifiers.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { fakeClock } from '../../src/kernel/testing/fake-clock.ts'
import { recordUsage } from '../../src/modules/ledger/books/record-usage.ts'
import { fillUsage } from '../../src/modules/usage/testing/fill-usage.ts'
import { createUsage, DAY_MS, type Usage } from '../../src/modules/usage/usage.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { arrangeOnce } from '../../src/storage/partitions/testing/arrange-once.ts'

/** Compares writing and reading requests in a plain table and in few and many partitions: `node bench/growth/measure-partitions.ts`. */
const OPTIONS = {
  rounds: { type: 'string', default: '40' },
  rows: { type: 'string', default: '50000' },
} as const
/** Partitions ahead, of a month each. Null: a plain table. */
const FORMS = { plain: null, '5 partitions': 2, '123 partitions': 120 }
const CHARGES = 100

const { values: options } = parseArgs({ options: OPTIONS })
const nowMs = Date.now()
const month = { fromMs: nowMs - 30 * DAY_MS + 1, toMs: nowMs - 1 }

const questions: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  [`write ${CHARGES} charges`]: ({ database, accountId }) => writeCharges(database, accountId, CHARGES),
  'write one charge': ({ database, accountId }) => writeCharges(database, accountId, 1),
  'newest records': ({ usage, accountId }) =>
    usage.listRecords({
      ...ofAccount(accountId),
      outcome: null,
      page: { limit: 20, afterId: null },
    }),
  'summary of 30 days': ({ usage, accountId }) => usage.compareTotals(ofAccount(accountId), month),
  'hours of 30 days': ({ usage, accountId }) =>
    usage.readTimeseries({ ...ofAccount(accountId), granularity: 'hour', by: null }),
}

const dataDir = await mkdtemp(join(tmpdir(), 'parkway-partitions-'))
const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
const stages: Stage[] = []
try {
  for (const [form, ahead] of Object.entries(FORMS)) stages.push(await prepare(form, ahead))
  await measure()
} finally {
  for (const { database } of stages) await database.close()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}

interface Stage {
  readonly form: string
  readonly database: Database
  readonly usage: Usage
  readonly accountId: string
}

async function prepare(form: string, ahead: number | null): Promise<Stage> {
  const url = new URL(server.connectionString)
  const admin = connectDatabase({ connectionString: url.href, poolSize: 1, statementTimeoutMs: 60_000 })
  url.pathname = `/partitions_${stages.length}`
  await admin.query(`CREATE DATABASE ${url.pathname.slice(1)}`)
  await admin.close()
  const connectionString = url.href
  await migrate({ connectionString, logger: silentLogger })
  if (ahead !== null)
    await arrangeOnce(connectionString, { tables: [{ name: 'usage_records', step: 'month', ahead }] })
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 600_000 })
  const accountId = createId()
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'measured')`, [accountId])
  await database.query('INSERT INTO credit_accounts (account_id) VALUES ($1)', [accountId])
  await fillUsage(database, {
    accountId,
    requests: Number(options.rows),
    days: 30,
    untilMs: nowMs,
    keys: 3,
    models: 4,
  })
  await database.query('VACUUM ANALYZE')
  const ledger = {
    readBalance: async () => ({ balanceNanoUsd: 0n, heldNanoUsd: 0n }),
    readBudgets: async () => [],
    readLimitingBudgets: async () => [],
    postCharges: async () => {},
  }
  const usage = createUsage({ logger: silentLogger, database, clock: fakeClock(() => nowMs), ledger })
  return { form, database, usage, accountId }
}

function ofAccount(accountId: string) {
  return { accountId, projectId: null, ownKeyId: null, range: month, filter: {} }
}

async function writeCharges(database: Database, accountId: string, count: number): Promise<void> {
  const charges = Array.from({ length: count }, () => ({
    record: {
      id: createId().replaceAll('-', ''),
      accountId,
      keyId: accountId,
      environment: 'live',
      operation: 'chat',
      model: 'gpt-5.4',
      provider: 'openai',
      outcome: 'completed' as const,
      promptTokens: 112,
      cachedTokens: 0,
      completionTokens: 24,
      reasoningTokens: 0,
      latencyMs: 900,
      firstTokenMs: 200,
      createdAtMs: Date.now(),
    },
    costNanoUsd: 31_200n,
    promotionalNanoUsd: 0n,
  }))
  await database.transaction((transaction) => recordUsage(transaction, { writer: 1, charges }))
}

/** The forms take turns, so that what else the machine does concerns all of them. */
async function measure(): Promise<void> {
  for (const [question, ask] of Object.entries(questions)) {
    const tookMs = stages.map((): number[] => [])
    for (let round = 0; round < Number(options.rounds); round += 1)
      for (const [index, stage] of stages.entries()) {
        const startMs = performance.now()
        await ask(stage)
        tookMs[index]?.push(performance.now() - startMs)
      }
    const medians = tookMs.map((times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0)
    const parts = stages.map(({ form }, index) => `${form} ${(medians[index] ?? 0).toFixed(2)} ms`)
    process.stdout.write(`${question.padEnd(22)} ${parts.join(', ')}\n`)
  }
}
