import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillUsage } from './testing/fill-usage.ts'
import { setUsageStage, type UsageStage } from './testing/usage-stage.ts'
import { DAY_MS, type Usage } from './usage.ts'

let stage: UsageStage
let accountId: string
/** Those of the records. Empty ones are read in any way. */
let filledPartitions: RegExp
const page = { limit: 20, afterId: null }

beforeAll(async () => {
  stage = await setUsageStage()
  for (const name of ['Ada', 'Bob', 'Cy', 'Di', 'Ed']) {
    accountId = await stage.addAccount(name)
    await fillUsage(stage.database, {
      accountId,
      requests: 6_000,
      days: 30,
      untilMs: stage.nowMs,
      keys: 3,
      models: 4,
    })
  }
  await stage.database.query('ANALYZE')
  const partitions = await stage.database.query<{ name: string }>(
    'SELECT DISTINCT tableoid::regclass::text AS name FROM usage_records',
  )
  filledPartitions = new RegExp(`Seq Scan on (${partitions.map(({ name }) => name).join('|')})\\b`)
})

afterAll(async () => {
  await stage.close()
})

const month = () => ({ fromMs: stage.nowMs - 30 * DAY_MS + 1, toMs: stage.nowMs - 1 })
const series = (granularity: 'hour' | 'day', by: 'model' | null) => ({
  accountId,
  projectId: null,
  ownKeyId: null,
  range: month(),
  granularity,
  by,
  filter: {},
})

test.each<[string, (usage: Usage) => Promise<unknown>]>([
  ['30 days by hour', (usage) => usage.readTimeseries(series('hour', null))],
  ['30 days by day and model', (usage) => usage.readTimeseries(series('day', 'model'))],
  [
    'a summary',
    (usage) => usage.compareTotals({ accountId, projectId: null, ownKeyId: null, range: month() }, month()),
  ],
  ['spending', (usage) => usage.readSpending({ ...series('day', null), by: 'key', limit: 20 })],
  [
    'usage of all accounts',
    (usage) =>
      usage.ofGateway.read({
        range: month(),
        previousRange: month(),
        by: 'model',
        tagName: null,
        accountId: null,
        filter: {},
        regions: new Map(),
        order: 'cost',
        limit: 20,
      }),
  ],
  [
    'the budget, with those of a project and a group',
    (usage) => {
      stage.limiting = [`project:${accountId}`, `group:${accountId}`].map((subject) => ({
        id: subject,
        subject,
        period: 'day',
        limitNanoUsd: 1n,
        spentNanoUsd: 0n,
        resetsAtMs: null,
      }))
      return usage.readBudget({ accountId, projectId: null, ownKeyId: null, subjects: [] })
    },
  ],
  [
    'records',
    (usage) =>
      usage.listRecords({
        accountId,
        projectId: null,
        ownKeyId: null,
        range: month(),
        filter: {},
        outcome: null,
        page,
      }),
  ],
  [
    'records of a model',
    (usage) =>
      usage.listRecords({
        accountId,
        projectId: null,
        ownKeyId: null,
        range: month(),
        filter: { model: 'model-1' },
        outcome: null,
        page,
      }),
  ],
])('%s: every statement reads the records by their index', async (_what, ask) => {
  stage.statements.length = 0
  await ask(stage.usage)
  const planned = stage.statements.map((statement) => explain(statement))
  // A prepared statement is planned without knowing its parameter values.
  const prepared = stage.statements.map(({ sql }) => explain({ sql, values: [] }, 'EXPLAIN (GENERIC_PLAN)'))
  const plans = await Promise.all([...planned, ...prepared])
  expect(plans.length).toBeGreaterThan(0)
  for (const plan of plans) expect(plan).not.toMatch(filledPartitions)
})

test('30 days by hour read the records of two hours at most', async () => {
  stage.statements.length = 0
  const { buckets } = await stage.usage.readTimeseries(series('hour', null))
  expect(buckets.reduce((sum, { totals }) => sum + totals.requests, 0)).toBe(6_000)
  const [statement] = stage.statements
  if (statement === undefined) throw new Error('nothing was asked')
  const plan = await explain(statement, 'EXPLAIN (ANALYZE, TIMING off)')
  const read = [...plan.matchAll(/Scan.* on usage_records.*\(actual rows=([\d.]+)/g)]
  expect(read).toHaveLength(2)
  expect(read.reduce((sum, [, rows]) => sum + Number(rows), 0)).toBeLessThan((2 * 6_000) / (30 * 24))
  expect(plan).toMatch(/(Index|Bitmap Heap) Scan.* on usage_rollups/)
})

async function explain(
  { sql, values }: { sql: string; values: readonly unknown[] },
  command = 'EXPLAIN',
): Promise<string> {
  const rows = await stage.database.query<{ 'QUERY PLAN': string }>(`${command} ${sql}`, values)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
