import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import type { Manifest } from '../../src/storage/backup/backup-archive.ts'
import { backupDatabase } from '../../src/storage/backup/backup.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database, Queryable } from '../../src/storage/database.ts'
import { createMessageBus } from '../../src/storage/bus/message-bus.ts'
import { readInstallation, takeOverInstallation } from '../../src/storage/installation.ts'
import { migrate, MIGRATIONS_DIRECTORY } from '../../src/storage/migrate.ts'
import { restoreDatabase } from '../../src/storage/backup/restore.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../src/storage/testing/test-database.ts'
import { removeDirectory } from '../support/remove-directory.ts'

let directory: string
let file: string
let source: TestDatabase
let target: TestDatabase
let sourceDatabase: Database
let targetDatabase: Database

const connect = ({ connectionString }: TestDatabase): Database =>
  connectDatabase({ connectionString, poolSize: 5, statementTimeoutMs: 10_000 })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-backup-'))
  file = join(directory, 'backup.tar.gz')
  source = await createTestDatabase()
  target = await createEmptyDatabase()
  sourceDatabase = connect(source)
  targetDatabase = connect(target)
})

afterEach(async () => {
  await Promise.all([sourceDatabase.close(), targetDatabase.close()])
  await Promise.all([source.drop(), target.drop()])
  await removeDirectory(directory)
})

const backup = (): Promise<Manifest> =>
  backupDatabase({ connectionString: source.connectionString, file, overwrite: true, logger: silentLogger })
const restore = (overwrite = false): Promise<Manifest> =>
  restoreDatabase({ connectionString: target.connectionString, file, overwrite })

async function addAccount(database: Queryable, name: string, debtNanoUsd = 0n): Promise<string> {
  const id = createId()
  await database.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [id, name])
  await database.query('INSERT INTO credit_accounts (account_id, debt_nano_usd) VALUES ($1, $2)', [
    id,
    debtNanoUsd,
  ])
  return id
}

async function addKey(database: Queryable, accountId: string, name: string): Promise<void> {
  await database.query(
    `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, allowed_models)
     VALUES ($1, $2, $3, 'test', $4, 'pk-test-', '{inference,manage}', NULL)`,
    [createId(), accountId, name, Buffer.from(createId())],
  )
}

const readAll = async (database: Database): Promise<unknown[]> => [
  await database.query('SELECT * FROM accounts ORDER BY id'),
  await database.query('SELECT * FROM api_keys ORDER BY id'),
  await database.query('SELECT * FROM credit_accounts ORDER BY account_id'),
]

