import type { Logger } from '../kernel/logger.ts'
import { findRunningPostgres } from '../storage/embedded-postgres/find-running-postgres.ts'
import type { Config } from './config.ts'
import { openStorage, type OpenStorage } from './open-storage.ts'

/** The database as it is: the operator's, the embedded one of a running gateway, or else the embedded one started for us. */
export async function findStorage(config: Config, logger: Logger): Promise<OpenStorage> {
  if (config.databaseUrl === null) {
    const running = await findRunningPostgres({ dataDir: config.dataDir })
    if (running) return { connectionString: running.connectionString, close: async () => {} }
  }
  return openStorage(config, logger)
}
