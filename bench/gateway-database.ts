import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import type { Database } from '../src/storage/database.ts'
import { findRunningPostgres } from '../src/storage/embedded-postgres/find-running-postgres.ts'

/** Long enough to fill and sum whole tables. */
const STATEMENT_MS_MAX = 600_000

/** Opens a second connection to the database of a running gateway. */
export async function withGatewayDatabase<Result>(
  dataDirectory: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const running = await findRunningPostgres({ dataDir: dataDirectory })
  if (running === null) throw new Error(`no database runs in ${dataDirectory}`)
  const database = connectDatabase({
    connectionString: running.connectionString,
    poolSize: 1,
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
