import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { NO_KEY_LIMITS } from '../../providers/connection/key-limits.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { createSealer } from '../../kernel/seal-text.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createTestDatabase } from '../../storage/testing/test-database.ts'
import { createCertificateAuthorities, createOffer, type Offer } from './offer.ts'

const DRAFT = { name: 'one', baseUrl: 'http://127.0.0.1:9/v1', credentials: [] }
const NO_REFERENCES = {
  findProblem: () => null,
  read: () => ({ secret: null, problem: 'nothing is read' }) as const,
  load: async () => {},
  refresh: () => false,
  keep: () => {},
}
/** Messages to nobody: a process that hears nothing. */
const DEAF_BUS = { subscribe: () => () => {}, publishAndConfirm: async () => ({ confirmed: false }) }

let database: Database
let drop: () => Promise<void>

beforeAll(async () => {
  const created = await createTestDatabase()
  database = connectDatabase({
    connectionString: created.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
  drop = () => created.drop()
})
afterAll(async () => {
  await database.close()
  await drop()
})

interface Process {
  readonly offer: Offer
  readonly used: () => ReadonlyMap<string, ProviderSettings>
}

async function startProcess(on: Database = database, sealingKey = 'a key'): Promise<Process> {
  let used: ReadonlyMap<string, ProviderSettings> = new Map()
  const offer = await createOffer({
    database: on,
    messageBus: DEAF_BUS,
    clock: systemClock,
    logger: silentLogger,
    sealer: createSealer(sealingKey),
    references: NO_REFERENCES,
    authorities: createCertificateAuthorities([]),
    isTaken: () => false,
    useProviders: (settings) => (used = settings),
    useModels: () => {},
    listFilePrices: () => new Map(),
    modelRules: {
      check: () => ({ aliases: [], rates: {}, costs: [] }),
      isOfFile: () => false,
      fileEntryOf: () => null,
      checkTerms: () => ({}),
    },
  })
  onTestFinished(() => offer.close())
  return { offer, used: () => used }
}

/** Waits for at most the time within which a process notices by itself. */
async function within5s(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 5_000, interval: 50 })
}

test('a process that heard nothing notices a change within five seconds', async () => {
  const [one, other] = [await startProcess(), await startProcess()]
  await (await one.offer.addProvider(DRAFT)).make()
  expect(one.used().has('one')).toBe(true)
  await within5s(() => expect(other.used().has('one')).toBe(true))
  await (await other.offer.removeProvider('one')).make()
  await within5s(() => expect(one.used().has('one')).toBe(false))
})

test('the last known state stays in use while the database is away, and the next one follows it', async () => {
  let isAway = false
  const unsteady: Database = {
    ...database,
    query: (sql, values) =>
      isAway ? Promise.reject(new Error('the database is away')) : database.query(sql, values),
  }
  const other = await startProcess()
  await (await other.offer.addProvider({ ...DRAFT, name: 'kept' })).make()
  const one = await startProcess(unsteady)
  isAway = true
  await (await other.offer.addProvider({ ...DRAFT, name: 'later' })).make()
  await expect(one.offer.changeProvider('kept', { isEnabled: false })).rejects.toThrow('away')
  expect([...one.used().keys()]).toEqual(['kept'])
  isAway = false
  await within5s(() => expect([...one.used().keys()]).toEqual(['kept', 'later']))
})

test('the second of two changes that began with the same state is refused', async () => {
  const { offer } = await startProcess()
  await (await offer.addProvider({ ...DRAFT, name: 'contested' })).make()
  const [first, second] = [
    await offer.changeProvider('contested', { timeouts: { idleMs: 1_000 } }),
    await offer.changeProvider('contested', { timeouts: { idleMs: 2_000 } }),
  ]
  await first.make()
  await expect(second.make()).rejects.toMatchObject({ code: 'conflict' })
  const [kept] = offer.listProviders().filter(({ name }) => name === 'contested')
  expect(kept?.timeouts).toEqual({ idleMs: 1_000 })
})

test('a secret that was sealed with another key is told, and does not keep others from serving', async () => {
  const credentials = [{ source: { secret: 'sk-0123456789ab' }, weight: 1, limits: NO_KEY_LIMITS }]
  const one = await startProcess()
  await (await one.offer.addProvider({ ...DRAFT, name: 'sealed', credentials })).make()
  expect(one.used().get('sealed')?.apiKeys).toEqual(['sk-0123456789ab'])
  const other = await startProcess(database, 'another key')
  expect(other.offer.listProblems()).toMatchObject([{ provider: 'sealed', problem: expect.any(String) }])
  expect([other.used().has('sealed'), other.used().has('kept')]).toEqual([false, true])
})

test('a secret of one provider cannot be moved to another in the database', async () => {
  const one = await startProcess()
  await (await one.offer.addProvider({ ...DRAFT, name: 'thief', baseUrl: 'http://127.0.0.1:6/v1' })).make()
  await database.query("UPDATE provider_credentials SET provider = 'thief' WHERE provider = 'sealed'")
  const other = await startProcess()
  expect(other.used().has('thief')).toBe(false)
  expect(other.offer.listProblems()).toMatchObject([{ provider: 'thief' }])
})
