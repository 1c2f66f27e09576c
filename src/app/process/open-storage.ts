import type { Logger } from '../../kernel/logger.ts'
import { startEmbeddedPostgres } from '../../storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../storage/migrate.ts'
import type { Config } from '../settings/config.ts'

export interface OpenStorage {
  readonly connectionString: string
  close(): Promise<void>
  /** Sends the embedded server a stop signal without waiting, for an immediate exit. */
  abandon(): void
}

/** Opens the operator's PostgreSQL or starts the embedded one, and migrates it. */
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

/** Uses a server that is started and stopped elsewhere. */
export function borrowStorage(connectionString: string): OpenStorage {
  return { connectionString, close: async () => {}, abandon: () => {} }
}
