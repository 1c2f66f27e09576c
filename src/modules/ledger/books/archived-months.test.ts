import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../kernel/logger.ts'
import { ARCHIVED_TABLES } from '../../../storage/archive/archived-tables.ts'
import { openArchiveStore } from '../../../storage/archive/archive-store.ts'
import { keepArchives } from '../../../storage/archive/keep-archives.ts'
import { listArchives } from '../../../storage/archive/stored-archives.ts'
import { verifyArchive } from '../../../storage/archive/verify-archive.ts'
import { startS3Server } from '../../../storage/media-store/testing/s3-server.ts'
import type { Payer } from '../ledger.ts'
import { createArchiveStage, type ArchiveStage } from '../testing/archive-stage.ts'

const AUGUST = Date.UTC(2025, 7, 10)
const FOLDER = 'usage_records/month=2025-08'

let stage: ArchiveStage
let one: Payer
let other: Payer

beforeEach(async () => {
  stage = await createArchiveStage()
  one = await stage.createPayer(10_000n)
  other = await stage.createPayer(10_000n)
  for (const cost of [101n, 102n, 103n]) await stage.charge(one, cost, AUGUST + Number(cost))
  for (const cost of [7n, 8n, 9n]) await stage.charge(other, cost, AUGUST + Number(cost))
  await stage.backdateEntries('2025-08-10')
})

afterEach(() => stage.close())

const filesOf = (folder: string) => readdir(join(stage.directory, folder))
const costsOf = async (payer: Payer) =>
  (await stage.read('usage_records', '2025-08', payer.accountId)).map((row) => row['cost_nano_usd'])
