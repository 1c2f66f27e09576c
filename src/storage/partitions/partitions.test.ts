import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from 'pg'
import { createId } from '../../kernel/identifiers.ts'
import { connectDatabase } from '../connection/connect-database.ts'
import type { Database } from '../database.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'
import { MARK_PROCESS } from './older-processes.ts'
import type { PartitionedTable } from './partitioned-tables.ts'
import type { Retention } from './drop-partitions.ts'
import { startOfStep } from './step.ts'
import { arrangeOnce } from './testing/arrange-once.ts'

const DAYS: PartitionedTable = { name: 'notes', step: 'day', ahead: 2 }
const DAY_MS = 86_400_000
const LARGE = 10_001

let created: TestDatabase
let database: Database
let nowMs: number

beforeEach(async () => {
  created = await createTestDatabase()
  database = connectDatabase({
    connectionString: created.connectionString,
    poolSize: 3,
    statementTimeoutMs: 20_000,
  })
  await database.query(`CREATE TABLE notes (owner uuid NOT NULL, id uuid NOT NULL, text text NOT NULL DEFAULT '-' CHECK (text <> ''),
    PRIMARY KEY (owner, id)) WITH (fillfactor = 80)`)
  await database.query('CREATE INDEX notes_by_text ON notes (text)')
  await database.query('ALTER TABLE notes ADD CONSTRAINT short CHECK (length(text) < 100) NOT VALID')
  const [row] = await database.query<{ now_ms: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms',
  )
  nowMs = Math.floor(row?.now_ms ?? 0)
})

afterEach(async () => {
  await database.close()
  await created.drop()
})

const arrange = (retentions: readonly Retention[] = []) =>
  arrangeOnce(created.connectionString, { tables: [DAYS], retentions })
/** Keeps rows since this time after the beginning of today. */
const keep = (afterTodayMs: number, rest: Partial<Retention> = {}): Retention => ({
  table: 'notes',
  keptSince: (atMs) => startOfStep('day', atMs) + afterTodayMs,
  ...rest,
})
const OWNER = createId()
const insert = (atMs: number) =>
  database.query('INSERT INTO notes (owner, id) VALUES ($1, $2)', [OWNER, createId(atMs)])
const nameOfDay = (days: number) =>
  `notes_${new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '_')}`
const partitionsOfRows = async () =>
  (
    await database.query<{ name: string }>(
      'SELECT DISTINCT tableoid::regclass::text AS name FROM notes ORDER BY name',
    )
  ).map(({ name }) => name)
