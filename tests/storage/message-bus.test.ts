import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../src/kernel/app-error.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { createMessageBus, type MessageBus } from '../../src/storage/bus/message-bus.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { spawnScript, type Script } from './spawn-script.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const SCRIPT = new URL('./listen-on-bus.ts', import.meta.url)

let database: TestDatabase
let bus: MessageBus
let scripts: Script[]

beforeEach(async () => {
  database = await createTestDatabase()
  bus = await createMessageBus({ connectionString: database.connectionString, logger: silentLogger })
  scripts = []
})

afterEach(async () => {
  await bus.close()
  await Promise.all(scripts.map((script) => script.kill()))
  await database.drop()
})

async function spawnListener(connectionString = database.connectionString): Promise<Script> {
  const script = spawnScript(SCRIPT, [connectionString])
  scripts.push(script)
  expect(await script.read()).toEqual({ ready: true })
  return script
}

describe('the message bus', () => {
  test('a message reaches every process, including the sender, and only its topic', async () => {
    const [one, two] = await Promise.all([spawnListener(), spawnListener()])
    const heard = Promise.withResolvers<string>()
    bus.subscribe('news', heard.resolve)
    bus.subscribe('other', () => heard.reject(new Error('wrong topic')))
    await bus.publish('news', 'spring\nhas come ✿')
    expect(await one.read()).toEqual({ heard: 'spring\nhas come ✿' })
    expect(await two.read()).toEqual({ heard: 'spring\nhas come ✿' })
    expect(await heard.promise).toBe('spring\nhas come ✿')
  })

  test('an unsubscribed handler is not called', async () => {
    const heard: string[] = []
    const unsubscribe = bus.subscribe('news', (payload) => void heard.push(payload))
    await bus.publishAndConfirm('news', 'first', { timeoutMs: 5_000 })
    unsubscribe()
    await bus.publishAndConfirm('news', 'second', { timeoutMs: 5_000 })
    expect(heard).toEqual(['first'])
  })

  test('a confirmation waits for the slowest process', async () => {
    const [, slow] = await Promise.all([spawnListener(), spawnListener()])
    const [quick] = scripts
    const confirmation = bus.publishAndConfirm('slow', 'work', { timeoutMs: 20_000 })
    expect(await slow.read()).toEqual({ began: 'work' })
    expect(await quick?.read()).toEqual({ began: 'work' })
    quick?.write('go')
    expect(await quick?.read()).toEqual({ finished: 'work' })
    let isConfirmed = false
    void confirmation.then(() => (isConfirmed = true))
    // Another message has passed over the same connections, and the first one is still not confirmed.
    await bus.publish('news', 'meanwhile')
    expect(await slow.read()).toEqual({ heard: 'meanwhile' })
    expect(isConfirmed).toBe(false)
    slow.write('go')
    expect(await slow.read()).toEqual({ finished: 'work' })
    expect(await confirmation).toEqual({ confirmed: true })
  })

  test('a dead process is not awaited', async () => {
    const listener = await spawnListener()
    const confirmation = bus.publishAndConfirm('slow', 'work', { timeoutMs: 20_000 })
    expect(await listener.read()).toEqual({ began: 'work' })
    await listener.kill()
    expect(await confirmation).toEqual({ confirmed: true })
  })

  test('a process that takes too long leaves the message unconfirmed', async () => {
    await spawnListener()
    expect(await bus.publishAndConfirm('slow', 'work', { timeoutMs: 300 })).toEqual({ confirmed: false })
  })

  test('a handler that fails leaves the message unconfirmed at once', async () => {
    bus.subscribe('news', () => Promise.reject(new Error('full')))
    expect(await bus.publishAndConfirm('news', '', { timeoutMs: 20_000 })).toEqual({ confirmed: false })
  })

  test('a failed handler is logged as an error, one that met an outage as a warning', async () => {
    const logged: string[] = []
    const logger = {
      ...silentLogger,
      warn: () => void logged.push('warning'),
      error: () => void logged.push('error'),
    }
    const listening = await createMessageBus({ connectionString: database.connectionString, logger })
    listening.subscribe('away', () =>
      Promise.reject(new AppError('service_unavailable', 'The database is away.')),
    )
    listening.subscribe('news', () => Promise.reject(new Error('full')))
    await bus.publishAndConfirm('away', '', { timeoutMs: 20_000 })
    await bus.publishAndConfirm('news', '', { timeoutMs: 20_000 })
    await listening.close()
    expect(logged).toEqual(['warning', 'error'])
  })

  test('a message of 7 KB passes, one byte more and a bad topic are refused', async () => {
    const heard = Promise.withResolvers<string>()
    bus.subscribe('news', heard.resolve)
    await bus.publish('news', '"'.repeat(7_168))
    expect(await heard.promise).toHaveLength(7_168)
    await expect(bus.publish('news', 'x'.repeat(7_169))).rejects.toMatchObject({ code: 'bad_message' })
    await expect(bus.publish('bad\ntopic', '')).rejects.toMatchObject({ code: 'bad_message' })
  })

  test('a cut connection is reported, and reconnects by itself', async () => {
    const lost = Promise.withResolvers<void>()
    bus.onConnectionLost(() => {
      expect(bus.isConnected()).toBe(false)
      lost.resolve()
    })
    await cutBuses(database.connectionString)
    await lost.promise
    await expect.poll(() => bus.isConnected()).toBe(true)
    expect(await bus.publishAndConfirm('news', 'again', { timeoutMs: 5_000 })).toEqual({ confirmed: true })
  })

  test('a retry after a cut uses the next connection, not the old one', async () => {
    for (let cuts = 0; cuts < 10; cuts += 1) {
      await expect.poll(() => bus.isConnected()).toBe(true)
      await cutBuses(database.connectionString)
      const sent = await bus.publishAndConfirm('news', 'first', { timeoutMs: 5_000 })
      const again = await bus.publishAndConfirm('news', 'second', { timeoutMs: 5_000 })
      expect([sent.confirmed, again.confirmed]).toContain(true)
    }
  })

  test('a closed bus refuses to send and does not hang', async () => {
    await bus.close()
    await expect(bus.publish('news', '')).rejects.toMatchObject({ code: 'disconnected' })
    expect(await bus.publishAndConfirm('news', '', { timeoutMs: 10_000 })).toEqual({ confirmed: false })
  })
})

