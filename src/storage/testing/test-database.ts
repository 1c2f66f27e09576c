import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { inject } from 'vitest'
import { nameDatabase, TEMPLATE_DATABASE } from './global-setup.ts'

export interface TestDatabase {
  readonly connectionString: string
  drop(): Promise<void>
}

const SESSIONS_POLL_MS = 2
const SESSIONS_END_MS_MAX = 200

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
  await (await administrate(server)).query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  return { connectionString: nameDatabase(server, name), drop: () => drop(server, name) }
}

async function drop(server: string, name: string): Promise<void> {
  const administrator = await administrate(server)
  // Sessions that were closed a moment ago end within milliseconds. The server would look for them again only after 100.
  const deadlineMs = performance.now() + SESSIONS_END_MS_MAX
  while (performance.now() < deadlineMs) {
    const { rowCount } = await administrator.query('SELECT FROM pg_stat_activity WHERE datname = $1', [name])
    if (rowCount === 0) break
    await delay(SESSIONS_POLL_MS)
  }
  await administrator.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

let administrator: Promise<Client> | null = null

/** Returns the one connection of this process to the server of the test run. */
function administrate(connectionString: string): Promise<Client> {
  administrator ??= connect(connectionString)
  return administrator
}

async function connect(connectionString: string): Promise<Client> {
  const forget = (): void => {
    administrator = null
  }
  const client = new Client({ connectionString })
  client.on('error', forget)
  await client.connect().catch((error: unknown) => {
    forget()
    throw error
  })
  return client
}
