import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyring } from '../../kernel/seal-text.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { loadConfig } from '../settings/config.ts'
import { checkDatabase } from './check-database.ts'
import { checkMachine, readMachine } from './check-machine.ts'
import { checkSealing } from './check-sealing.ts'
import { checkSettings } from './check-settings.ts'
import { examine } from './examine.ts'
import { codes, expectMended } from './testing/expect-mended.ts'
import { readDatabase, type DatabaseFacts } from './read-database.ts'

const GIBIBYTE = 1024 ** 3

let stored: TestDatabase
let database: ReturnType<typeof connectDatabase>
let healthy: DatabaseFacts
let expected: { migrations: number; nowMs: number }

beforeAll(async () => {
  stored = await createTestDatabase()
  database = connectDatabase({
    connectionString: stored.connectionString,
    poolSize: 3,
    statementTimeoutMs: 10_000,
  })
  const facts = await readDatabase(database)
  expected = { migrations: facts.migrations, nowMs: facts.nowMs }
  healthy = { ...facts, sessions: [], missingPartitions: new Map(), inactiveSlots: [], connections: 1 }
})
afterAll(async () => {
  await database.close()
  await stored.drop()
})

describe('a fault of the database is found, with what to do', () => {
  test('and a healthy one has none', () => {
    // The servers of tests trade safety for speed.
    const settings = new Map([['max_connections', '100']])
    expect(checkDatabase({ ...healthy, settings }, expected)).toEqual([])
  })

  const session = { pid: 7, state: 'active', seconds: 90, isBlocked: false, statement: 'SELECT 1' }
  test.each<[string, Partial<DatabaseFacts>]>([
    ['database_old', { version: 130_004 }],
    ['schema_ahead', { migrations: 9_999 }],
    ['schema_behind', { migrations: 1 }],
    ['writes_not_safe', { settings: new Map([['fsync', 'off']]) }],
    ['commits_not_durable', { settings: new Map([['synchronous_commit', 'off']]) }],
    ['autovacuum_off', { settings: new Map([['autovacuum', 'off']]) }],
    ['connections_full', { settings: new Map([['max_connections', '100']]), connections: 95 }],
    ['clock_differs', { nowMs: 0 }],
    ['statement_slow', { sessions: [session] }],
    ['statement_blocked', { sessions: [{ ...session, isBlocked: true, seconds: 20 }] }],
    ['transaction_open', { sessions: [{ ...session, state: 'idle in transaction' }] }],
    ['table_bloated', { tables: [{ name: 'tasks', rows: 10, dead: 200_000 }] }],
    ['wraparound_near', { transactionAge: 1_500_000_000 }],
    ['standby_behind', { standbyLagBytes: GIBIBYTE }],
    ['standby_not_synchronous', { standbys: 2, settings: new Map([['synchronous_standby_names', '']]) }],
    [
      'standby_not_synchronous',
      {
        standbys: 2,
        settings: new Map([
          ['synchronous_standby_names', 'db2'],
          ['synchronous_commit', 'local'],
        ]),
      },
    ],
    ['slot_unused', { inactiveSlots: ['old'] }],
    ['charges_behind', { unpostedCommits: 5_000 }],
    ['no_worker', { oldestTaskSeconds: 5_000, isWorked: false }],
    ['tasks_wait', { oldestTaskSeconds: 5_000, isWorked: true }],
  ])('%s', (code, planted) => {
    expectMended(checkDatabase({ ...healthy, ...planted }, expected), code)
  })
})

test.each(['on', 'remote_apply', 'remote_write'])(
  'standbys that commits wait for are no fault: %s',
  (commit) => {
    const settings = new Map([
      ['synchronous_standby_names', 'ANY 1 (db2, db3)'],
      ['synchronous_commit', commit],
    ])
    expect(checkDatabase({ ...healthy, standbys: 2, settings }, expected)).toEqual([])
  },
)

