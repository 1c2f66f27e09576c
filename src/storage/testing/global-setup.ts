import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { silentLogger } from '../../kernel/logger.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresConnectionString: string
  }
}

export const TEMPLATE_DATABASE = 'parkway_template'

/** One server for the whole test run, with one migrated database to copy from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-test-'))
  const server = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger,
    durable: false,
    settings: { max_connections: '400', autovacuum: 'off' },
  })
  await createTemplate(server.connectionString)
  project.provide('postgresConnectionString', server.connectionString)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function createTemplate(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`)
    await migrate({
      connectionString: nameDatabase(connectionString, TEMPLATE_DATABASE),
      logger: silentLogger,
    })
    // Copying fails while anybody is connected to the original.
    await client.query(`ALTER DATABASE ${TEMPLATE_DATABASE} WITH ALLOW_CONNECTIONS false`)
  } finally {
    await client.end()
  }
}

/** The same server, another database. */
export function nameDatabase(connectionString: string, database: string): string {
  const url = new URL(connectionString)
  url.pathname = `/${database}`
  return url.href
}
