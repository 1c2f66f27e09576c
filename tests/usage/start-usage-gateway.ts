import { expect } from 'vitest'
import { writeUsage, type SampleRequest } from '../../src/modules/usage/testing/write-usage.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

export interface UsageGateway extends TestGateway {
  readonly accountId: string
  readonly database: Database
  /** A key of another account, with every scope. */
  readonly strangerKey: string
  readonly strangerId: string
  get(path: string, key?: string): Promise<TestAnswer>
  /** Stores usage records of the gateway's account with the times that the test sets. */
  write(requests: readonly Omit<SampleRequest, 'accountId'>[]): Promise<string[]>
  /** Deletes the usage of all accounts before the next test. */
  forget(): Promise<void>
}

export async function startUsageGateway(): Promise<UsageGateway> {
  const gateway = await startTestGateway()
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
  const { body: account } = await gateway.request('GET', '/v1/tenants/me')
  const { body: stranger } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'stranger' },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${stranger.id}/api-keys`, {
    body: { scopes: ['inference', 'manage', 'admin'] },
  })
  return {
    ...gateway,
    accountId: account.id,
    database,
    strangerKey: key.key,
    strangerId: stranger.id,
    get: (path, asKey = gateway.key) => gateway.request('GET', path, { key: asKey }),
    write: (requests) =>
      writeUsage(
        database,
        requests.map((request) => ({ ...request, accountId: account.id })),
      ),
    forget: async () => {
      await database.query(
        'TRUNCATE usage_records, usage_rollups, spend_by_day, gateway_usage_days, gateway_latency_days',
      )
    },
    close: async () => {
      await database.close()
      await gateway.close()
    },
  }
}

export function expectInvalid(answer: TestAnswer, param: string, code = 'invalid_value'): void {
  expect([answer.status, answer.body.error.type, answer.body.error.code, answer.body.error.param]).toEqual([
    400,
    'invalid_request_error',
    code,
    param,
  ])
}

/** Invalid ranges, with the parameter that every route with a range reports for them. */
export const BAD_RANGES = [
  ['window', 'window=1h'],
  ['window', 'window=24h&window=7d'],
  ['window', 'window=24h&from=2026-11-01T00:00:00Z'],
  ['time_zone', 'window=today&time_zone=Mars/Olympus'],
  ['time_zone', 'window=24h&time_zone=UTC'],
  ['from', 'from=yesterday'],
  ['from', 'from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z'],
  ['from', 'from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z'],
  ['from', 'from=2999-01-01T00:00:00Z'],
  ['from', 'from=2000-01-01T00:00:00Z&to=2026-11-01T00:00:00Z'],
  ['to', 'from=2026-11-01T00:00:00Z&to=2026-11-32T00:00:00Z'],
] as const
