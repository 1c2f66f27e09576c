import { parseArgs } from 'node:util'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Queryable } from '../../storage/database.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { findStorage } from '../process/find-storage.ts'
import { loadConfig } from '../settings/config.ts'

const STATEMENT_MS_MAX = 60_000

/** Runs one change in the database of the configured gateway, for a command whose only option is the configuration. */
export async function changeDatabase<Result>(
  words: readonly string[],
  change: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  const { values } = parseArgs({ args: [...words], options: { config: { type: 'string' } } })
  const config = loadConfig({ environment: process.env, file: values.config ?? null })
  const storage = await findStorage(config, createLogger({ level: 'silent' }))
  const database = connectDatabase({
    connectionString: storage.connectionString,
    poolSize: 1,
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  try {
    return await database.transaction(change)
  } finally {
    await database.close()
    await storage.close()
  }
}