const listPartitions = async () =>
  (
    await database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'notes'::regclass ORDER BY name`,
    )
  ).map(({ name }) => name)
/** Rows of the days before. */
const fill = (rows: number) =>
  database.query(
    `INSERT INTO notes (owner, id) SELECT gen_random_uuid(), (lpad(to_hex($1::bigint - n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid
     FROM generate_series(1, $2::int) AS n`,
    [nowMs - DAY_MS, rows],
  )

describe('a plain table', () => {
  test('a plain table is moved with its rows, keys, indexes, checks, storage parameters and grants', async () => {
    await database.query('GRANT SELECT ON notes TO pg_monitor')
    await insert(nowMs - 3 * DAY_MS)
    await insert(nowMs)
    await arrange()
    expect(await partitionsOfRows()).toEqual([nameOfDay(0), 'notes_before'])
    const [id] = await database.query<{ id: string }>('SELECT id FROM notes LIMIT 1')
    await expect(
      database.query('INSERT INTO notes (owner, id) VALUES ($1, $2)', [OWNER, id?.id]),
    ).rejects.toThrow('duplicate key')
    await expect(
      database.query(`INSERT INTO notes VALUES ($1, $2, '')`, [OWNER, createId(nowMs)]),
    ).rejects.toThrow('notes_text_check')
    const indexes = await database.query(
      `SELECT FROM pg_indexes WHERE tablename = 'notes' AND schemaname = 'parkway'`,
    )
    expect(indexes).toHaveLength(2)
    const [kept] = await database.query(
      `SELECT has_table_privilege('pg_monitor', 'notes', 'SELECT') AS may_read,
         (SELECT reloptions FROM pg_class WHERE relname = $1) AS options`,
      [nameOfDay(2)],
    )
    expect(kept).toEqual({ may_read: true, options: ['fillfactor=80'] })
  })

  test('a large plain table is moved without touching a row, and its new rows stay in it until a partition begins', async () => {
    await fill(LARGE)
    const [file] = await database.query(`SELECT pg_relation_filenode('notes') AS file`)
    await arrange()
    await insert(nowMs)
    expect(await partitionsOfRows()).toEqual(['notes_before'])
    expect(await database.query(`SELECT pg_relation_filenode('notes_before') AS file`)).toEqual([file])
    await insert(nowMs + 9 * DAY_MS)
    expect(await partitionsOfRows()).toEqual(['notes_before', 'notes_other'])
  })

  test('a plain table is moved later if readers hold it, and nothing has changed for them until then', async () => {
    await fill(LARGE)
    await database.transaction(async (reader) => {
      await reader.query('SELECT FROM notes LIMIT 1')
      await expect(arrange()).rejects.toThrow('in use')
      await insert(nowMs)
      expect(await listPartitions()).toEqual([])
    })
    await arrange()
    expect(await listPartitions()).toContain('notes_before')
    expect(await database.query('SELECT count(*) AS rows FROM notes')).toEqual([{ rows: BigInt(LARGE + 1) }])
  })

  test('a plain table is also moved if an earlier attempt ended in the middle, and its limit is lifted when its time comes', async () => {
    await fill(LARGE)
    const limit = (atMs: number) =>
      database.query(
        `ALTER TABLE notes ADD CONSTRAINT notes_before_limit CHECK (id < '${createId(atMs)}') NOT VALID`,
      )
    await limit(nowMs + 3_600_000)
    await arrange()
    await insert(nowMs + 2 * 3_600_000)
    expect(await partitionsOfRows()).toEqual(['notes_before'])
    const left = await database.query(`SELECT FROM pg_constraint WHERE conname = 'notes_before_limit'`)
    expect(left).toEqual([])
  })

  test('a plain table whose ids do not begin with a time is not moved, and takes them as before', async () => {
    await fill(LARGE)
    const odd = () =>
      database.query(`INSERT INTO notes (owner, id) VALUES ($1, 'ffffffff-0000-4000-8000-000000000000')`, [
        createId(),
      ])
    await odd()
    await expect(arrange()).rejects.toThrow('ids that do not begin with a time')
    await odd()
    expect(await listPartitions()).toEqual([])
  })
})

test('a table that processes of the release before would damage is moved when the last of them has ended', async () => {
  const careful = { ...DAYS, waitsForOlderProcesses: true }
  const connect = async (applicationName: string, statement: string) => {
    const session = new Client({
      connectionString: created.connectionString,
      application_name: applicationName,
    })
    await session.connect()
    await session.query(statement)
    return session
  }
  const older = await connect('parkway-bus:1', 'SELECT 1')
  const present = await connect('parkway-bus:2', MARK_PROCESS)
  try {
    const move = () => arrangeOnce(created.connectionString, { tables: [careful] })
    await expect(move()).rejects.toThrow('release before')
    expect(await listPartitions()).toEqual([])
    await older.end()
    await expect
      .poll(() =>
        move().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(await listPartitions()).toContain('notes_before')
  } finally {
    await present.end()
  }
})

describe('partitions of time', () => {
  test('partitions are made ahead, and any id can be inserted at any time', async () => {
    await arrange()
    expect(await listPartitions()).toEqual([
      nameOfDay(0),
      nameOfDay(1),
      nameOfDay(2),
      'notes_before',
      'notes_other',
    ])
    for (const days of [-100, -1, 0, 2, 3, 100_000]) await insert(nowMs + days * DAY_MS)
    expect(await partitionsOfRows()).toEqual([nameOfDay(0), nameOfDay(2), 'notes_before', 'notes_other'])
  })

  test('partitions that are missing are made, but for days whose rows are in the default partition', async () => {
    await arrange()
    await database.query(`DROP TABLE ${nameOfDay(1)}, ${nameOfDay(2)}`)
    await insert(nowMs + DAY_MS)
    const missing: number[] = []
    const look = () =>
      arrangeOnce(created.connectionString, {
        tables: [DAYS],
        onCounted: (_table, count) => missing.push(count),
      })
    await look()
    await look()
    // Before and after it is locked.
    expect(missing).toEqual([2, 2, 1, 1])
    expect(await listPartitions()).toEqual([nameOfDay(0), nameOfDay(2), 'notes_before', 'notes_other'])
    expect(await database.query('SELECT count(*) AS rows FROM notes')).toEqual([{ rows: 1n }])
  })

  test('are dropped when the last of their rows is not kept, with what is to be kept of them', async () => {
    await insert(nowMs - 10 * DAY_MS)
    await arrange()
    await database.query('CREATE TABLE kept (name text, rows bigint)')
    const keepSums = ({ name }: { name: string }) =>
      `INSERT INTO kept SELECT '${name}', count(*) FROM ${name}`
    await arrange([keep(DAY_MS - 1, { keepSums, lateMs: DAY_MS })])
    expect(await listPartitions()).toContain('notes_before')
    await arrange([keep(DAY_MS, { keepSums, lateMs: DAY_MS })])
    expect(await listPartitions()).not.toContain('notes_before')
    expect(await listPartitions()).toContain(nameOfDay(0))
    expect(await database.query('SELECT * FROM kept')).toEqual([{ name: 'notes_before', rows: 1n }])
  })

  test('rows without a partition of their time are deleted when they are not kept, with what is to be kept of them', async () => {
    await arrange()
    await arrange([keep(0)])
    await database.query('CREATE TABLE kept (day text, rows bigint)')
    for (const days of [-20, -20, -19, -3, 50]) await insert(nowMs + days * DAY_MS)
    expect(await partitionsOfRows()).toEqual(['notes_other'])
    const keepSums = ({ rows, untilMs }: { rows: string; untilMs: number }) =>
      `INSERT INTO kept SELECT '${Math.round((untilMs - startOfStep('day', nowMs)) / DAY_MS)}', count(*) FROM ${rows}`
    const asked: string[] = []
    const mayDrop = async (_transaction: unknown, { untilMs }: { untilMs: number }) => {
      asked.push(new Date(untilMs).toISOString())
      return asked.length !== 2
    }
    await arrange([keep(-10 * DAY_MS, { keepSums, mayDrop })])
    expect(await database.query('SELECT count(*) AS rows FROM notes')).toEqual([{ rows: 3n }])
    await arrange([keep(-10 * DAY_MS, { keepSums, mayDrop })])
    expect(await database.query('SELECT count(*) AS rows FROM notes')).toEqual([{ rows: 2n }])
    expect(await database.query('SELECT * FROM kept ORDER BY day')).toEqual([
      { day: '-18', rows: 1n },
      { day: '-19', rows: 2n },
    ])
  })

  test('partitions are dropped when nobody reads them, and a reader sees them to its end', async () => {
    await insert(nowMs - 10 * DAY_MS)
    await arrange()
    let dropped: Promise<void> = Promise.resolve()
    await database.transaction(async (reader) => {
      await reader.query('SELECT FROM notes')
      dropped = arrange([keep(0)])
      // Others read and write while the drop is tried.
      await insert(nowMs)
      expect(await reader.query('SELECT FROM notes_before')).toHaveLength(1)
    })
    await dropped
    expect(await listPartitions()).not.toContain('notes_before')
    expect(await database.query('SELECT FROM notes')).toHaveLength(1)
  })
})
