import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { recordUsage } from '../../src/modules/ledger/books/record-usage.ts'
import {
  createLedgerStage,
  usageOf,
  type LedgerStage,
} from '../../src/modules/ledger/testing/ledger-stage.ts'
import { readGatewayTimeseries } from '../../src/modules/usage/gateway/read-gateway-usage.ts'
import { readGroupLatency } from '../../src/modules/usage/gateway/read-group-latency.ts'
import { readGroups } from '../../src/modules/usage/gateway/read-groups.ts'
import { sumGatewayDays } from '../../src/modules/usage/sums/sum-gateway-days.ts'
import { DAY_MS, GATEWAY_DIMENSIONS, HOUR_MS } from '../../src/modules/usage/usage.ts'

const START_MS = Date.UTC(2030, 0, 29)
const DAYS = 6

let stage: LedgerStage
let accountId: string
let keyIds: readonly string[]

beforeAll(async () => {
  stage = await createLedgerStage()
  accountId = (await stage.createPayer(0n)).accountId
  keyIds = await Promise.all([null, null, createId(), null].map(addKey))
})

afterAll(() => stage.close())

interface Charged {
  readonly key?: number
  readonly model?: string
  readonly labels?: readonly string[]
  readonly atMs: number
  readonly costNanoUsd?: bigint
}

test('usage of all accounts is the same with sums of days and without, in every group and with every filter', async () => {
  const at = (days: number, hours: number): number => days * DAY_MS + hours * HOUR_MS
  for (const [day, key] of [0, 1, 1, 2, 3, 4, 5].entries())
    await post([
      { key: key % 4, atMs: at(day % DAYS, 5) + 60_000, costNanoUsd: 10n },
      { key: day % 4, model: 'other', atMs: at(day % DAYS, 23), labels: [], costNanoUsd: 3n },
    ])
  await stage.database.query(
    `INSERT INTO latency_rollups SELECT account_id, hour, key_id, model, provider, operation, environment,
       ARRAY[(40::bigint << 32) + requests, (50::bigint << 32) + 1], ARRAY[(20::bigint << 32) + requests]
     FROM usage_rollups WHERE account_id = $1 ON CONFLICT DO NOTHING`,
    [accountId],
  )
  const [range, before] = [
    { fromMs: START_MS + at(1, 5), toMs: START_MS + at(5, 6) + 30 * 60_000 },
    { fromMs: START_MS - at(4, 0), toMs: START_MS + at(1, 5) },
  ]
  const filters = [
    {},
    { model: 'one' },
    { keyId: keyIds[2] ?? '' },
    { projectId: accountId },
    { environment: 'live' as const },
    { label: 'tag:team=a' },
  ]
  const ask = async () => {
    const answers: unknown[] = []
    for (const by of GATEWAY_DIMENSIONS)
      for (const filter of filters) {
        const query = {
          range,
          by,
          tagName: by === 'tag' ? 'team' : null,
          accountId: null,
          filter,
          regions: new Map([['openai', 'eu']]),
        }
        const usage = await readGroups(stage.database, {
          ...query,
          previousRange: before,
          order: 'cost',
          limit: 5,
        })
        const values = usage.groups.map(({ value }) => value)
        answers.push(usage, [...(await readGroupLatency(stage.database, query, values, null))])
        answers.push(await readGatewayTimeseries(stage.database, { ...query, granularity: 'day' }))
      }
    return answers
  }
  await stage.database.query(
    `UPDATE gateway_sum_progress SET summed_until = '1970-01-01', watched_until = '1970-01-01'`,
  )
  const expected = await ask()
  await sumGateway(DAYS)
  const [{ days } = { days: 0n }] = await stage.database.query<{ days: bigint }>(
    'SELECT count(DISTINCT day) AS days FROM gateway_usage_days',
  )
  expect(days).toBeGreaterThanOrEqual(BigInt(DAYS))
  expect(await ask()).toEqual(expected)
  // One day changes, so that it is read from the rollups until it is added up again.
  await post([{ atMs: at(3, 1), costNanoUsd: 1_000n }])
  expect(await stage.database.query('SELECT FROM gateway_stale_days')).toHaveLength(1)
  const changed = await ask()
  expect(changed).not.toEqual(expected)
  await sumGateway(DAYS)
  expect(await stage.database.query('SELECT FROM gateway_stale_days')).toEqual([])
  expect(await ask()).toEqual(changed)
})

test('a day that changes all the time is added up again at most once in half an hour', async () => {
  await post([{ atMs: DAY_MS }])
  await sumGateway(DAYS)
  const change = async (): Promise<unknown[]> => {
    await post([{ atMs: DAY_MS }])
    await sumGatewayDays({
      database: stage.database,
      untilMs: START_MS + DAYS * DAY_MS,
      isStopped: () => false,
    })
    return stage.database.query('SELECT FROM gateway_stale_days')
  }
  await stage.database.query(`UPDATE gateway_sum_progress SET refreshed_at = now() - interval '31 minutes'`)
  expect(await change()).toEqual([])
  expect(await change()).toHaveLength(1)
  await sumGateway(DAYS)
})

/** In a project of its own, or in the one of the account. */
async function addKey(projectId: string | null): Promise<string> {
  const id = createId()
  if (projectId !== null)
    await stage.database.query(`INSERT INTO projects (id, account_id, name) VALUES ($1, $2, 'other')`, [
      projectId,
      accountId,
    ])
  await stage.database.query(
    `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, project_id)
     VALUES ($1, $2, 'key', 'live', sha256($1::uuid::text::bytea), 'pk', '{inference}', $3)`,
    [id, accountId, projectId],
  )
  return id
}

function post(charges: readonly Charged[]): Promise<void> {
  return recordUsage(stage.database, { writer: 3, charges: charges.map(toCharge) })
}

function toCharge({ key = 0, model = 'one', labels = ['tag:team=a'], atMs, costNanoUsd = 7n }: Charged) {
  const keyId = keyIds[key] ?? ''
  const record = usageOf(
    { accountId, keyId, limitNanoUsd: null },
    { createdAtMs: START_MS + atMs, model, ...(labels.length > 0 && { labels }) },
  )
  return { record, costNanoUsd, promotionalNanoUsd: 0n }
}

/** The days of all accounts. */
function sumGateway(days: number): Promise<void> {
  return sumGatewayDays({
    database: stage.database,
    untilMs: START_MS + days * DAY_MS,
    isStopped: () => false,
    refreshMs: 0,
  })
}
