import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { createId } from '../../src/kernel/identifiers.ts'
import { findOutcome } from '../../src/modules/ledger/journal/journal-charges.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { placePreparedCluster } from '../../src/storage/testing/prepared-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'

let dataDir: string
let server: EmbeddedPostgres
let operator: Client

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parkway-standby-'))
  await placePreparedCluster(dataDir)
  server = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger,
    settings: { wal_level: 'replica', max_wal_senders: '1' },
  })
  operator = new Client({ connectionString: server.connectionString, options: '-c search_path=parkway' })
  await operator.connect()
})

afterAll(async () => {
  await operator?.end()
  await server?.stop()
  await removeDirectory(dataDir)
})

/** The name of a standby that never answers. An empty one lets commits go on. */
async function waitForStandby(name: string): Promise<void> {
  await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await operator.query('SELECT pg_reload_conf()')
}

async function countWaiting(): Promise<number> {
  const { rows } = await operator.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
  )
  return rows[0].count
}

/** The server reads its settings a moment later. Leaves one commit behind that waits. */
async function untilCommitsWait(): Promise<void> {
  const probe = new Client({ connectionString: server.connectionString, options: '-c search_path=parkway' })
  // The server ends it.
  probe.on('error', () => {})
  await probe.connect()
  let isWritten = true
  await eventually(async () => {
    if (isWritten) {
      isWritten = false
      const written = probe.query(
        'INSERT INTO charge_journal (borrower_id, sequence) VALUES (gen_random_uuid(), 1)',
      )
      written.then(() => (isWritten = true)).catch(() => {})
    }
    expect(await countWaiting()).toBe(1)
  })
}

test('a commit that no standby has yet is not taken for written', async () => {
  const commit = { borrowerId: createId(), sequence: 1 }
  await waitForStandby('away')
  await untilCommitsWait()
  // As after a crash of the primary: what waited for a standby is there, and no standby has it.
  await operator.query(`BEGIN; SET LOCAL synchronous_commit = local;
    INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ('${commit.borrowerId}', 1, 'charges'); COMMIT`)
  const client = new Client({ connectionString: server.connectionString, options: '-c search_path=parkway' })
  await client.connect()
  try {
    const query = async (sql: string, values: readonly unknown[] = []) =>
      (await client.query(sql, [...values])).rows
    let outcome: string | null = null
    const looking = findOutcome({ query }, commit).then((found) => {
      outcome = found
    })
    await eventually(async () => expect((await countWaiting()) > 1 || outcome !== null).toBe(true))
    expect(outcome).toBeNull()
    await waitForStandby('')
    await looking
    expect(outcome).toBe('written')
  } finally {
    await client.end()
  }
})
