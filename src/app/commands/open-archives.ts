import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { openArchiveStore } from '../../storage/archive/archive-store.ts'
import {
  findArchivedTable,
  ARCHIVED_TABLES,
  type ArchivedTable,
} from '../../storage/archive/archived-tables.ts'
import { parseMonth, type Month } from '../../storage/archive/month.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { archivePlaceOf } from '../build/archive-place.ts'
import { findStorage } from '../process/find-storage.ts'
import { loadConfig } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'

export interface OpenArchives {
  readonly database: Database
  readonly store: MediaStore
}

/** Long, because whole months are added up. */
const STATEMENT_MS_MAX = 3_600_000

/** Runs the work of a command with the archives of the configuration, whether the gateway runs or not. */
export async function withArchives<Result>(
  configFile: string | undefined,
  work: (archives: OpenArchives) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig({ environment: process.env, file: configFile ?? null })
  const storage = await findStorage(config, createLogger({ level: 'silent' }))
  const database = connectDatabase({
    connectionString: storage.connectionString,
    poolSize: 1,
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  const store = openArchiveStore(archivePlaceOf(config))
  try {
    return await work({ database, store })
  } finally {
    await store.close()
    await database.close()
    await storage.close()
  }
}

export const TABLE_NAMES = ARCHIVED_TABLES.map(({ name }) => name).join(' or ')

export function requireTable(name: string): ArchivedTable {
  const table = findArchivedTable(name)
  if (table === undefined) throw new UsageError(`An archive is of ${TABLE_NAMES}.`)
  return table
}

export function requireMonth(text: string): Month {
  const month = parseMonth(text)
  if (month === null) throw new UsageError('--month must be a month such as 2026-10.')
  return month
}
