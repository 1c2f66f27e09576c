import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'
import { MIGRATIONS_DIRECTORY, readMigrations, type Migration } from '../../storage/migrate.ts'
import { createOlderDatabase, type OlderDatabase } from '../../storage/testing/create-older-database.ts'
import { checkConfig } from '../commands/check-config.ts'
import { checkUpgrade } from '../commands/check-upgrade.ts'
import type { Finding } from '../doctor/finding.ts'
import { compareSettings } from './compare-settings.ts'
import { describeMigration } from './describe-migration.ts'
import { judgeUpgrade } from './judge-upgrade.ts'
import type { UpgradeFacts } from './read-upgrade.ts'

/** Before the columns of uploads in parts, and everything later. */
const OLDER = 101
const GIBIBYTE = 1024 ** 3

let older: OlderDatabase
let migrations: Migration[]
let directory: string

beforeAll(async () => {
  older = await createOlderDatabase(OLDER)
  migrations = await readMigrations(MIGRATIONS_DIRECTORY)
  directory = await mkdtemp(join(tmpdir(), 'parkway-upgrade-'))
})
afterAll(async () => {
  await older.drop()
  await removeDirectory(directory)
})
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('PARKWAY_')) vi.stubEnv(name, undefined)
  vi.stubEnv('DATABASE_URL', older.connectionString)
  vi.stubEnv('PARKWAY_DATA_DIR', directory)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

async function run(...words: string[]): Promise<{ code: number; printed: string; findings: Finding[] }> {
  let printed = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  try {
    const code = await checkUpgrade.run(words)
    const isJson = words.includes('--json')
    const lines = isJson ? printed.split('\n').filter((line) => line !== '') : []
    return { code, printed, findings: lines.map((line) => JSON.parse(line) as Finding) }
  } finally {
    write.mockRestore()
  }
}

const codes = (findings: readonly Finding[]) => findings.map(({ code }) => code)

test('what an upgrade will do is told before it, nothing is changed, and the start does just that', async () => {
  await older.database.query(
    `INSERT INTO borrowers (id, writer, expires_at, capabilities)
     VALUES (gen_random_uuid(), 1, now() + interval '1 hour', '{}')`,
  )
  const before = await run('--json')
  const pending = before.findings.filter(({ code }) => code === 'migration_pending')
  expect(pending.map(({ subject }) => subject)).toEqual(migrations.slice(OLDER - 1).map(({ name }) => name))
  expect(pending[0]?.message).toMatch(/adds columns to files.*makes the table file_reservations/)
  expect(codes(before.findings)).toEqual(
    expect.arrayContaining(['way_back_closes', 'processes_older', 'room_unknown']),
  )
  expect(before.code).toBe(0)
  const [row] = await older.database.query<{ count: number }>('SELECT count(*)::int AS count FROM migrations')
  expect(row?.count).toBe(OLDER - 1)

  await older.update()
  const after = await run('--json')
  expect(codes(after.findings)).toEqual(['way_back_open', 'processes_older'])
  expect((await run()).printed).toContain('way_back_open')
})

test('a database of a newer release, or with other migrations, is refused as a start would be', async () => {
  await older.update()
  await older.database.query(
    `INSERT INTO migrations (version, name, checksum) VALUES (9999, '9999_later.sql', 'x')`,
  )
  const { code, findings } = await run('--json')
  expect([code, codes(findings)]).toEqual([1, ['upgrade_refused']])
  expect(findings[0]?.message).toContain('Start a newer release')
  await older.database.query('DELETE FROM migrations WHERE version = 9999')
})

test('settings that this release refuses are told', async () => {
  vi.stubEnv('PARKWAY_OF_BEFORE', 'true')
  const { code, findings } = await run('--json')
  expect([code, codes(findings)]).toEqual([1, ['settings_invalid']])
  expect(findings[0]?.message).toContain('PARKWAY_OF_BEFORE')
})

