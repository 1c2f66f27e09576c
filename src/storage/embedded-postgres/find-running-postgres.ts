import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { isPassingRefusal } from '../connection/connection-loss.ts'
import { messageOf, StorageError } from '../storage-error.ts'
import { DATABASE, PASSWORD_FILE, ROLE } from './cluster.ts'
import { readOwned } from './owned-file.ts'
import { readPostmaster, type Postmaster } from './postmaster.ts'
import type { Endpoint } from './server-settings.ts'

const POLL_MS = 20
const CONNECT_TIMEOUT_MS = 5_000
// A server that replays its log after a crash takes the longest to answer.
const ANSWER_TIMEOUT_MS = 120_000

export interface RunningPostgres {
  readonly connectionString: string
  readonly postmaster: Postmaster
}

/** Returns the server of a data directory if it is running, for commands that run beside a gateway. */
export async function findRunningPostgres({ dataDir }: { dataDir: string }): Promise<RunningPostgres | null> {
  return connectToCluster(join(resolve(dataDir), 'postgres'))
}

/** Waits while the server starts or recovers. Returns null if there is none. */
export async function connectToCluster(clusterDir: string): Promise<RunningPostgres | null> {
  const deadlineMs = performance.now() + ANSWER_TIMEOUT_MS
  let lastError: unknown = null
  for (;;) {
    const postmaster = await readPostmaster(clusterDir)
    if (postmaster === null) return null
    const connectionString = await composeConnectionString(clusterDir, postmaster.endpoint)
    try {
      await probe(connectionString)
      return { connectionString, postmaster }
    } catch (error) {
      lastError = error
      // The server is starting, recovering or stopping, or has not created its socket yet.
      if (!isPassingRefusal(error)) break
    }
    if (performance.now() > deadlineMs) break
    await delay(POLL_MS)
  }
  throw new StorageError(
    'unreachable_database',
    `The PostgreSQL that runs on ${clusterDir} does not let the gateway in: ${messageOf(lastError)}`,
    { cause: lastError },
  )
}

async function composeConnectionString(clusterDir: string, endpoint: Endpoint): Promise<string> {
  const password = await readOwned(join(clusterDir, PASSWORD_FILE)).catch((error: unknown) => {
    throw new StorageError(
      'unreachable_database',
      `The password of the database cannot be read from ${join(clusterDir, PASSWORD_FILE)}: ${messageOf(error)}`,
      { cause: error },
    )
  })
  const user = `${ROLE}:${encodeURIComponent(password.trim())}`
  return endpoint.kind === 'socket'
    ? `postgresql://${user}@localhost/${DATABASE}?host=${encodeURIComponent(clusterDir)}`
    : `postgresql://${user}@127.0.0.1:${endpoint.port}/${DATABASE}`
}

async function probe(connectionString: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}
