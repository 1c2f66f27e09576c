import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { nameDatabase, TEMPLATE_DATABASE } from './global-setup.ts'

export interface TestDatabase {
  readonly connectionString: string
  drop(): Promise<void>
}

/** Creates a new migrated database for a test. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createFrom(TEMPLATE_DATABASE)
}

/** Creates a new database without the schema, for tests of migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createFrom('template1')
}

async function createFrom(template: string): Promise<TestDatabase> {
  const server = inject('postgresConnectionString')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copying files is several times faster than logging all pages.
  await runOnServer(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  return {
    connectionString: nameDatabase(server, name),
    drop: () => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

async function runOnServer(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