describe('when the server dies', () => {
  test('pools and buses of two processes work again once it is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'parkway-'))
    const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })
    const { connectionString } = server
    const pool = connectDatabase({ connectionString, poolSize: 3, statementTimeoutMs: 5_000 })
    const ownBus = await createMessageBus({ connectionString, logger: silentLogger })
    const listener = await spawnListener(connectionString)
    const lost = Promise.withResolvers<void>()
    ownBus.onConnectionLost(lost.resolve)
    await Promise.all([pool.ping(), pool.ping(), pool.ping()])
    const pidFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL')
    await lost.promise
    await expect.poll(() => ownBus.isConnected()).toBe(true)
    await pool.ping()
    await expect.poll(() => countBuses(connectionString)).toBe(2)
    expect(await ownBus.publishAndConfirm('news', 'back', { timeoutMs: 10_000 })).toEqual({ confirmed: true })
    expect(await listener.read()).toEqual({ heard: 'back' })
    await pool.close()
    await ownBus.close()
    await server.stop()
    await removeDirectory(dataDir)
  })
})

async function askOnce(connectionString: string, sql: string): Promise<number> {
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 5_000 })
  const rows = await database.query(sql)
  await database.close()
  return rows.length
}

const BUSES = `FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'parkway-bus:%'`
const countBuses = (connectionString: string): Promise<number> =>
  askOnce(connectionString, `SELECT 1 ${BUSES}`)
const cutBuses = (connectionString: string): Promise<number> =>
  askOnce(connectionString, `SELECT pg_terminate_backend(pid) ${BUSES}`)
