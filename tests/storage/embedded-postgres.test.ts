import { chmod, chown, mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { findRunningPostgres } from '../../src/storage/embedded-postgres/find-running-postgres.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { spawnScript } from './spawn-script.ts'
import {
  canRunAsNobody,
  isLinux,
  isRoot,
  NOBODY,
  OWNER_SCRIPT,
  useFreshDirectory,
} from './use-fresh-directory.ts'

const fresh = useFreshDirectory()

describe('starting', () => {
  test('committed data exists after a stop and a second start', async () => {
    const first = await fresh.start()
    expect(first.adopted).toBe(false)
    await useDatabase(first.connectionString, async (database) => {
      await database.query('CREATE TABLE public.notes (text text)')
      await database.query(`INSERT INTO public.notes VALUES ('kept')`)
    })
    await first.stop()
    expect(await findRunningPostgres({ dataDir: fresh.dataDir })).toBeNull()
    const second = await fresh.start()
    expect(second.adopted).toBe(false)
    expect(second.connectionString).toBe(first.connectionString)
    const rows = await useDatabase(second.connectionString, (database) =>
      database.query('SELECT * FROM public.notes'),
    )
    expect(rows).toEqual([{ text: 'kept' }])
    await second.stop()
  })

  test('a production server flushes to disk and requires a password', async () => {
    const server = await startEmbeddedPostgres({ dataDir: fresh.dataDir, logger: silentLogger })
    const rows = await useDatabase(server.connectionString, (database) =>
      database.query(
        `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'listen_addresses') ORDER BY name`,
      ),
    )
    expect(rows).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '' },
      { name: 'synchronous_commit', setting: 'on' },
    ])
    const url = new URL(server.connectionString)
    url.password = 'guess'
    await expect(useDatabase(url.href, (database) => database.ping())).rejects.toMatchObject({
      cause: { code: '28P01' },
    })
    expect((await stat(join(fresh.dataDir, 'postgres', 'parkway.password'))).mode & 0o777).toBe(0o600)
    await server.stop()
  })

  test('a path too long for a socket uses a loopback port', async () => {
    fresh.dataDir = join(fresh.parentDir, 'long'.repeat(30))
    const server = await fresh.start()
    expect(new URL(server.connectionString).hostname).toBe('127.0.0.1')
    const rows = await useDatabase(server.connectionString, (database) =>
      database.query('SHOW listen_addresses'),
    )
    expect(rows).toEqual([{ listen_addresses: '127.0.0.1' }])
    await server.stop()
  })

  test('a pid file of a dead server does not block the next, although its pid is in use again', async () => {
    await (await fresh.start()).stop()
    await writeFile(
      join(fresh.dataDir, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${fresh.dataDir}\n1\n5432\n.\n\n0 0\nready\n`,
    )
    const server = await fresh.start()
    expect(server.adopted).toBe(false)
    await server.stop()
  })

  test.runIf(isRoot && isLinux)("root can keep the data where the server's user has no access", async () => {
    await chmod(fresh.parentDir, 0o700)
    const server = await fresh.start()
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
    await (await fresh.start()).stop()
  })

  test.runIf(canRunAsNobody)('an ordinary user starts it as itself', async () => {
    await chown(fresh.parentDir, NOBODY.uid, NOBODY.gid)
    const owner = spawnScript(OWNER_SCRIPT, [fresh.dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({ adopted: false })
    expect((await stat(join(fresh.dataDir, 'postgres'))).uid).toBe(NOBODY.uid)
    await owner.finish()
    // When root starts it afterwards, the server runs as the owner of the data directory.
    await (await fresh.start()).stop()
  })
})

describe('a gateway that was killed', () => {
  test('leaves its server to the next one, with all data', async () => {
    const owner = spawnScript(OWNER_SCRIPT, [fresh.dataDir])
    const before = await owner.read()
    const pid = await readPostmasterPid()
    await owner.kill()
    const server = await fresh.start()
    expect(server).toMatchObject({ adopted: true, connectionString: before['connectionString'] })
    expect(await readPostmasterPid()).toBe(pid)
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
    await expect(readPostmasterPid()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('does not lock the directory, although its pid is in use again', async () => {
    await mkdir(fresh.dataDir, { mode: 0o711 })
    const lock = { token: 'old', pid: process.pid, startTime: 'another', pidSpace: await currentPidSpace() }
    await writeFile(join(fresh.dataDir, 'gateway.lock'), JSON.stringify(lock))
    await (await fresh.start()).stop()
  })

  test('in another container is distinguished from a live one by its heartbeat', async () => {
    await mkdir(fresh.dataDir, { mode: 0o711 })
    const file = join(fresh.dataDir, 'gateway.lock')
    await writeFile(file, JSON.stringify({ token: 'far', pid: 1, startTime: '1', pidSpace: 'elsewhere' }))
    const heartbeat = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => {}), 200)
    await expect(fresh.start()).rejects.toMatchObject({ code: 'in_use' })
    clearInterval(heartbeat)
    await (await fresh.start()).stop()
  })
})

describe('a running server', () => {
  test('belongs to one gateway at a time', async () => {
    const server = await fresh.start()
    await expect(fresh.start()).rejects.toMatchObject({ code: 'in_use' })
    const second = spawnScript(OWNER_SCRIPT, [fresh.dataDir])
    expect(await second.read()).toMatchObject({ code: 'in_use' })
    await second.finish()
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
  })

  test('is restarted under the same address when it dies', async () => {
    const server = await fresh.start()
    await useDatabase(server.connectionString, async (database) => {
      await database.ping()
      process.kill(await readPostmasterPid(), 'SIGKILL')
      await expect
        .poll(
          () =>
            database.ping().then(
              () => 'answers',
              () => 'fails',
            ),
          { timeout: 10_000 },
        )
        .toBe('answers')
    })
    await server.stop()
  })

  test('can be found by a command beside the gateway', async () => {
    const server = await fresh.start()
    expect(await findRunningPostgres({ dataDir: fresh.dataDir })).toMatchObject({
      connectionString: server.connectionString,
    })
    await server.stop()
  })
})

async function useDatabase<Result>(
  connectionString: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 5_000 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

const readPostmasterPid = async (): Promise<number> =>
  Number((await readFile(join(fresh.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

async function currentPidSpace(): Promise<string> {
  const server = await startEmbeddedPostgres({
    dataDir: join(fresh.parentDir, 'other'),
    logger: silentLogger,
    durable: false,
  })
  const lock: unknown = JSON.parse(await readFile(join(fresh.parentDir, 'other', 'gateway.lock'), 'utf8'))
  await server.stop()
  return typeof lock === 'object' && lock !== null && 'pidSpace' in lock ? String(lock.pidSpace) : ''
}