describe('what is planted in a real database is found there', () => {
  test.each([
    [
      'ledger_differs',
      'INSERT INTO ledger_check (begun_at, checked_at, differences) VALUES (now(), now(), 2)',
    ],
    ['ledger_not_checked', `UPDATE ledger_check SET checked_at = now() - interval '9 days'`],
    ['copy_paused', 'UPDATE installation SET is_paused = true'],
    [
      'index_invalid',
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'parkway.tasks_by_account'::regclass`,
    ],
    ['schema_behind', 'DELETE FROM migrations WHERE version = (SELECT max(version) FROM migrations)'],
  ])('%s', async (code, sql) => {
    await database.query(sql)
    expectMended(checkDatabase(await readDatabase(database), expected), code)
  })

  test('transaction_open, with the process that has it, and without the texts of its statement', async () => {
    const client = new Client({ connectionString: stored.connectionString })
    await client.connect()
    try {
      await client.query('BEGIN')
      const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, 'quiet harbour' AS word`)
      const { sessions } = await readDatabase(database)
      expect(sessions).toContainEqual(
        expect.objectContaining({
          pid: rows[0].pid,
          state: 'idle in transaction',
          isBlocked: false,
          statement: 'SELECT pg_backend_pid() AS pid, … AS word',
        }),
      )
    } finally {
      await client.end()
    }
  })

  test.each([
    ['sealing_key_lost', null],
    ['sealing_key_wrong', createKeyring('another key')],
  ])('%s', async (code, sealer) => {
    expect(await checkSealing(database, sealer)).toEqual([])
    await database.query(`UPDATE installation SET sealing_fingerprint = 'of the key'`)
    expectMended(await checkSealing(database, sealer), code)
    await database.query('UPDATE installation SET sealing_fingerprint = NULL')
  })

  test('a schema of another release, where tables are missing', async () => {
    const query = (sql: string) =>
      sql.includes('FROM migrations') && !sql.includes('charge_journal')
        ? Promise.resolve([{ count: 3 }])
        : Promise.reject(new Error('relation "charge_journal" does not exist'))
    const findings = await examine({
      config: loadConfig({ environment: {}, file: null }),
      stored: { database: { query: query as never }, sealer: null, store: {} as never },
    })
    expectMended(findings, 'schema_behind')
    expect(codes(findings)).not.toContain('database_away')
  })

  test('partitions_missing, of a table that is in partitions', () => {
    const missingPartitions = new Map([['usage_records', 2]])
    const found = checkDatabase({ ...healthy, missingPartitions }, expected)
    expect(found).toContainEqual(
      expect.objectContaining({ code: 'partitions_missing', subject: 'usage_records' }),
    )
  })

  test('a database that is away, and it is the first thing that is told', async () => {
    const findings = await examine({
      config: loadConfig({ environment: {}, file: null }),
      stored: {
        database: { query: () => Promise.reject(new Error('connection refused')) },
        sealer: null,
        store: {} as never,
      },
    })
    expect(findings[0]).toMatchObject({ code: 'database_away', level: 'critical' })
    expect(findings[0]?.message).toContain('connection refused')
    expect(codes(findings)).toContain('no_provider')
  })
})

describe('an unwise setting is found', () => {
  test.each([
    ['public_url_insecure', { PARKWAY_PUBLIC_URL: 'http://ai.example.com' }],
    ['proxy_not_trusted', { PARKWAY_PUBLIC_URL: 'https://ai.example.com' }],
    ['metrics_open', { PARKWAY_METRICS_OPEN: 'true' }],
    ['prompts_logged', { PARKWAY_LOG_PROMPTS: 'true' }],
    ['sealing_key_missing', { DATABASE_URL: 'postgres://db/parkway' }],
    ['files_on_one_machine', { DATABASE_URL: 'postgres://db/parkway' }],
    ['ledger_check_off', { PARKWAY_LEDGER_CHECK_HOURS: '0' }],
  ])('%s', (code, environment) => {
    expectMended(checkSettings(loadConfig({ environment, file: null })), code)
  })

  test('and the default settings have none', () => {
    expect(checkSettings(loadConfig({ environment: {}, file: null }))).toEqual([])
  })
})

describe('a machine at its end is found', () => {
  const machine = {
    disk: { freeBytes: 50 * GIBIBYTE, totalBytes: 100 * GIBIBYTE },
    memory: { freeBytes: 4 * GIBIBYTE, totalBytes: 8 * GIBIBYTE },
    openFilesMax: 65_536,
  }
  test.each([
    ['disk_low', { disk: { freeBytes: 1, totalBytes: GIBIBYTE } }],
    ['memory_low', { memory: { freeBytes: 1, totalBytes: GIBIBYTE } }],
    ['open_files_few', { openFilesMax: 1_024 }],
  ])('%s', (code, planted) => {
    expectMended(checkMachine({ ...machine, ...planted }), code)
    expect(checkMachine(machine)).toEqual([])
  })

  test('a directory that is not there is no fault of its disk', async () => {
    expect((await readMachine('/does/not/exist')).disk).toBeNull()
  })
})