test('settings that are new or gone are named from what the running release printed', async () => {
  let printed = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  await checkConfig.run([])
  write.mockRestore()
  expect(compareSettings(printed)).toEqual([])
  const file = join(directory, 'settings.txt')
  await writeFile(file, printed.replace(/^ {2}metrics_open .*$/m, '  of_before                        true'))
  const { findings } = await run('--json', '--settings', file)
  expect(findings.filter(({ code }) => code.startsWith('setting_'))).toEqual([
    expect.objectContaining({ code: 'setting_gone', subject: 'of_before', level: 'warning' }),
    expect.objectContaining({ code: 'setting_new', subject: 'metrics_open', level: 'info' }),
  ])
  expect(codes(compareSettings('nothing'))).toEqual(['settings_unreadable'])
})

describe('what a migration does', () => {
  test.each([
    ['CREATE TABLE notes (id uuid PRIMARY KEY)', ['new_table notes']],
    [
      'CREATE TABLE notes (id int); CREATE INDEX by_id ON notes (id); INSERT INTO notes SELECT 1',
      ['new_table notes'],
    ],
    ['ALTER TABLE tasks ADD COLUMN a int NOT NULL DEFAULT 0', ['new_column tasks']],
    ['ALTER TABLE tasks ADD COLUMN a uuid DEFAULT gen_random_uuid()', ['table_rewritten tasks']],
    ['ALTER TABLE tasks ADD CONSTRAINT c CHECK (a > 0)', ['definition tasks', 'table_read tasks']],
    ['ALTER TABLE tasks ADD CONSTRAINT c CHECK (a > 0) NOT VALID', ['definition tasks']],
    ['CREATE UNIQUE INDEX by_a ON parkway.tasks (a)', ['new_index tasks']],
    ['-- UPDATE notes; no\nUPDATE tasks SET a = 1;', ['rows_changed tasks']],
    ['WITH old AS (SELECT 1) DELETE FROM tasks', ['rows_changed tasks']],
    [`CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ UPDATE tasks SET a = 1; $$`, ['definition null']],
  ])('%s', (sql, expected) => {
    expect(describeMigration(sql).map(({ kind, table }) => `${kind} ${table}`)).toEqual(expected)
  })

  test('is known for every migration of ours: each does something', () => {
    for (const { name, sql } of migrations)
      expect([name, describeMigration(sql).length > 0]).toEqual([name, true])
  })
})

describe('what makes an upgrade dangerous is a warning', () => {
  const quiet: UpgradeFacts = {
    applied: [],
    tables: new Map([['tasks', { rows: 5_000_000, bytes: 4 * GIBIBYTE }]]),
    databaseBytes: GIBIBYTE,
    processes: { living: 0, older: 0 },
    longTransactions: [],
    isSchemaLocked: false,
  }
  const migration = (sql: string): Migration => ({ version: 1, name: '0001_a.sql', sql, checksum: 'x' })
  const harmless = [migration('CREATE TABLE notes (id int)')]

  test.each<[string, Partial<UpgradeFacts>, string, number | null]>([
    ['migration_pending', {}, 'CREATE INDEX by_a ON tasks (a)', null],
    ['room_short', {}, 'CREATE INDEX by_a ON tasks (a)', 8 * GIBIBYTE],
    [
      'transaction_in_the_way',
      { longTransactions: [{ pid: 7, seconds: 90 }] },
      'CREATE TABLE a (b int)',
      null,
    ],
    ['schema_locked', { isSchemaLocked: true }, 'CREATE TABLE a (b int)', null],
  ])('%s', (code, facts, sql, freeBytes) => {
    const findings = judgeUpgrade({ ...quiet, ...facts }, [migration(sql)], freeBytes)
    const found = findings.filter((finding) => finding.code === code)
    expect([found.length, found[0]?.level === 'info']).toEqual([1, false])
  })

  test('and one that only makes tables is none, where there is room', () => {
    const findings = judgeUpgrade(quiet, harmless, 20 * GIBIBYTE)
    expect(findings.filter(({ level }) => level !== 'info')).toEqual([])
  })
})
