import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Clock } from '../../../kernel/clock.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import type { MessageHandler } from '../../../storage/bus/message-bus.ts'
import { createTestDatabase, type TestDatabase } from '../../../storage/testing/test-database.ts'
import type { Caller } from './caller.ts'
import { createKeys, type KeyChangeBus, type Keys } from '../keys.ts'

interface Process {
  readonly keys: Keys
  readonly bus: KeyChangeBus
  isConnected: boolean
}

/** The expected state of a key, computed independently of the code under test. */
interface ExpectedKey {
  readonly keyId: string
  readonly token: string
  allowedModels: string[] | null
  expiresAtMs: number | null
  isRevoked: boolean
}

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 4,
    statementTimeoutMs: 10_000,
  })
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const key = fc.nat({ max: 3 })
const step = fc.oneof(
  fc.record({
    act: fc.constant('create' as const),
    lifetimeMs: fc.option(fc.integer({ min: 1, max: 3000 })),
  }),
  fc.record({ act: fc.constant('revoke' as const), key, by: fc.nat({ max: 1 }) }),
  fc.record({
    act: fc.constant('restrict' as const),
    key,
    by: fc.nat({ max: 1 }),
    model: fc.option(fc.constant('m')),
  }),
  fc.record({
    act: fc.constant('extend' as const),
    key,
    by: fc.nat({ max: 1 }),
    lifetimeMs: fc.integer({ min: 1, max: 9000 }),
  }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({ act: fc.constant('suspend' as const), isSuspended: fc.boolean() }),
  fc.record({ act: fc.constant('toggle bus' as const), process: fc.nat({ max: 1 }) }),
)

test('after any changes of keys, in any order, all processes agree with the rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const world = await createWorld()
      for (const next of steps) {
        await world.take(next)
        await world.expectAgreement()
      }
      await world.close()
    }),
    { numRuns: 40 },
  )
})

async function createWorld() {
  let nowMs = Date.UTC(2030, 0, 1)
  let isSuspended = false
  const accountId = createId()
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'an account')`, [accountId])
  const processes = connectProcesses(fakeClock(() => nowMs))
  const expectedKeys: ExpectedKey[] = []
  const operator: Caller = {
    accountId,
    keyId: createId(),
    environment: 'dev',
    scopes: new Set(['admin']),
    projectId: null,
    groupIds: [],
    permissions: new Set(['gateway.manage']),
    allowedModels: null,
    requestsPerMinute: null,
    limitNanoUsd: null,
  }

  const take = async (next: typeof step extends fc.Arbitrary<infer Step> ? Step : never): Promise<void> => {
    if (next.act === 'wait') nowMs += next.ms
    else if (next.act === 'toggle bus') toggleBus(processes[next.process])
    else if (next.act === 'suspend') {
      isSuspended = next.isSuspended
      const status = isSuspended ? 'suspended' : 'active'
      await database.query('UPDATE accounts SET status = $2 WHERE id = $1', [accountId, status])
      await processes[0]?.keys.announceAccountChange(accountId)
    } else if (next.act === 'create') await create(next.lifetimeMs)
    else await change(next)
  }

  const create = async (lifetimeMs: number | null): Promise<void> => {
    const expiresAtMs = lifetimeMs === null ? null : nowMs + lifetimeMs
    const draft = { name: 'a key', environment: 'dev', scopes: ['inference'], expiresAtMs } as const
    const issued = await processes[0]?.keys.create(operator, accountId, draft)
    if (issued === undefined) return
    const { record, token } = issued
    expectedKeys.push({ keyId: record.id, token, allowedModels: null, expiresAtMs, isRevoked: false })
  }

  const change = async (
    next: Extract<Parameters<typeof take>[0], { act: 'revoke' | 'restrict' | 'extend' }>,
  ): Promise<void> => {
    const expected = expectedKeys[next.key]
    const keys = processes[next.by]?.keys
    if (expected === undefined || keys === undefined) return
    if (next.act === 'revoke') {
      expected.isRevoked = true
      await keys.revoke(operator, accountId, expected.keyId)
    } else if (next.act === 'restrict') {
      expected.allowedModels = next.model === null ? null : [next.model]
      await keys.update(operator, accountId, expected.keyId, { allowedModels: expected.allowedModels })
    } else {
      expected.expiresAtMs = nowMs + next.lifetimeMs
      await keys.update(operator, accountId, expected.keyId, { expiresAtMs: expected.expiresAtMs })
    }
  }

  const expectAgreement = async (): Promise<void> => {
    for (const expected of expectedKeys) {
      const isExpired = expected.expiresAtMs !== null && expected.expiresAtMs <= nowMs
      const works = isSuspended ? 'account_suspended' : expected.allowedModels
      const outcome = expected.isRevoked || isExpired ? 'invalid_api_key' : works
      for (const { keys } of processes) expect(await outcomeOf(keys, expected.token)).toEqual(outcome)
    }
  }

  const close = () => Promise.all(processes.map(({ keys }) => keys.close()))
  return { take, expectAgreement, close }
}

async function outcomeOf(keys: Keys, token: string): Promise<unknown> {
  try {
    const { allowedModels } = await keys.authenticate(token)
    return allowedModels === null ? null : [...allowedModels]
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}

function connectProcesses(clock: Clock): Process[] {
  const listeners: { process: number; handler: MessageHandler }[] = []
  const processes: Process[] = []
  for (const process of [0, 1]) {
    const lost: (() => void)[] = []
    const bus: KeyChangeBus & { lose(): void } = {
      subscribe: (_topic, handler) => {
        listeners.push({ process, handler })
        return () => undefined
      },
      async publishAndConfirm(_topic, payload) {
        // A disconnected process receives no message, and the publisher does not wait for it.
        for (const listener of listeners) {
          if (processes[listener.process]?.isConnected === true) await listener.handler(payload)
        }
        return { confirmed: true }
      },
      onConnectionLost: (handler) => {
        lost.push(handler)
        return () => undefined
      },
      isConnected: () => processes[process]?.isConnected ?? false,
      lose: () => lost.forEach((handler) => handler()),
    }
    processes.push({
      keys: createKeys({ database, clock, messageBus: bus, findUnknownModel: () => null }),
      bus,
      isConnected: true,
    })
  }
  return processes
}

function toggleBus(process: Process | undefined): void {
  if (process === undefined) return
  process.isConnected = !process.isConnected
  if (!process.isConnected && 'lose' in process.bus && typeof process.bus.lose === 'function')
    process.bus.lose()
}
