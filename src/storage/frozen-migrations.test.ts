import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MIGRATIONS_DIRECTORY, readMigrations } from './migrate.ts'

const CHECKSUMS_FILE = join(MIGRATIONS_DIRECTORY, 'checksums.sha256')
/** Checksum of the first lines of the file. It detects a change of both a migration and its line. */
const FROZEN = { lines: 15, checksum: '57a2541996b39c6fee560304024455734ace5e3f36b1c9f54d3eb3d325ac9256' }

/** Statements that break a process of the previous release, which runs on the new schema until it is replaced. */
const NOT_ADDITIVE = [
  /\bDROP\s+(TABLE|COLUMN|FUNCTION|TYPE|SCHEMA|VIEW|SEQUENCE|DEFAULT)\b/i,
  /\bRENAME\b/i,
  /\bTRUNCATE\b/i,
  /\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b/i,
  /\bSET\s+NOT\s+NULL\b/i,
  /\bADD\s+COLUMN\s+(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT\s+NULL\b/i,
  /\b(ENABLE|FORCE)\s+ROW\s+LEVEL\b/i,
]

const lines = readFileSync(CHECKSUMS_FILE, 'utf8').replaceAll('\r\n', '\n').split('\n').slice(0, -1)

describe('migrations are frozen', () => {
  test('every migration has its original checksum', async () => {
    const migrations = await readMigrations(MIGRATIONS_DIRECTORY)
    expect(migrations.length).toBeGreaterThanOrEqual(FROZEN.lines)
    // For a new migration, run `sha256sum NNNN_name.sql >> checksums.sha256` in src/storage/migrations.
    expect(lines).toEqual(migrations.map(({ name, checksum }) => `${checksum}  ${name}`))
  })

  test('the checksums of the first release are the first lines', () => {
    const text = lines
      .slice(0, FROZEN.lines)
      .map((line) => `${line}\n`)
      .join('')
    expect(createHash('sha256').update(text).digest('hex')).toBe(FROZEN.checksum)
  })

  test('migrations after the first release only add', async () => {
    const later = (await readMigrations(MIGRATIONS_DIRECTORY)).slice(FROZEN.lines)
    const wrong = later.flatMap(({ name, sql }) => findBreaking(sql).map((found) => `${name}: ${found}`))
    expect(wrong).toEqual([])
  })

  test.each([
    'ALTER TABLE tasks DROP COLUMN status',
    'DROP TABLE tasks',
    'ALTER TABLE tasks RENAME COLUMN a TO b',
    'ALTER TABLE tasks ALTER COLUMN a TYPE int',
    'ALTER TABLE tasks ALTER COLUMN a SET NOT NULL',
    'ALTER TABLE tasks ADD COLUMN a int NOT NULL',
    'ALTER TABLE tasks ADD COLUMN a int DEFAULT 1, ADD COLUMN b int NOT NULL',
  ])('%s would be found', (sql) => {
    expect(findBreaking(sql)).toHaveLength(1)
  })

  test.each([
    'CREATE TABLE greetings (id uuid PRIMARY KEY, text text NOT NULL)',
    'ALTER TABLE tasks ADD COLUMN a int NOT NULL DEFAULT 0, ADD COLUMN b int',
    '-- DROP TABLE in words breaks nothing.\nCREATE INDEX tasks_by_a ON tasks (a)',
  ])('%s is additive', (sql) => {
    expect(findBreaking(sql)).toEqual([])
  })
})

function findBreaking(sql: string): string[] {
  const code = sql.replaceAll(/--.*$/gm, '')
  return NOT_ADDITIVE.flatMap((pattern) => pattern.exec(code)?.[0] ?? [])
}