const partitionsOf = async () =>
  (
    await stage.database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'usage_records'::regclass`,
    )
  ).map(({ name }) => name)

test('every column of an archived table is in its archive', async () => {
  for (const table of ARCHIVED_TABLES) {
    const columns = await stage.database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [table.name],
    )
    expect(columns.map(({ name }) => name).toSorted()).toEqual(
      table.columns.map(({ name }) => name).toSorted(),
    )
  }
})

describe('a closed month', () => {
  test('a closed month of several accounts is read back with every row and nano-dollar, and the ledger verifies by it', async () => {
    expect(await stage.archive()).toEqual(['usage_records 2025-08 6', 'ledger_entries 2025-08 16'])
    expect(await stage.archive()).toEqual([])
    expect(await stage.verify()).toEqual([])
    expect(await costsOf(one)).toEqual([101n, 102n, 103n])
    expect(await costsOf(other)).toEqual([7n, 8n, 9n])
    const [row] = await stage.read('usage_records', '2025-08', one.accountId)
    expect(row).toMatchObject({
      account_id: one.accountId,
      created_at: BigInt(AUGUST + 101) * 1000n,
      first_token_ms: null,
      labels: '["tag:team=search"]',
      model: 'a "model" \\ with odd, {letters}',
    })
    const entries = await stage.read('ledger_entries', '2025-08', one.accountId)
    const balance = entries.reduce(
      (sum, entry) => sum + BigInt(entry['book'] === 'credit' ? (entry['amount_nano_usd'] ?? 0) : 0),
      0n,
    )
    expect(balance).toBe(10_000n - 306n)
    expect(entries[0]).toMatchObject({ created_at: 1_754_827_200_123_456n })
    expect(await stage.findDifferences()).toEqual([])
    await stage.database.query('UPDATE archived_sums SET amount_nano_usd = amount_nano_usd + 1')
    expect(await stage.findDifferences()).toContainEqual(
      expect.stringContaining('what is archived of the ledger is the sum of its days'),
    )
  })

  test('the month that lasts is not archived', async () => {
    await stage.charge(one, 1n, Date.now())
    expect(await stage.archive()).not.toContainEqual(
      expect.stringContaining(new Date().toISOString().slice(0, 7)),
    )
  })

  test('a closed month is archived in a thread of a running process', async () => {
    const { database, connectionString, directory } = stage
    const archives = keepArchives({
      database,
      connectionString,
      place: { directory },
      logger: silentLogger,
      firstMs: 0,
    })
    await expect
      .poll(async () => (await listArchives(database)).map(({ status }) => status), { timeout: 20_000 })
      .toEqual(['complete', 'complete'])
    await archives.close()
    expect(await stage.verify()).toEqual([])
  })
})

describe('rows that are not kept any more', () => {
  test('rows are dropped only when they are archived, and read from the archive from then on', async () => {
    await stage.drop()
    expect(await partitionsOf()).toContain('usage_records_before')
    await stage.archive()
    await stage.drop()
    expect(await partitionsOf()).not.toContain('usage_records_before')
    expect(await stage.database.query('SELECT FROM usage_records')).toEqual([])
    expect(await costsOf(one)).toEqual([101n, 102n, 103n])
    expect(await stage.verify()).toEqual([])
    expect(await stage.findDifferences()).toEqual([])
    await stage.database.query('UPDATE usage_carried SET archived_requests = archived_requests + 1')
    expect(await stage.findDifferences()).toContainEqual(
      expect.stringContaining('the requests that are in archives only are those that were dropped'),
    )
  })

  test('rows that come after their month was archived are kept until they are archived too', async () => {
    await stage.archive()
    const before = await filesOf(FOLDER)
    await stage.charge(other, 5n, AUGUST + 20)
    expect(await stage.verify()).toEqual(['usage_records has other rows of 2025-08 than the archive'])
    await stage.drop()
    expect(await partitionsOf()).toContain('usage_records_before')
    expect(await stage.archive()).toEqual(['usage_records 2025-08 7'])
    await stage.drop()
    expect(await costsOf(other)).toEqual([7n, 8n, 9n, 5n])
    expect((await filesOf(FOLDER)).filter((name) => before.includes(name))).toEqual([])

    // And after it was dropped.
    await stage.charge(other, 3n, AUGUST + 30)
    expect(await stage.archive()).toEqual(['usage_records 2025-08 1'])
    await stage.drop()
    expect(await stage.database.query('SELECT FROM usage_records')).toEqual([])
    expect(await costsOf(other)).toEqual([7n, 8n, 9n, 5n, 3n])
    expect(await stage.verify()).toEqual([])
    expect(await stage.findDifferences()).toEqual([])
  })
})

describe('an archive is the only place of rows', () => {
  test('rows stay in their table until the files of their archive are there, and a lost file is written again', async () => {
    await stage.archive()
    for (const kind of ['part-', '_manifest-']) {
      const lost = (await filesOf(FOLDER)).find((name) => name.startsWith(kind)) ?? expect.unreachable()
      await stage.store.delete(`${FOLDER}/${lost}`)
      await stage.drop()
      expect(await partitionsOf()).toContain('usage_records_before')
      expect(await stage.archive()).toEqual(['usage_records 2025-08 6'])
    }
    await stage.drop()
    expect(await partitionsOf()).not.toContain('usage_records_before')
    expect(await costsOf(one)).toEqual([101n, 102n, 103n])
    expect(await stage.verify()).toEqual([])
  })

  test('files of rows that were dropped while archives were off stay, also when a row comes later', async () => {
    await stage.archive()
    await stage.drop({ hasArchives: false })
    expect(await stage.database.query('SELECT FROM usage_records')).toEqual([])
    expect(await stage.verify()).toEqual([])
    expect(await stage.findDifferences()).toEqual([])
    await stage.charge(other, 3n, AUGUST + 30)
    await stage.drop()
    expect(await stage.archive()).toEqual(['usage_records 2025-08 1'])
    await stage.drop()
    expect(await stage.database.query('SELECT FROM usage_records')).toEqual([])
    expect(await costsOf(other)).toEqual([7n, 8n, 9n, 3n])
    expect(await stage.findDifferences()).toEqual([])
  })

  test('an archive with the columns of an earlier release is replaced, so that no row is read twice', async () => {
    await stage.archive()
    const before = await filesOf(FOLDER)
    await stage.database.query('UPDATE archives SET schema_version = 0')
    expect(await stage.archive()).toHaveLength(2)
    const after = await filesOf(FOLDER)
    expect(after).toHaveLength(before.length)
    expect(after.filter((name) => before.includes(name))).toEqual([])
    expect(await costsOf(one)).toEqual([101n, 102n, 103n])
  })
})

describe('files', () => {
  test('a changed byte, a missing file and a changed manifest are found and named', async () => {
    await stage.archive()
    const [manifest = '', first = '', second = ''] = (await filesOf(FOLDER)).toSorted()
    const change = async (name: string) => {
      const path = join(stage.directory, FOLDER, name)
      const bytes = await readFile(path)
      bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
      await writeFile(path, bytes)
    }
    await change(second)
    await change(manifest)
    await stage.store.delete(`${FOLDER}/${first}`)
    expect(await stage.verify()).toEqual([
      `${FOLDER}/${manifest}: it was changed`,
      `${FOLDER}/${first}: the file is missing`,
      expect.stringMatching(
        `^${FOLDER}/${second}: its SHA-256 is [0-9a-f]{64}, and [0-9a-f]{64} was written$`,
      ),
    ])
  })

  test('a file that cannot be read back is no archive', async () => {
    const store = {
      ...stage.store,
      put: async (name: string, source: AsyncIterable<Uint8Array>, type: string) => {
        const stored = await stage.store.put(name, source, type)
        await writeFile(join(stage.directory, name), 'PAR1')
        return stored
      },
    }
    await expect(stage.archive({ store })).rejects.toThrow('cannot be read back: it has 4 bytes')
    expect((await listArchives(stage.database)).map(({ status }) => status)).toEqual(['writing'])
    await stage.drop()
    expect(await partitionsOf()).toContain('usage_records_before')
  })

  test('an archive whose process is killed is continued after its last file, and has no manifest until it is whole', async () => {
    const script = new URL('../testing/archive-and-hang.ts', import.meta.url)
    const killed = spawn(process.execPath, [script.pathname, stage.connectionString, stage.directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(killed.stdout, 'data')
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const [first = '', ...others] = (await filesOf(FOLDER)).toSorted()
    expect([first, others]).toEqual([expect.stringMatching(/^part-[0-9a-f]{12}-0001\.parquet$/), []])
    const written = await readFile(join(stage.directory, FOLDER, first))
    expect(await stage.read('usage_records', '2025-08')).toEqual([])
    await expect.poll(() => stage.archive()).toEqual(['usage_records 2025-08 6', 'ledger_entries 2025-08 16'])
    expect(await filesOf(FOLDER)).toHaveLength(3)
    expect(await readFile(join(stage.directory, FOLDER, first))).toEqual(written)
    expect(await filesOf('incoming')).toEqual([])
    expect(await stage.verify()).toEqual([])
  })

  test('archives in a bucket are written and read back as those in a directory', async () => {
    const server = await startS3Server()
    const { storeUrl: url, credentials } = server
    const store = openArchiveStore({ bucket: { url, credentials } })
    try {
      expect(await stage.archive({ store })).toHaveLength(2)
      for (const archive of await listArchives(stage.database))
        expect(await verifyArchive({ database: stage.database, store }, archive)).toEqual([])
    } finally {
      await store.close()
      await server.close()
    }
  })

  test('other readers of Parquet add up the same rows', async () => {
    await stage.archive()
    const { DuckDBInstance } = await import('@duckdb/node-api')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()
    const usage = `read_parquet('${stage.directory}/usage_records/*/*.parquet', hive_partitioning = true)`
    expect(
      await query(
        `SELECT account_id, month::text AS month, count(*) AS rows, sum(cost_nano_usd)::bigint AS cost, min(created_at)::text AS first
         FROM ${usage} GROUP BY ALL ORDER BY cost DESC`,
      ),
    ).toEqual([
      {
        account_id: one.accountId,
        month: '2025-08',
        rows: 3n,
        cost: 306n,
        first: '2025-08-10 00:00:00.101+00',
      },
      {
        account_id: other.accountId,
        month: '2025-08',
        rows: 3n,
        cost: 24n,
        first: '2025-08-10 00:00:00.007+00',
      },
    ])
    const ledger = `read_parquet('${stage.directory}/ledger_entries/*/*.parquet')`
    expect(await query(`SELECT sum(amount_nano_usd)::bigint AS sum FROM ${ledger}`)).toEqual([{ sum: 0n }])
    connection.closeSync()
  })
})
