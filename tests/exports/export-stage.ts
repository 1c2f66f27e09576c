import { createBorrower, type Borrower } from '../../src/storage/borrowing/borrower.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database, Queryable } from '../../src/storage/database.ts'
import { queueForExport } from '../../src/storage/export-queue/queue-for-export.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { createExporter, listSinks, reclaimSinks, type SinkState } from '../../src/modules/exports/exports.ts'
import { writeUsage } from '../../src/modules/usage/testing/write-usage.ts'
import type { ExportSink } from '../../src/exports/export-sink.ts'

export interface ExportStage {
  readonly database: Database
  readonly connectionString: string
  /** Writes requests of accounts in one transaction, and queues them as a posting does. Returns their ids. */
  write(accountIds: readonly string[], within?: (transaction: Queryable) => Promise<void>): Promise<string[]>
  /** Makes sinks known, as if they had been in the settings for long. */
  register(...names: readonly string[]): Promise<void>
  start(sinks: Readonly<Record<string, () => ExportSink>>, logger?: Logger): Promise<RunningExporter>
  state(name: string): Promise<SinkState>
  close(): Promise<void>
}

export interface RunningExporter {
  readonly counts: ReadonlyMap<string, number>
  close(): Promise<void>
}

const LEASE_MS = 3_000
/** Shorter than usual, so that failures are tried again soon. */
const QUICK = { pollMs: 20, firstPauseMs: 5, pauseMsMax: 50, deliverMsMax: 1_500 }

export async function createExportStage(): Promise<ExportStage> {
  const created = await createTestDatabase()
  const { connectionString } = created
  const database = connectDatabase({ connectionString, poolSize: 12, statementTimeoutMs: 30_000 })
  const started: RunningExporter[] = []
  return {
    database,
    connectionString,
    write: (accountIds, within) => writeQueued(database, accountIds, within),
    register: async (...names) => {
      await database.query(
        `INSERT INTO export_sinks (name, position) SELECT name, 0 FROM unnest($1::text[]) AS name`,
        [names],
      )
    },
    start: async (sinks, logger = silentLogger) => {
      const running = await startExporter(database, sinks, logger)
      started.push(running)
      return running
    },
    state: async (name) => {
      const found = (await listSinks(database)).find((sink) => sink.name === name)
      if (found === undefined) throw new Error(`there is no sink ${name}`)
      return found
    },
    close: async () => {
      for (const running of started) await running.close()
      await database.close()
      await created.drop()
    },
  }
}

/** Writes requests and queues them in the same transaction. */
function writeQueued(
  database: Database,
  accountIds: readonly string[],
  within: (transaction: Queryable) => Promise<void> = async () => {},
): Promise<string[]> {
  return database.transaction(async (transaction) => {
    const at = new Date().toISOString()
    const ids = await writeUsage(
      transaction,
      accountIds.map((accountId) => ({ accountId, at })),
    )
    await transaction.query(
      `WITH written AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS row (account_id, id)),
       ${queueForExport('written', { isCharged: true })} SELECT`,
      [accountIds, ids],
    )
    await within(transaction)
    return ids
  })
}

export async function startExporter(
  database: Database,
  sinks: Readonly<Record<string, () => ExportSink>>,
  logger: Logger = silentLogger,
): Promise<RunningExporter> {
  const borrower: Borrower = await createBorrower({
    database,
    logger: silentLogger,
    leaseMs: LEASE_MS,
    reclaimers: [reclaimSinks],
  })
  const counts = new Map<string, number>()
  const count = (name: string, by: number): void => void counts.set(name, (counts.get(name) ?? 0) + by)
  const exporter = createExporter({
    database,
    borrower,
    logger,
    counts: {
      counted: (_sink, outcome, requests) => count(outcome, requests),
      failed: () => count('failed', 1),
    },
    sinks: new Map(
      Object.entries(sinks).map(([name, open]) => [
        name,
        async () => ({ sink: open(), wanted: 'all' as const }),
      ]),
    ),
    timing: QUICK,
  })
  exporter.start()
  let closing: Promise<void> | null = null
  return {
    counts,
    close: () =>
      (closing ??= (async () => {
        await exporter.close({ graceMs: 200 })
        await borrower.close()
      })()),
  }
}
