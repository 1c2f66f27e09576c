import type { Logger } from '../../kernel/logger.ts'
import { startEmbeddedPostgres } from '../../storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../storage/migrate.ts'
import type { Config } from '../settings/config.ts'

export interface OpenStorage {
  readonly connectionString: string
  close(): Promise<void>
  /** Asks an embedded server to stop without waiting for it, for an exit that waits for nothing. */
  abandon(): void
}

/** The operator's PostgreSQL, or the embedded one started for us; migrated either way. */
export async function openStorage(config: Config, logger: Logger): Promise<OpenStorage> {
  if (config.databaseUrl !== null) {
    await migrate({ connectionString: config.databaseUrl, logger })
    return borrowStorage(config.databaseUrl)
  }
  const server = await startEmbeddedPostgres({ dataDir: config.dataDir, logger })
  try {
    await migrate({ connectionString: server.connectionString, logger })
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    connectionString: server.connectionString,
    close: () => server.stop(),
    abandon: () => server.signalStop(),
  }
}

/** A server that somebody else starts and stops. */
export function borrowStorage(connectionString: string): OpenStorage {
  return { connectionString, close: async () => {}, abandon: () => {} }
}
