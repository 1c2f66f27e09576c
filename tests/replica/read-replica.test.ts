import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestAnswer } from '../support/start-test-gateway.ts'
import { startServers, type Servers } from './start-servers.ts'

const AS_OF = 'x-gateway-data-as-of'
const LAG_MS_MAX = 1_500
const WAIT = { timeout: 30_000, interval: 50 }

let servers: Servers
let gateway: ChatGateway

beforeAll(async () => {
  servers = await startServers()
  gateway = await startChatGateway({
    connectionString: servers.primary,
    settings: { DATABASE_READ_URL: servers.standby, PARKWAY_DATABASE_READ_LAG_MS: String(LAG_MS_MAX) },
  })
}, 120_000)

afterAll(async () => {
  await gateway?.close()
  await servers?.close()
})

beforeEach(() => expectReplica(true))

async function read(path = '/v1/usage/records?limit=100'): Promise<TestAnswer> {
  const answer = await gateway.request('GET', path)
  expect(answer.status).toBe(200)
  return answer
}

const asOfMs = ({ headers }: TestAnswer): number | null => {
  const text = headers.get(AS_OF)
  return text === null ? null : Date.parse(text)
}

async function expectReplica(isUsed: boolean): Promise<void> {
  await expect.poll(async () => asOfMs(await read()) !== null, WAIT).toBe(isUsed)
}

/** Makes a request that is charged. Returns its id and when its answer was complete. */
async function charge(): Promise<{ requestId: string; atMs: number }> {
  const { status, headers } = await gateway.request('POST', CHAT, { body: chatBody() })
  expect(status).toBe(200)
  return { requestId: headers.get('x-request-id') ?? '', atMs: Date.now() }
}

const idsOf = ({ body }: TestAnswer): string[] =>
  body.data.map(({ request_id: id }: { request_id: string }) => id)

describe('usage from a replica', () => {
  test('says up to when it knows everything, which is within the bound', async () => {
    const beforeMs = Date.now()
    const answer = await read()
    expect(asOfMs(answer)).toBeGreaterThan(beforeMs - LAG_MS_MAX - 1_000)
    expect(asOfMs(answer)).toBeLessThanOrEqual(Date.now() + 1_000)
  })

  test('has every charge from before that moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { requestId, atMs } = await charge()
      await expect
        .poll(async () => {
          const answer = await read()
          const knownMs = asOfMs(answer) ?? Infinity
          if (knownMs >= atMs) expect(idsOf(answer)).toContain(requestId)
          return knownMs >= atMs
        }, WAIT)
        .toBe(true)
    }
  })

  test.each([
    '/v1/usage/summary',
    '/v1/usage/timeseries',
    '/v1/usage/spending',
    '/v1/usage/gpu-billing',
    '/v1/usage/latency',
    '/v1/requests',
    '/v1/requests?format=csv',
    '/v1/organization/costs?start_time=1760000000',
    '/v1/organization/usage/completions?start_time=1760000000',
    '/v1/admin/usage',
    '/v1/admin/usage?format=csv',
    '/v1/admin/usage/timeseries',
    '/v1/admin/requests',
    '/v1/admin/request_errors',
  ])('%s is read from it', async (path) => {
    expect(asOfMs(await read(path))).not.toBeNull()
  })

  test.each([
    '/v1/usage/budget',
    '/v1/usage/today',
    '/v1/tenants/me',
    '/v1/tenants/me/api-keys',
    '/v1/ledger',
    '/v1/admin/accounts',
  ])('%s is read from the primary', async (path) => {
    expect(asOfMs(await read(path))).toBeNull()
  })
})

describe('the primary is read', () => {
  test('while the replica is further behind than it may be', async () => {
    await servers.pause()
    const { requestId } = await charge()
    await expectReplica(false)
    expect(idsOf(await read())).toContain(requestId)
    await servers.resume()
    await expectReplica(true)
    expect(idsOf(await read())).toContain(requestId)
  })

  test('while the replica is away, and no read fails when it dies', async () => {
    const { requestId } = await charge()
    const answers: TestAnswer[] = []
    const work = { isOver: false }
    const readers = Array.from({ length: 4 }, async () => {
      while (!work.isOver) answers.push(await gateway.request('GET', '/v1/usage/records?limit=100'))
    })
    await servers.kill()
    await expectReplica(false)
    work.isOver = true
    await Promise.all(readers)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(idsOf(await read())).toContain(requestId)
    await servers.start()
    await expectReplica(true)
  })
})

test('metrics and the doctor know the replica', async () => {
  const { body: healthy } = await read('/metrics')
  expect(healthy).toMatch(/\nparkway_read_replica_in_use 1\n/)
  expect(healthy).toMatch(/\nparkway_read_replica_lag_seconds [0-9.e-]+\n/)
  expect(healthy).toMatch(/\nparkway_replica_reads_total\{server="replica"\} [1-9]\d*\n/)
  await servers.kill()
  await expectReplica(false)
  expect((await read('/metrics')).body).toMatch(/\nparkway_read_replica_in_use 0\n/)
  const { body } = await read('/v1/admin/doctor')
  expect(body.data).toContainEqual(
    expect.objectContaining({ code: 'replica_away', subject: 'DATABASE_READ_URL' }),
  )
  await servers.start()
})

test('a server that is no standby of the primary is never used', async () => {
  // The primary itself is the nearest mistake.
  const other = await startTestGateway({
    connectionString: servers.primary,
    settings: { DATABASE_READ_URL: servers.primary },
  })
  try {
    await expect
      .poll(async () => {
        const { body } = await other.request('GET', '/v1/admin/doctor')
        return body.data.map(({ code }: { code: string }) => code)
      }, WAIT)
      .toContain('replica_foreign')
    const { headers, status } = await other.request('GET', '/v1/usage/records')
    expect([status, headers.get(AS_OF)]).toEqual([200, null])
  } finally {
    await other.close()
  }
})
