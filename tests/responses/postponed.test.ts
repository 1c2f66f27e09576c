import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createKey } from '../limits/gateways.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_WORKER_CONCURRENCY: '1' } })
  const { connectionString } = gateway
  const options = { poolSize: 1, statementTimeoutMs: 10_000, prepareStatements: true, logger: silentLogger }
  database = connectDatabase({ connectionString, ...options })
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

const ask = async (key = gateway.key): Promise<string> => {
  const body = { model: 'gpt-5.4-mini', input: 'Hello', background: true }
  return (await gateway.request('POST', '/v1/responses', { body, key })).body.id
}

const read = async (id: string) => (await gateway.request('GET', `/v1/responses/${id}`)).body

const untilStatus = (id: string, status: string) =>
  eventually(async () => {
    const response = await read(id)
    expect(response.status).toBe(status)
    return response
  })

interface TaskState {
  readonly status: string
  readonly attempt: number
  readonly is_postponed: boolean
}

async function taskOf(id: string): Promise<TaskState | undefined> {
  const [task] = await database.query<TaskState>(
    'SELECT status, attempt, not_before > now() AS is_postponed FROM tasks WHERE request_id = $1',
    [id.replace('resp_', 'req_')],
  )
  return task
}

/** Creates a response whose request uses up the rate limit of the key, so that the response is postponed. */
async function askOverTheRate(): Promise<string> {
  const id = await ask(await createKey(gateway, { requests_per_minute: 1 }))
  await eventually(async () => expect(await taskOf(id)).toMatchObject({ is_postponed: true }))
  return id
}

test('a response that waits for the rate of its account does not block a worker', async () => {
  const waiting = await askOverTheRate()
  await untilStatus(await ask(), 'completed')
  expect(await taskOf(waiting)).toEqual({ status: 'pending', attempt: 1, is_postponed: true })
  await database.query('UPDATE api_keys SET requests_per_minute = NULL')
  await eventually(async () => {
    await database.query('UPDATE tasks SET not_before = NULL WHERE not_before IS NOT NULL')
    expect((await read(waiting)).status).toBe('completed')
  })
  expect(await taskOf(waiting)).toMatchObject({ attempt: 1 })
})

test('a response that was not admitted for a quarter of an hour fails with the reason', async () => {
  const waiting = await askOverTheRate()
  await database.query(
    `UPDATE tasks SET not_before = NULL, started_at = now() - interval '15 minutes' WHERE request_id = $1`,
    [waiting.replace('resp_', 'req_')],
  )
  expect(await untilStatus(waiting, 'failed')).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
})
