import { constants } from 'node:fs'
import { access, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { silentLogger } from '../../kernel/logger.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../migrate.ts'
import { arrangeOnce } from '../partitions/testing/arrange-once.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresConnectionString: string
  }
}

export const TEMPLATE_DATABASE = 'parkway_template'

/** Starts one server for the whole test run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await findFastDirectory()
  if (directory === MEMORY_DIRECTORY) await removeAbandoned(directory)
  const dataDir = await mkdtemp(join(directory, NAME))
  const server = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger,
    durable: false,
    settings: { max_connections: '400', autovacuum: 'off', max_wal_size: '128MB' },
  })
  await createTemplate(server.connectionString)
  project.provide('postgresConnectionString', server.connectionString)
  return async () => {
    await server.stop()
    await remove(dataDir)
  }
}

const NAME = 'parkway-test-'
/** A run that has just made its directory may not have claimed it yet. */
const ABANDONED_AFTER_MS = 10 * 60_000

/** A run that was killed leaves its server and its files, here in memory. */
async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const dataDir = join(directory, name)
    try {
      if (!name.startsWith(NAME) || Date.now() - (await stat(dataDir)).mtimeMs < ABANDONED_AFTER_MS) continue
      // Takes over a server that still runs, and fails if its run does, or if it is of another user.
      const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
      await server.stop()
      await remove(dataDir)
    } catch {
      // The next run tries again.
    }
  }
}

function remove(dataDir: string): Promise<void> {
  return rm(dataDir, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
}

/** Linux keeps files here in memory. */
const MEMORY_DIRECTORY = '/dev/shm'
/** Containers often have much less. The databases of a run that exist at the same time take about a tenth. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/**
 * Each test copies and deletes a thousand files of a database, which takes a disk that others use a second. In memory it takes
 * twenty milliseconds.
 */
async function findFastDirectory(): Promise<string> {
  try {
    await access(MEMORY_DIRECTORY, constants.W_OK)
    const { bavail, bsize } = await statfs(MEMORY_DIRECTORY)
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY_DIRECTORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

async function createTemplate(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`)
    const template = nameDatabase(connectionString, TEMPLATE_DATABASE)
    await migrate({ connectionString: template, logger: silentLogger })
    await arrangeOnce(template)
    // A database cannot be copied while it has connections.
    await client.query(`ALTER DATABASE ${TEMPLATE_DATABASE} WITH ALLOW_CONNECTIONS false`)
  } finally {
    await client.end()
  }
}

/** Returns the connection string of another database on the same server. */
export function nameDatabase(connectionString: string, database: string): string {
  const url = new URL(connectionString)
  url.pathname = `/${database}`
  return url.href
}
