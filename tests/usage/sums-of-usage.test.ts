import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { toJournalText } from '../../src/modules/ledger/journal/journal-text.ts'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { postCharges } from '../../src/modules/ledger/journal/post-charges.ts'
import { recordUsage } from '../../src/modules/ledger/books/record-usage.ts'
import {
  createLedgerStage,
  usageOf,
  type LedgerStage,
} from '../../src/modules/ledger/testing/ledger-stage.ts'
import { readBuckets } from '../../src/modules/usage/buckets/read-buckets.ts'
import { sumGatewayDays } from '../../src/modules/usage/sums/sum-gateway-days.ts'
import { sumUsage } from '../../src/modules/usage/sums/sum-usage.ts'
import { DAY_MS, HOUR_MS } from '../../src/modules/usage/usage.ts'
import type { Database } from '../../src/storage/database.ts'
import { longOr } from '../support/long-or.ts'
import { addUpRecords, QUERIES, readRecords } from './add-up-records.ts'
import { readAmongAll } from './read-among-all.ts'

/** Three days before the end of a month. */
const START_MS = Date.UTC(2030, 0, 29)
const DAYS = 6

let stage: LedgerStage
let accountId: string
let keyIds: readonly string[]

beforeAll(async () => {
  stage = await createLedgerStage()
})

beforeEach(async () => {
  const payer = await stage.createPayer(0n)
  accountId = payer.accountId
  keyIds = await addKeys()
})

afterAll(() => stage.close())

interface Charged {
  readonly key: number
  readonly model: string
  readonly operation: string
  readonly labels: readonly string[]
  readonly afterMs: number
  readonly costNanoUsd: bigint
}

const charged: fc.Arbitrary<Charged> = fc.record({
  key: fc.nat({ max: 3 }),
  model: fc.constantFrom('one', 'other'),
  operation: fc.constantFrom('chat', 'embeddings'),
  labels: fc.constantFrom(
    [],
    ['tag:team=a'],
    ['tag:team=b', 'tag:other=a'],
    ['group:1', 'tag:team=a'],
    ['tag:other=a'],
  ),
  afterMs: fc.nat({ max: DAYS * DAY_MS - 1 }),
  costNanoUsd: fc.bigInt({ min: 0n, max: 10n ** 15n }),
})

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ post: fc.array(charged, { minLength: 1, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ record: fc.array(charged, { minLength: 1, maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ sumDays: fc.nat({ max: DAYS }) }) },
  // A process that is killed while it adds up.
  { weight: 1, arbitrary: fc.record({ sumDays: fc.constant(DAYS), killedAt: fc.nat({ max: 60 }) }) },
)

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

test('reports are the sum of the requests to the nano-dollar, however charges and sums follow each other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      accountId = (await stage.createPayer(0n)).accountId
      keyIds = await addKeys()
      for (const one of steps) await take(one)
      await expectExact()
      await sum(DAYS)
      await expectExact()
      expect(
        await stage.database.query('SELECT FROM usage_stale_days WHERE account_id = $1', [accountId]),
      ).toEqual([])
      expect(await stage.database.query('SELECT FROM gateway_stale_days')).toEqual([])
    }),
    { numRuns: longOr(200, 10) },
  )
  await expectVerified()
})

test('a charge that is being written while its day is added up counts once', async () => {
  await post([{ ...SAMPLE, afterMs: HOUR_MS }])
  const { promise: isWritten, resolve: noteWritten } = Promise.withResolvers<void>()
  const { promise: mayEnd, resolve: letEnd } = Promise.withResolvers<void>()
  const writing = stage.database.transaction(async (transaction) => {
    await recordUsage(transaction, { writer: 3, charges: [toCharge({ ...SAMPLE, afterMs: HOUR_MS })] })
    noteWritten()
    await mayEnd
  })
  await isWritten
  let isSummed = false
  const summing = sum(DAYS).then(() => (isSummed = true))
  try {
    await expect
      .poll(() => stage.database.query('SELECT FROM usage_sum_progress WHERE account_id = $1', [accountId]))
      .toHaveLength(1)
    await expectExact()
    expect(isSummed).toBe(false)
  } finally {
    letEnd()
  }
  await Promise.all([writing, summing])
  await expectExact()
})

test('several processes add up while others charge', async () => {
  const work = Array.from({ length: 12 }, async (_, index) => {
    for (let day = 0; day < DAYS; day += 1)
      await (index % 3 === 0
        ? sum(day + 1)
        : post([{ ...SAMPLE, key: index % 4, afterMs: day * DAY_MS + index * HOUR_MS }]))
  })
  await Promise.all(work)
  await expectExact()
  await Promise.all([sum(DAYS), sum(DAYS), sum(DAYS)])
  await expectExact()
  await expectVerified()
})

test('an account with few rollups gets no sums', async () => {
  await post([SAMPLE])
  await sumUsage({
    database: stage.database,
    untilMs: START_MS + DAYS * DAY_MS,
    isForNewAccounts: true,
    isStopped: () => false,
  })
  expect(
    await stage.database.query('SELECT FROM usage_sum_progress WHERE account_id = $1', [accountId]),
  ).toEqual([])
})

