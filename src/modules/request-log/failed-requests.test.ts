import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createTestDatabase } from '../../storage/testing/test-database.ts'
import { FailedRequests, type FailedRequest } from './failed-requests.ts'

let drop: () => Promise<unknown>
let database: Database
let failed: FailedRequests
const dropped: [string, number][] = []

beforeAll(async () => {
  const created = await createTestDatabase()
  drop = () => created.drop()
  database = connectDatabase({
    connectionString: created.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
  failed = new FailedRequests({
    database,
    logger: silentLogger,
    retentionDays: 30,
    onDropped: (reason, count) => dropped.push([reason, count]),
  })
})

afterAll(async () => {
  await failed.close()
  await database.close()
  await drop()
})

const DAY_MS = 86_400_000

function request(overrides: Partial<FailedRequest> = {}): FailedRequest {
  const createdAtMs = overrides.createdAtMs ?? Date.now()
  return {
    id: createId(createdAtMs),
    accountId: createId(),
    keyId: createId(),
    environment: 'dev',
    operation: 'chat',
    model: '',
    provider: '',
    outcome: 'refused',
    httpStatus: 400,
    errorCode: 'invalid_value',
    latencyMs: 3,
    firstTokenMs: null,
    details: '1;;;-;;',
    errorMessage: 'No.',
    upstreamStatus: null,
    upstreamCode: null,
    upstreamMessage: null,
    errorKey: 'key',
    createdAtMs,
    ...overrides,
  }
}

const storedIds = async (accountId: string) =>
  (
    await database.query<{ id: string }>('SELECT id FROM failed_requests WHERE account_id = $1 ORDER BY id', [
      accountId,
    ])
  ).map(({ id }) => id)

test('old ones are deleted a day after their retention has passed at the latest', async () => {
  const accountId = createId()
  const old = request({ accountId, createdAtMs: Date.now() - 31.1 * DAY_MS })
  const recent = request({ accountId, createdAtMs: Date.now() - 29 * DAY_MS })
  failed.note(old)
  failed.note(recent)
  await failed.flush()
  expect(await storedIds(accountId)).toEqual([old.id, recent.id])
  await failed.sweep()
  expect(await storedIds(accountId)).toEqual([recent.id])
})

test('the newest 20,000 of an account with too many are kept', async () => {
  const accountId = createId()
  const other = request()
  failed.note(other)
  await failed.flush()
  await database.query(
    `INSERT INTO failed_requests
     SELECT $1, ('01890000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'dev', 'chat', '', '', 'refused', 400,
       NULL, 1, NULL, '', now() FROM generate_series(1, 20005) AS n`,
    [accountId],
  )
  await failed.sweep()
  const ids = await storedIds(accountId)
  expect([ids.length, ids[0]]).toEqual([20_000, '01890000-0000-7000-8000-000000000006'])
  expect(await storedIds(other.accountId)).toEqual([other.id])
})

test('a request that fails again under its id keeps its first failure', async () => {
  const first = request()
  failed.note(first)
  failed.note({ ...first, httpStatus: 500 })
  await failed.flush()
  const rows = await database.query('SELECT http_status FROM failed_requests WHERE id = $1', [first.id])
  expect(rows).toEqual([{ http_status: 400 }])
})

test('what the database does not take is dropped and counted', async () => {
  dropped.length = 0
  failed.note(request({ latencyMs: 2 ** 40 }))
  failed.note(request())
  await failed.flush()
  expect(dropped).toEqual([['database', 2]])
})
