import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../connection/connect-database.ts'
import type { Database } from '../database.ts'
import { migrate, MIGRATIONS_DIRECTORY } from '../migrate.ts'
import { createEmptyDatabase } from './test-database.ts'

export interface OlderDatabase {
  readonly connectionString: string
  readonly database: Database
  /** Migrates the database to this release. */
  update(): Promise<void>
  drop(): Promise<void>
}

/** Creates a database of a release before a migration, to test what the migration does to existing rows. */
export async function createOlderDatabase(beforeVersion: number): Promise<OlderDatabase> {
  const empty = await createEmptyDatabase()
  const { connectionString } = empty
  const directory = await mkdtemp(join(tmpdir(), 'parkway-migrations-'))
  try {
    for (const name of await readdir(MIGRATIONS_DIRECTORY))
      if (Number(name.slice(0, 4)) < beforeVersion)
        await cp(join(MIGRATIONS_DIRECTORY, name), join(directory, name))
    await migrate({ connectionString, logger: silentLogger, directory })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  const options = { logger: silentLogger, poolSize: 1, statementTimeoutMs: 30_000 }
  const database = connectDatabase({ connectionString, ...options })
  return {
    connectionString,
    database,
    update: async () => {
      await migrate({ connectionString, logger: silentLogger })
    },
    drop: async () => {
      await database.close()
      await empty.drop()
    },
  }
}
