import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { startTransactionPooler } from './transaction-pooler.ts'
import { removeDirectory } from '../support/remove-directory.ts'

let first: Server
let second: Server
/** A connection string with both servers, as an operator would write it. */
let both: string

beforeAll(async () => {
  ;[first, second] = await Promise.all([startServer(), startServer()])
  // Two servers of one cluster have the same passwords.
  await second.takePasswordOf(first)
  both = `${first.connectionString.replace(first.host, `${first.host},${second.host}`)}?target_session_attrs=read-write`
})

afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()])
})

describe('of several hosts', () => {
  test('the one that accepts writes is used, and the other when it takes over', async () => {
    const database = connectDatabase({ connectionString: both, poolSize: 3, statementTimeoutMs: 30_000 })
    const write = async (): Promise<string> => {
      await database.query('CREATE TABLE IF NOT EXISTS public.written (id int)')
      const [row] = await database.query<{ port: string }>(`SELECT inet_server_port()::text AS port`)
      return row?.port ?? ''
    }
    try {
      await first.setReadOnly(true)
      expect(await eventually(write)).toBe(second.port)
      await second.setReadOnly(true)
      await expect(database.query('CREATE TABLE public.refused (id int)')).rejects.toThrow()
      await first.setReadOnly(false)
      expect(await eventually(write)).toBe(first.port)
    } finally {
      await first.setReadOnly(false)
      await second.setReadOnly(false)
      await database.close()
    }
  })

  test('none accepts writes: that is reported', async () => {
    await first.setReadOnly(true)
    await second.setReadOnly(true)
    const migrating = migrate({ connectionString: both, logger: silentLogger })
    await expect(migrating).rejects.toMatchObject({
      code: 'read_only_server',
      message: expect.stringContaining('takes writes'),
    })
    await first.setReadOnly(false)
    await second.setReadOnly(false)
  })
})

test('a server that accepts no writes is refused at the start, with a hint', async () => {
  await first.setReadOnly(true)
  const { connectionString } = first
  const migrating = eventually(() =>
    migrate({ connectionString, logger: silentLogger }).then(
      () => Promise.reject(new Error('it was migrated')),
      (error: unknown) => error,
    ),
  )
  expect(await migrating).toMatchObject({
    code: 'read_only_server',
    message: expect.stringContaining('DATABASE_URL'),
  })
  await first.setReadOnly(false)
})

test('a running gateway leaves a server that became a standby, its job queue too, and recovers without a restart', async () => {
  const { connectionString } = first
  await eventually(() => migrate({ connectionString, logger: silentLogger }))
  const gateway = await startTestGateway({
    connectionString,
    settings: { PARKWAY_DATABASE_CONNECT_TIMEOUT_MS: '3000' },
  })
  const ready = async () => (await gateway.request('GET', '/readyz')).status
  const picture = () =>
    gateway.request('POST', '/v1/images/generations', { body: { model: 'flux-schnell', prompt: 'A cube' } })
  try {
    expect(await ready()).toBe(200)
    await first.setReadOnly(true)
    await eventually(async () => expect(await ready()).toBe(503))
    expect((await picture()).status).toBe(503)
    await eventually(async () => expect(await first.countOldSessions()).toBe(0))
    await first.setReadOnly(false)
    await eventually(async () => expect(await ready()).toBe(200))
    const { body } = await eventually(async () => {
      const answer = await picture()
      expect(answer.status).toBe(202)
      return answer
    })
    const task = await eventually(async () => {
      const answer = await gateway.request('GET', `/v1/tasks/${body.id}?wait=5`)
      expect(answer.body.status).toBe('completed')
      return answer.body
    })
    expect(task.error).toBeNull()
  } finally {
    await first.setReadOnly(false)
    await gateway.close()
  }
})

test.each([
  ['transactions', 'transaction'],
  ['statements', 'statement'],
] as const)('a pooler that shares sessions between %s is refused at the start', async (_what, mode) => {
  const pooler = await startTransactionPooler(second.connectionString, mode)
  try {
    const migrating = migrate({ connectionString: pooler.connectionString, logger: silentLogger })
    await expect(migrating).rejects.toMatchObject({
      code: 'shared_sessions',
      message: expect.stringContaining('pool_mode = session'),
    })
  } finally {
    await pooler.close()
  }
})

interface Server {
  readonly connectionString: string
  /** Includes the port. */
  readonly host: string
  readonly port: string
  takePasswordOf(other: Server): Promise<void>
  /** Makes the server read-only like a standby, but keeps its sessions open. */
  setReadOnly(isReadOnly: boolean): Promise<void>
  /** Counts the sessions that were opened before the last call of `setReadOnly`. */
  countOldSessions(): Promise<number>
  stop(): Promise<void>
}

async function startServer(): Promise<Server> {
  // The path is too long for a Unix socket, so the server listens on a port.
  const dataDir = await mkdtemp(join(tmpdir(), `parkway-${'server-'.repeat(15)}`))
  const embedded = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger,
    durable: false,
  })
  const operator = new Client({ connectionString: embedded.connectionString })
  await operator.connect()
  const url = new URL(embedded.connectionString)
  let changedAt = new Date()
  return {
    get connectionString() {
      return url.href
    },
    host: url.host,
    port: url.port,
    takePasswordOf: async (other) => {
      const password = decodeURIComponent(new URL(other.connectionString).password)
      await operator.query(`ALTER ROLE CURRENT_USER PASSWORD '${password}'`)
      url.password = new URL(other.connectionString).password
    },
    setReadOnly: async (isReadOnly) => {
      const { rows } = await operator.query('SELECT clock_timestamp() AS now')
      changedAt = rows[0].now
      await operator.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
      await operator.query('SELECT pg_reload_conf()')
      await eventually(async () => {
        const { rows: shown } = await operator.query('SHOW default_transaction_read_only')
        expect(shown[0].default_transaction_read_only).toBe(isReadOnly ? 'on' : 'off')
      })
    },
    countOldSessions: async () => {
      const { rows } = await operator.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND backend_start < $1`,
        [changedAt],
      )
      return rows[0].count
    },
    stop: async () => {
      await operator.end()
      await embedded.stop()
      await removeDirectory(dataDir)
    },
  }
}
