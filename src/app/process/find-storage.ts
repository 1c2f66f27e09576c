import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from '../../kernel/logger.ts'
import { findRunningPostgres } from '../../storage/embedded-postgres/find-running-postgres.ts'
import { startEmbeddedPostgres } from '../../storage/embedded-postgres/start-embedded-postgres.ts'
import { StorageError } from '../../storage/storage-error.ts'
import type { Config } from '../settings/config.ts'
import { borrowStorage, openStorage, type OpenStorage } from './open-storage.ts'

/** Finds the existing database: the operator's, or the embedded one, which is started unless a gateway already runs it. */
export async function findStorage(config: Config, logger: Logger): Promise<OpenStorage> {
  if (config.databaseUrl === null) {
    requireCluster(config.dataDir)
    const running = await findRunningPostgres({ dataDir: config.dataDir })
    if (running) return borrowStorage(running.connectionString)
  }
  return openStorage(config, logger)
}

/** The same as it is, without migrations, for commands that change nothing. */
export async function findUnmigratedStorage(config: Config, logger: Logger): Promise<OpenStorage> {
  const { databaseUrl, dataDir } = config
  if (databaseUrl !== null) return borrowStorage(databaseUrl)
  requireCluster(dataDir)
  const running = await findRunningPostgres({ dataDir })
  if (running) return borrowStorage(running.connectionString)
  const server = await startEmbeddedPostgres({ dataDir, logger })
  return {
    connectionString: server.connectionString,
    close: () => server.stop(),
    abandon: () => server.signalStop(),
  }
}

// Otherwise a mistyped directory would get an empty database, and a backup of it would look valid.
function requireCluster(dataDir: string): void {
  if (existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return
  throw new StorageError(
    'not_reachable',
    `There is no database in ${resolve(dataDir)}. Set PARKWAY_DATA_DIR to the directory the gateway keeps its state in.`,
  )
}
