import * as fc from 'fast-check'
import { expect } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { openHold } from '../../src/modules/ledger/books/stored-hold.ts'
import { settleHolds } from '../../src/modules/ledger/books/settle-holds.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

export const DAY_SECONDS = 86_400
/** Two days before the end of a month, and 40 days on: over two borders of months. */
export const START_SECONDS = Date.UTC(2026, 0, 30) / 1000
export const END_SECONDS = START_SECONDS + 40 * DAY_SECONDS

/** An account with projects, people and service accounts, and random charges of their keys. */
export interface ChargedAccount {
  readonly gateway: TestGateway
  readonly database: Database
  readonly accountId: string
  /** Two, besides `Default`. */
  readonly projects: readonly string[]
  /** Of the second project. */
  readonly projectKey: string
  readonly places: readonly Place[]
  readonly charges: readonly Charged[]
  /** All results over all pages, each with its bucket. */
  readAll(path: string, query: string, key?: string): Promise<(Result & { at: number })[]>
  close(): Promise<void>
}

export async function startChargedAccount(): Promise<ChargedAccount> {
  const gateway = await startTestGateway()
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 2,
    statementTimeoutMs: 30_000,
  })
  const [owner] = await database.query<{ account_id: string }>('SELECT account_id FROM api_keys LIMIT 1')
  const accountId = owner?.account_id ?? ''
  const defaultProject = `proj_${accountId.replaceAll('-', '')}`
  const projects = [await createProject(gateway, 'A'), await createProject(gateway, 'B')]
  const [first = '', second = ''] = projects
  const person = await joinAccount(gateway, {
    email: 'ada@example.com',
    projects: [{ id: first, role: 'owner' }],
  })
  const projectKey = await createProjectKey(gateway, second)
  const places: Place[] = []
  const idOf = async (key: string) =>
    (await gateway.request('GET', '/v1/tenants/me/api-keys?limit=100')).body.keys.find(
      ({ key_prefix }: { key_prefix: string }) => key.startsWith(key_prefix.replace('…', '')),
    ).id
  places.push({ keyId: await idOf(gateway.key), project_id: defaultProject, user_id: null })
  places.push({ keyId: await idOf(projectKey), project_id: second, user_id: null })
  const own = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
  expect([own.status, own.body]).toEqual([201, own.body])
  places.push({ keyId: own.body.id, project_id: first, user_id: person.id })
  const service = await gateway.request('POST', `/v1/organization/projects/${first}/service_accounts`, {
    body: { name: 'CI' },
  })
  places.push({ keyId: service.body.api_key.id, project_id: first, user_id: service.body.id })
  const [charges = []] = fc.sample(
    fc.array(anyCharge(places), { minLength: 150, maxLength: 200, size: 'max' }),
    1,
  )
  await writeCharges(database, accountId, charges)
  return {
    gateway,
    database,
    accountId,
    projects,
    projectKey,
    places,
    charges,
    readAll: (path, query, key) => readAll(gateway, path, query, key),
    close: async () => {
      await database.close()
      await gateway.close()
    },
  }
}

interface Place {
  readonly keyId: string
  readonly project_id: string
  readonly user_id: string | null
}

/** One charge, with the dimensions that costs are grouped by. */
export interface Charged extends Place {
  readonly second: number
  readonly model: string
  readonly operation: string
  readonly team: string | null
  readonly units: number
  readonly costNanoUsd: bigint
}

/** Most at the edges of days. */
function anyCharge(places: readonly Place[]): fc.Arbitrary<Charged> {
  const second = fc
    .tuple(fc.integer({ min: 0, max: 39 }), fc.constantFrom(0, 1, 43_210, DAY_SECONDS - 1))
    .map(([day, rest]) => START_SECONDS + day * DAY_SECONDS + rest)
  return fc
    .record({
      place: fc.constantFrom(...places),
      second,
      model: fc.constantFrom('m-1', 'm-2', 'deployment/x'),
      operation: fc.constantFrom(
        'chat',
        'responses',
        'embedding',
        'image',
        'tts',
        'stt',
        'rerank',
        'video',
        'gpu',
      ),
      team: fc.constantFrom(null, 'a', 'b ä'),
      units: fc.nat({ max: 9 }),
      costNanoUsd: fc.bigInt({ min: 0n, max: 1_000_003n }),
    })
    .map(({ place, ...charge }) => ({ ...place, ...charge }))
}

/** Charges as tasks are charged, with entries in the ledger. */
async function writeCharges(database: Database, accountId: string, all: readonly Charged[]): Promise<void> {
  await database.transaction(async (transaction) => {
    const orders = all.map((charge) => ({
      key: `test:${createId()}`,
      chargedNanoUsd: charge.costNanoUsd,
      reason: 'work',
      usage: {
        writer: 3,
        record: {
          id: createId(charge.second * 1000).replaceAll('-', ''),
          accountId,
          keyId: charge.keyId,
          environment: 'dev',
          operation: charge.operation,
          model: charge.model,
          provider: 'sandbox',
          outcome: 'completed' as const,
          promptTokens: 10,
          cachedTokens: 3,
          cacheWriteTokens: 2,
          completionTokens: 5,
          reasoningTokens: 1,
          units: charge.units,
          latencyMs: 5,
          firstTokenMs: null,
          createdAtMs: charge.second * 1000,
          ...(charge.team !== null && {
            labels: ['group:x', `tag:run=${charge.second}`, `tag:team=${charge.team}`],
          }),
        },
      },
    }))
    for (const { key, chargedNanoUsd } of orders)
      await openHold(transaction, {
        key,
        accountId,
        amountNanoUsd: chargedNanoUsd,
        expiresAtMs: Date.now() + 100_000,
        caps: [],
      })
    await settleHolds(transaction, orders)
  })
}

export type Result = Record<string, unknown> & { amount: { value: number; nano_usd: string } }

/** All results over all pages, each with its bucket. */
async function readAll(
  gateway: TestGateway,
  path: string,
  query: string,
  key = gateway.key,
): Promise<(Result & { at: number })[]> {
  const all: (Result & { at: number })[] = []
  let page = ''
  let next = START_SECONDS
  for (;;) {
    const { status, body } = await gateway.request(
      'GET',
      `${path}?start_time=${START_SECONDS}&end_time=${END_SECONDS}${query}${page}`,
      { key },
    )
    expect([status, body]).toEqual([200, body])
    for (const bucket of body.data) {
      expect(bucket.start_time).toBe(next)
      next = bucket.end_time
      for (const result of bucket.results) all.push({ at: bucket.start_time, ...result })
    }
    expect(body.has_more).toBe(body.next_page !== null)
    if (!body.has_more) break
    page = `&page=${body.next_page}`
  }
  expect(next).toBe(END_SECONDS)
  return all
}

export function sumBy(
  all: readonly Charged[],
  nameOf: (charge: Charged) => readonly unknown[],
  read: (charge: Charged) => bigint,
): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const charge of all) {
    const day = charge.second - (charge.second % DAY_SECONDS)
    const name = JSON.stringify([day, ...nameOf(charge)])
    sums.set(name, (sums.get(name) ?? 0n) + read(charge))
  }
  return sums
}

export const sorted = (sums: ReadonlyMap<string, bigint>): [string, bigint][] =>
  [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))