const SAMPLE: Charged = {
  key: 0,
  model: 'one',
  operation: 'chat',
  labels: ['tag:team=a'],
  afterMs: 0,
  costNanoUsd: 7n,
}

/** In two projects: of a person, of a service account, and of the account itself. */
async function addKeys(): Promise<readonly string[]> {
  const [projectId, userId, serviceAccountId] = [createId(), createId(), createId()]
  await stage.database.query(`INSERT INTO projects (id, account_id, name) VALUES ($1, $2, 'other')`, [
    projectId,
    accountId,
  ])
  await stage.database.query(
    `INSERT INTO users (id, email, name) VALUES ($1::uuid, $1::uuid || '@example.com', 'Ada')`,
    [userId],
  )
  await stage.database.query(
    `INSERT INTO service_accounts (id, account_id, project_id, name, role) VALUES ($1, $2, $3, 'robot', 'member')`,
    [serviceAccountId, accountId, projectId],
  )
  const owners = [
    [null, null, null],
    [null, userId, null],
    [projectId, userId, null],
    [projectId, null, serviceAccountId],
  ]
  const ids: string[] = []
  for (const owner of owners) {
    const id = createId()
    ids.push(id)
    await stage.database.query(
      `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, project_id, user_id, service_account_id)
       VALUES ($1, $2, 'key', 'live', sha256($1::uuid::text::bytea), 'pk', '{inference}', $3, $4, $5)`,
      [id, accountId, ...owner],
    )
  }
  return ids
}

async function take(one: Step): Promise<void> {
  if ('post' in one) return post(one.post)
  if ('record' in one) return recordUsage(stage.database, { writer: 3, charges: one.record.map(toCharge) })
  const killedAt = 'killedAt' in one ? one.killedAt : null
  if (killedAt === null) return sum(one.sumDays)
  await sum(one.sumDays, killAt(stage.database, killedAt)).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error
  })
}

class Killed extends Error {}

function killAt(database: Database, statements: number): Database {
  let count = 0
  const query: Database['query'] = (sql, values) => {
    if (count++ >= statements) throw new Killed()
    return database.query(sql, values)
  }
  return {
    query,
    transaction: (work) =>
      database.transaction((transaction) =>
        work({
          query: (sql, values) => {
            if (count++ >= statements) throw new Killed()
            return transaction.query(sql, values)
          },
        }),
      ),
    keepConnection: () => database.keepConnection(),
    ping: () => database.ping(),
    close: () => database.close(),
  }
}

/** Days of the account from the first one on. Other accounts of the stage have too few rollups, or sums already. */
async function sum(days: number, database: Database = stage.database): Promise<void> {
  await sumUsage({
    database,
    untilMs: START_MS + days * DAY_MS,
    isForNewAccounts: true,
    isStopped: () => false,
    rollupsMin: 1,
  })
  await sumGateway(days, database)
}

/** The days of all accounts. */
function sumGateway(days: number, database: Database = stage.database): Promise<void> {
  return sumGatewayDays({
    database,
    untilMs: START_MS + days * DAY_MS,
    isStopped: () => false,
    refreshMs: 0,
  })
}

async function post(charges: readonly Charged[]): Promise<void> {
  await stage.database.query(
    'INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ($1, 1, $2)',
    [createId(), toJournalText(charges.map(toCharge))],
  )
  expect(await postCharges(stage.database)).toEqual([])
}

function toCharge({ key, model, operation, labels, afterMs, costNanoUsd }: Charged) {
  const keyId = keyIds[key] ?? ''
  const record = usageOf(
    { accountId, keyId, limitNanoUsd: null },
    { createdAtMs: START_MS + afterMs, model, operation, ...(labels.length > 0 && { labels }) },
  )
  return { record, costNanoUsd, promotionalNanoUsd: costNanoUsd / 3n, parts: [] }
}

async function expectExact(): Promise<void> {
  const records = await readRecords(stage.database, accountId)
  for (const makeQuery of QUERIES) {
    const query = makeQuery({ accountId, keyIds, fromMs: START_MS, days: DAYS })
    const buckets = await readBuckets(stage.database, query)
    expect(
      buckets
        .flatMap(({ range, results }) => results.map((result) => ({ fromMs: range.fromMs, ...result })))
        .map(toText)
        .toSorted(),
      toText(query),
    ).toEqual(addUpRecords(records, query).map(toText).toSorted())
  }
  const range = { fromMs: START_MS, toMs: START_MS + DAYS * DAY_MS }
  const ofAccount = await readAmongAll(stage.database, accountId, range)
  expect([ofAccount?.requests ?? 0, ofAccount?.costNanoUsd ?? 0n]).toEqual([
    records.length,
    records.reduce((total, { cost }) => total + cost, 0n),
  ])
}

/** The charges of this stage were not paid. */
async function expectVerified(): Promise<void> {
  const checks = await verifyLedger(stage.database)
  const rules = [
    'sums of days are the sum of the rollups',
    'sums of days of all accounts are the sum of the rollups',
  ]
  for (const wanted of rules)
    expect(checks.find(({ rule }) => rule === wanted)).toMatchObject({ differences: [] })
}

const toText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part instanceof Set ? [...part] : part,
  )
