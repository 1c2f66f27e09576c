import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { findRunningPostgres } from '../../src/storage/embedded-postgres/find-running-postgres.ts'
import { locateBinaries } from '../../src/storage/embedded-postgres/locate-binaries.ts'
import { isReachableBy } from '../../src/storage/embedded-postgres/server-user.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { spawnScript } from './spawn-script.ts'

const SCRIPT = new URL('./own-data-directory.ts', import.meta.url)

const NOBODY = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
const canRunAsNobody =
  isRoot &&
  (await isReachableBy(import.meta.dirname, NOBODY)) &&
  (await isReachableBy(join(process.execPath, '..'), NOBODY))

let parentDir: string
let dataDir: string

beforeEach(async () => {
  parentDir = await mkdtemp(join(tmpdir(), 'parkway-'))
  await chmod(parentDir, 0o755)
  dataDir = join(parentDir, 'data')
})

afterEach(async () => {
  await rm(parentDir, { recursive: true, force: true })
})

const start = (): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })

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
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

describe('starting', () => {
  test('what was committed is there after a stop and a second start', async () => {
    const first = await start()
    expect(first.adopted).toBe(false)
    await useDatabase(first.connectionString, async (database) => {
      await database.query('CREATE TABLE public.notes (text text)')
      await database.query(`INSERT INTO public.notes VALUES ('kept')`)
    })
    await first.stop()
    expect(await findRunningPostgres({ dataDir })).toBeNull()
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(second.connectionString).toBe(first.connectionString)
    const rows = await useDatabase(second.connectionString, (database) =>
      database.query('SELECT * FROM public.notes'),
    )
    expect(rows).toEqual([{ text: 'kept' }])
    await second.stop()
  })

  test('a server for production writes through to the disk and asks for a password', async () => {
    const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger })
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
    expect((await stat(join(dataDir, 'postgres', 'parkway.password'))).mode & 0o777).toBe(0o600)
    await server.stop()
  })

  test('a path too long for a socket gets a loopback port', async () => {
    dataDir = join(parentDir, 'long'.repeat(30))
    const server = await start()
    expect(new URL(server.connectionString).hostname).toBe('127.0.0.1')
    const rows = await useDatabase(server.connectionString, (database) =>
      database.query('SHOW listen_addresses'),
    )
    expect(rows).toEqual([{ listen_addresses: '127.0.0.1' }])
    await server.stop()
  })

  test('a pid file of a dead server does not stop the next, though its pid lives again', async () => {
    await (await start()).stop()
    await writeFile(
      join(dataDir, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${dataDir}\n1\n5432\n.\n\n0 0\nready\n`,
    )
    const server = await start()
    expect(server.adopted).toBe(false)
    await server.stop()
  })

  test.runIf(isRoot && isLinux)('root can keep the data where the server cannot walk to', async () => {
    await chmod(parentDir, 0o700)
    const server = await start()
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
    await (await start()).stop()
  })

  test.runIf(canRunAsNobody)('an ordinary user starts it as itself', async () => {
    await chown(parentDir, NOBODY.uid, NOBODY.gid)
    const owner = spawnScript(SCRIPT, [dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({ adopted: false })
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid)
    await owner.finish()
    // Root then runs it as the user it belongs to.
    await (await start()).stop()
  })
})

describe('a gateway that was killed', () => {
  test('leaves its server to the next one, with everything in it', async () => {
    const owner = spawnScript(SCRIPT, [dataDir])
    const before = await owner.read()
    const pid = await readPostmasterPid()
    await owner.kill()
    const server = await start()
    expect(server).toMatchObject({ adopted: true, connectionString: before['connectionString'] })
    expect(await readPostmasterPid()).toBe(pid)
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
    await expect(readPostmasterPid()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('does not lock the directory, though its pid lives again', async () => {
    await mkdir(dataDir, { mode: 0o711 })
    const lock = { token: 'old', pid: process.pid, startTime: 'another', pidSpace: await currentPidSpace() }
    await writeFile(join(dataDir, 'gateway.lock'), JSON.stringify(lock))
    await (await start()).stop()
  })

  test('in another container is told from a living one by its heartbeat', async () => {
    await mkdir(dataDir, { mode: 0o711 })
    const file = join(dataDir, 'gateway.lock')
    await writeFile(file, JSON.stringify({ token: 'far', pid: 1, startTime: '1', pidSpace: 'elsewhere' }))
    const heartbeat = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => {}), 200)
    await expect(start()).rejects.toMatchObject({ code: 'in_use' })
    clearInterval(heartbeat)
    await (await start()).stop()
  })
})

describe('a running server', () => {
  test('belongs to one gateway at a time', async () => {
    const server = await start()
    await expect(start()).rejects.toMatchObject({ code: 'in_use' })
    const second = spawnScript(SCRIPT, [dataDir])
    expect(await second.read()).toMatchObject({ code: 'in_use' })
    await second.finish()
    await useDatabase(server.connectionString, (database) => database.ping())
    await server.stop()
  })

  test('is started again under the same address when it dies', async () => {
    const server = await start()
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
    const server = await start()
    expect(await findRunningPostgres({ dataDir })).toMatchObject({
      connectionString: server.connectionString,
    })
    await server.stop()
  })
})

describe('what can go wrong is said', () => {
  test('the data directory is a file', async () => {
    await writeFile(dataDir, '')
    await expect(start()).rejects.toMatchObject({
      code: 'not_writable',
      message: expect.stringContaining('PARKWAY_DATA_DIR'),
    })
  })

  test.runIf(canRunAsNobody)('the data directory cannot be written to', async () => {
    const owner = spawnScript(SCRIPT, [dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({ code: 'not_writable' })
    await owner.finish()
  })

  test.runIf(canRunAsNobody)('the cluster belongs to another user', async () => {
    await (await start()).stop()
    await chown(dataDir, NOBODY.uid, NOBODY.gid)
    await chown(join(dataDir, 'postgres'), 1, 1)
    const owner = spawnScript(SCRIPT, [dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({
      code: 'wrong_owner',
      message: expect.stringContaining('chown'),
    })
    await owner.finish()
  })

  test('the directory holds something else', async () => {
    await mkdir(join(dataDir, 'postgres'), { recursive: true })
    await writeFile(join(dataDir, 'postgres', 'letters.txt'), '')
    await expect(start()).rejects.toMatchObject({ code: 'foreign_directory' })
  })

  test('the cluster is of another major version', async () => {
    await (await start()).stop()
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '9\n')
    await expect(start()).rejects.toMatchObject({
      code: 'version_mismatch',
      message: expect.stringContaining('backup'),
    })
  })

  test('the server does not start, with the end of its log', async () => {
    await (await start()).stop()
    await writeFile(join(dataDir, 'postgres', 'postgresql.auto.conf'), `work_mem = 'plenty'\n`)
    await expect(start()).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('work_mem'),
    })
    await writeFile(join(dataDir, 'postgres', 'postgresql.auto.conf'), '')
    await (await start()).stop()
  })

  test('the platform has no binaries', async () => {
    await expect(locateBinaries(parentDir, null, 'plan9-mips')).rejects.toMatchObject({
      code: 'binaries_missing',
      message: expect.stringContaining('DATABASE_URL'),
    })
  })

  test.runIf(isRoot && isLinux && canMount())('no space is left, at first and later', async () => {
    await mkdir(dataDir)
    const expected = { code: 'no_space', message: expect.stringContaining('PARKWAY_DATA_DIR') }
    runProgram('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', dataDir])
    try {
      await expect(start()).rejects.toMatchObject(expected)
      runProgram('mount', ['-o', 'remount,size=200m', dataDir])
      await (await start()).stop()
      await writeFile(join(dataDir, 'filler'), Buffer.alloc(200 * 1024 * 1024)).catch(() => {})
      await expect(start()).rejects.toMatchObject(expected)
    } finally {
      runProgram('umount', [dataDir])
    }
  })
})

function runProgram(program: string, args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' })
}

function canMount(): boolean {
  try {
    runProgram('unshare', ['-m', 'true'])
    return true
  } catch {
    return false
  }
}

async function currentPidSpace(): Promise<string> {
  const server = await startEmbeddedPostgres({
    dataDir: join(parentDir, 'other'),
    logger: silentLogger,
    durable: false,
  })
  const lock: unknown = JSON.parse(await readFile(join(parentDir, 'other', 'gateway.lock'), 'utf8'))
  await server.stop()
  return typeof lock === 'object' && lock !== null && 'pidSpace' in lock ? String(lock.pidSpace) : ''
}
