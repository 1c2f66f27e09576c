import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { TestDatabase } from '../../src/storage/testing/test-database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { createOldDatabase, OLD } from './old-database.ts'

/** $5 paid plus $1 promotional credit, minus a task, four chat calls, and three more chat calls from the journal. */
const BALANCE_USD = 5 + 1 - 0.003 - 0.000_397 - 0.000_099

let database: TestDatabase
let gateway: TestGateway
/** As the upgrade left them, before a test spends anything. */
let account: TestAnswer
let usage: TestAnswer

beforeAll(async () => {
  database = await createOldDatabase()
  await migrate({ connectionString: database.connectionString, logger: silentLogger })
  gateway = await startTestGateway({
    connectionString: database.connectionString,
    key: OLD.operatorKey,
    // No worker: the pending work is left to the test that checks it.
    settings: { PARKWAY_ROLE: 'api' },
  })
  account = await ask('GET', '/v1/tenants/me')
  usage = await ask('GET', '/v1/usage/records?from=2026-11-16T00:00:00Z&to=2026-11-17T00:00:00Z')
})

afterAll(async () => {
  await gateway?.close()
  await database?.drop()
})

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  gateway.request(method, path, { key: OLD.key, headers, ...(body === undefined ? {} : { body }) })

const chatBody = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })

describe('a database of the previous release is upgraded', () => {
  test('with every dollar, also of charges that were only in the journal', () => {
    expect(account.status).toBe(200)
    expect(account.body.balance_usd).toBeCloseTo(BALANCE_USD, 9)
    expect(usage.body.data).toHaveLength(7)
  })

  test('with its keys and their limits', async () => {
    const { body } = await ask('GET', '/v1/tenants/me/api-keys')
    expect(body.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'API key', limit_usd: 2, requests_per_minute: 100 }),
        expect.objectContaining({ name: 'revoked' }),
      ]),
    )
  })

  test('with stored answers, which are not requested again', async () => {
    const answer = await ask('POST', '/v1/chat/completions', chatBody('first'), {
      'idempotency-key': 'fixture',
    })
    expect(answer.headers.get('idempotent-replayed')).toBe('true')
  })

  test('with tasks and runs: finished ones can be read, waiting ones are done', async () => {
    expect((await ask('GET', `/v1/tasks/${OLD.finishedTaskId}`)).body.status).toBe('completed')
    expect((await ask('GET', `/v1/compare/runs/${OLD.runId}`)).body.status).toBe('completed')
    const worker = await startTestGateway({
      connectionString: database.connectionString,
      settings: { PARKWAY_ROLE: 'worker' },
    })
    try {
      const task = await waitForTask(gateway, OLD.waitingTaskId, OLD.key)
      expect(task).toMatchObject({ status: 'completed', cost_usd: 0.003 })
    } finally {
      await worker.close()
    }
  })

  test('a database of the previous release is upgraded and continues: a new call is charged once, and the ledger verifies', async () => {
    expect((await ask('POST', '/v1/chat/completions', chatBody('new'))).status).toBe(200)
    const connected = connectDatabase({
      connectionString: database.connectionString,
      poolSize: 1,
      statementTimeoutMs: 30_000,
    })
    try {
      const checks = await verifyLedger(connected)
      expect(checks.flatMap(({ differences }) => differences)).toEqual([])
    } finally {
      await connected.close()
    }
  })
})