describe('a backup', () => {
  test('restores to equal rows, with every odd character unchanged', async () => {
    const accountId = await addAccount(
      sourceDatabase,
      'tab\t newline\n backslash\\ quote" ✿ \\N',
      9_007_199_254_740_993n,
    )
    await addKey(sourceDatabase, accountId, '')
    await backup()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(directory)).toEqual(['backup.tar.gz'])
    // A database that was only migrated counts as empty.
    await migrate({ connectionString: target.connectionString, logger: silentLogger })
    await restore()
    expect(await readAll(targetDatabase)).toEqual(await readAll(sourceDatabase))
    const migrated = await migrate({ connectionString: target.connectionString, logger: silentLogger })
    expect(migrated.applied).toBe(0)
  })

  test('a backup of a running gateway is consistent as of one moment', async () => {
    const payer = await addAccount(sourceDatabase, 'payer', 1_000_000n)
    const payee = await addAccount(sourceDatabase, 'payee')
    // Enough rows that the writers commit many times between the copy of the first and the last table.
    await sourceDatabase.query(
      `INSERT INTO accounts (id, name) SELECT gen_random_uuid(), repeat('x', 100) FROM generate_series(1, 50000)`,
    )
    const stop = new AbortController()
    let transfers = 0
    const transfer = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await sourceDatabase.transaction(async (transaction) => {
          await transaction.query(
            'UPDATE credit_accounts SET debt_nano_usd = debt_nano_usd - 1 WHERE account_id = $1',
            [payer],
          )
          await transaction.query(
            'UPDATE credit_accounts SET debt_nano_usd = debt_nano_usd + 1 WHERE account_id = $1',
            [payee],
          )
        })
        // The key and its account are created in one transaction, so the backup must contain both or neither.
        await sourceDatabase.transaction(async (transaction) => {
          await addKey(transaction, await addAccount(transaction, 'new'), 'first')
        })
        transfers += 1
      }
    }
    const writers = [transfer(), transfer(), transfer()]
    await expect.poll(() => transfers).toBeGreaterThan(20)
    await backup()
    const transfersByThen = transfers
    await expect.poll(() => transfers).toBeGreaterThan(transfersByThen)
    stop.abort()
    await Promise.all(writers)
    await restore()
    const [sum] = await targetDatabase.query('SELECT sum(debt_nano_usd)::text AS total FROM credit_accounts')
    expect(sum).toEqual({ total: '1000000' })
    const [counts] = await targetDatabase.query<{ keys: number; accounts: number }>(
      `SELECT (SELECT count(*)::int FROM api_keys) AS keys,
        (SELECT count(*)::int FROM accounts WHERE name = 'new') AS accounts`,
    )
    expect(counts?.keys).toBe(counts?.accounts)
    expect(counts?.keys).toBeGreaterThan(0)
  })

  test('includes later tables, their sequences, references and triggers without a code change', async () => {
    const migrations = join(directory, 'migrations')
    await cp(MIGRATIONS_DIRECTORY, migrations, { recursive: true })
    const version = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).length + 1
    // The name sorts before the table that it references, so it can only be loaded in dependency order.
    await writeFile(
      join(migrations, `${String(version).padStart(4, '0')}_aardvarks.sql`),
      `CREATE TABLE aardvarks (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size int,
         twice int GENERATED ALWAYS AS (2 * size) STORED, account_id uuid REFERENCES accounts (id),
         mother_id bigint REFERENCES aardvarks (id));
       CREATE FUNCTION grow() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.size = NEW.size + 1; RETURN NEW; END $$;
       CREATE TRIGGER grow BEFORE INSERT ON aardvarks FOR EACH ROW EXECUTE FUNCTION grow();
       INSERT INTO aardvarks (size) VALUES (10);`,
    )
    await migrate({ connectionString: source.connectionString, logger: silentLogger, directory: migrations })
    const accountId = await addAccount(sourceDatabase, 'keeper')
    await sourceDatabase.query(
      'INSERT INTO aardvarks (size, account_id, mother_id) VALUES (1, $1, 3), (2, $1, 1)',
      [accountId],
    )
    const manifest = await backup()
    const names = manifest.tables.map(({ name }) => name)
    expect(names.indexOf('aardvarks')).toBeGreaterThan(names.indexOf('accounts'))
    await restoreDatabase({ connectionString: target.connectionString, file, directory: migrations })
    const sql = 'SELECT * FROM aardvarks ORDER BY id'
    expect(await targetDatabase.query(sql)).toEqual(await sourceDatabase.query(sql))
    // The sequence continues at its old value, and the trigger is enabled again.
    const added = await targetDatabase.query('INSERT INTO aardvarks (size) VALUES (7) RETURNING id, twice')
    expect(added).toEqual([{ id: 4n, twice: 16 }])
    // A release without that migration refuses the archive.
    await expect(restore(true)).rejects.toMatchObject({ code: 'database_newer' })
  })

  test('a backup whose tables are not those of its version is refused and changes nothing', async () => {
    await sourceDatabase.query('CREATE TABLE aardvarks (id int)')
    await backup()
    await expect(restore()).rejects.toMatchObject({ code: 'bad_archive' })
    expect(await targetDatabase.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'parkway'`)).toEqual([])
  })

  test('into a directory that does not exist is refused', async () => {
    file = join(directory, 'missing', 'backup.tar.gz')
    await expect(backup()).rejects.toMatchObject({ code: 'not_writable' })
  })

  test('a backup that fails keeps the previous one', async () => {
    await backup()
    const before = await readFile(file)
    await expect(
      backupDatabase({
        connectionString: `${source.connectionString}&user=stranger`,
        file,
        overwrite: true,
        logger: silentLogger,
      }),
    ).rejects.toThrow()
    expect(await readFile(file)).toEqual(before)
    expect(await readdir(directory)).toEqual(['backup.tar.gz'])
  })
})

describe('a restore', () => {
  test('into a database with data is refused without --overwrite', async () => {
    await addAccount(sourceDatabase, 'from the backup')
    await backup()
    await migrate({ connectionString: target.connectionString, logger: silentLogger })
    await addAccount(targetDatabase, 'already here')
    await expect(restore()).rejects.toMatchObject({ code: 'not_empty' })
    expect(await targetDatabase.query('SELECT name FROM accounts')).toEqual([{ name: 'already here' }])
    await restore(true)
    expect(await targetDatabase.query('SELECT name FROM accounts')).toEqual([{ name: 'from the backup' }])
  })

  test('a restore of a database that a gateway serves from is refused and changes nothing, also with --overwrite', async () => {
    await addAccount(sourceDatabase, 'from the backup')
    await backup()
    await migrate({ connectionString: target.connectionString, logger: silentLogger })
    await addAccount(targetDatabase, 'already here')
    const bus = await createMessageBus({ connectionString: target.connectionString, logger: silentLogger })
    try {
      await expect(restore(true)).rejects.toMatchObject({
        code: 'in_use',
        message: expect.stringContaining('Stop them'),
      })
      expect(await targetDatabase.query('SELECT name FROM accounts')).toEqual([{ name: 'already here' }])
    } finally {
      await bus.close()
    }
    // The server may see the end of the session a moment later.
    await vi.waitFor(() => restore(true), { timeout: 20_000 })
  })

  test('makes another installation, which is paused unless it takes over', async () => {
    await backup()
    await restore()
    const copy = await readInstallation(targetDatabase)
    expect(copy).toMatchObject({ isPaused: true, restoredAtMs: expect.any(Number) })
    expect(copy.id).not.toBe((await readInstallation(sourceDatabase)).id)
    expect(await takeOverInstallation(targetDatabase)).toBe(true)
    expect((await readInstallation(targetDatabase)).isPaused).toBe(false)
    await restoreDatabase({
      connectionString: target.connectionString,
      file,
      overwrite: true,
      takeOver: true,
    })
    expect((await readInstallation(targetDatabase)).isPaused).toBe(false)
    expect((await readInstallation(sourceDatabase)).isPaused).toBe(false)
  })

  test('a restore of an archive cut at any point is refused before anything is changed', async () => {
    await addKey(sourceDatabase, await addAccount(sourceDatabase, 'kept'), 'first')
    await backup()
    const whole = await readFile(file)
    for (const keptBytes of [0, 1, 200, Math.floor(whole.length / 2), whole.length - 9, whole.length - 1]) {
      await writeFile(file, whole.subarray(0, keptBytes))
      await expect(restore(true), `${keptBytes} bytes`).rejects.toMatchObject({ code: 'bad_archive' })
    }
    expect(await targetDatabase.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'parkway'`)).toEqual([])
  })

  test('a restore of an archive whose rows were changed is refused before anything is changed', async () => {
    await addAccount(sourceDatabase, 'poor fellow')
    await backup()
    const tampered = gunzipSync(await readFile(file))
      .toString('latin1')
      .replace('poor fellow', 'rich fellow')
    await writeFile(file, gzipSync(Buffer.from(tampered, 'latin1')))
    await expect(restore(true)).rejects.toMatchObject({
      code: 'bad_archive',
      message: expect.stringContaining('checksum'),
    })
  })

  test('a restore of a file that is not an archive is refused', async () => {
    for (const content of ['', 'hello', gzipSync('hello'), gzipSync(Buffer.alloc(1024))]) {
      await writeFile(file, content)
      await expect(restore()).rejects.toMatchObject({ code: 'bad_archive' })
    }
    await rm(file)
    await expect(restore()).rejects.toMatchObject({
      code: 'bad_archive',
      message: expect.stringContaining('ENOENT'),
    })
  })

  test('a restore of an archive from a newer release is refused', async () => {
    await sourceDatabase.query(
      `INSERT INTO migrations (version, name, checksum) VALUES (9999, '9999_future.sql', 'x')`,
    )
    await backup()
    await expect(restore()).rejects.toMatchObject({ code: 'database_newer' })
  })
})
