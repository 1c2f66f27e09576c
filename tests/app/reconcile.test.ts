import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { reconcile } from '../../src/app/commands/reconcile.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { startAnthropicCosts, startOpenAiCosts, type CostServer } from '../upstreams/cost-servers.ts'

const OPENAI_KEY = 'sk-admin-of-the-reconciliation'
const ANTHROPIC_KEY = 'sk-ant-admin-of-the-reconciliation'
const USD = 1_000_000_000

let stored: TestDatabase
let database: ReturnType<typeof connectDatabase>
let openai: CostServer
let anthropic: CostServer

beforeAll(async () => {
  stored = await createTestDatabase()
  const { connectionString } = stored
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
  openai = await startOpenAiCosts(OPENAI_KEY, [
    // As expected, to a thousandth of a cent.
    { day: '2026-10-01', project: 'proj_ours', item: 'gpt-5, input', amount: 6.00001 },
    { day: '2026-10-01', project: 'proj_ours', item: 'gpt-5, output', amount: '3.99999' },
    // A project that is not ours.
    { day: '2026-10-02', project: 'proj_ours', item: 'gpt-5, input', amount: 10 },
    { day: '2026-10-02', project: 'proj_other', item: 'gpt-5, input', amount: 5.5 },
    // What began on the third before midnight was counted on the fourth.
    { day: '2026-10-03', project: 'proj_ours', item: 'gpt-5, input', amount: 9 },
    { day: '2026-10-04', project: 'proj_ours', item: 'gpt-5, input', amount: 11 },
    // Half of the requests have no cost here.
    { day: '2026-10-05', project: 'proj_ours', item: 'gpt-5, input', amount: 20 },
    // Somebody uses the project beside us.
    { day: '2026-10-06', project: 'proj_ours', item: 'gpt-5, input', amount: 17 },
  ])
  anthropic = await startAnthropicCosts(ANTHROPIC_KEY, [
    { day: '2026-10-01', project: null, item: 'Claude Sonnet Usage - Input Tokens', amount: '123.78912' },
  ])
  for (const [hour, provider, cost, extra] of [
    ['2026-10-01T12', 'openai', 10, 0],
    ['2026-10-02T12', 'openai', 10, 0],
    ['2026-10-03T12', 'openai', 8, 0],
    ['2026-10-03T23', 'openai', 2, 0],
    ['2026-10-04T12', 'openai', 10, 0],
    ['2026-10-05T12', 'openai', 10, 20],
    ['2026-10-06T12', 'openai', 10, 0],
    ['2026-10-01T12', 'anthropic', 1.2378912, 0],
    // Of another vendor, and of another day.
    ['2026-10-01T12', 'deepseek', 99, 0],
    ['2026-10-07T00', 'openai', 99, 0],
  ] as const)
    await addUsage(hour, provider, cost, extra)
})
afterAll(async () => {
  await database.close()
  await stored.drop()
  await openai.close()
  await anthropic.close()
})
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('PARKWAY_')) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries({
    DATABASE_URL: stored.connectionString,
    OPENAI_API_KEY: 'sk-of-requests',
    OPENAI_BASE_URL: openai.baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-of-requests',
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
    PARKWAY_COST_KEYS: `openai=${OPENAI_KEY},anthropic=${ANTHROPIC_KEY}`,
  }))
    vi.stubEnv(name, value)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Costed requests were charged twice their cost, and one request without a cost `extra`. */
async function addUsage(hour: string, provider: string, costUsd: number, extraUsd: number): Promise<void> {
  await database.query(
    `INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests, prompt_tokens,
       cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, vendor_cost_nano_usd, costed_requests,
       costed_revenue_nano_usd)
     VALUES ($1, $2, $1, 'm', $3, 'chat', 0, 'live', $4, 0, 0, 0, 0, $5, 0, $6, 1, $7)`,
    [
      randomUUID(),
      `${hour}:00:00Z`,
      provider,
      extraUsd === 0 ? 1 : 2,
      Math.round((2 * costUsd + extraUsd) * USD),
      Math.round(costUsd * USD),
      Math.round(2 * costUsd * USD),
    ],
  )
}

async function run(...words: string[]): Promise<{ code: number; printed: string }> {
  let printed = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  try {
    return { code: await reconcile.run(words), printed }
  } finally {
    write.mockRestore()
  }
}

const PERIOD = ['--from', '2026-10-01', '--days', '6']

test('each kind of difference between a bill and our records is told by day, and the kinds add up', async () => {
  const { code, printed } = await run(...PERIOD, '--projects', 'proj_ours,default', '--json')
  const lines = printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number | string>)
  for (const line of lines)
    expect(
      Number(line['otherProjects']) +
        Number(line['unpriced']) +
        Number(line['dayBoundary']) +
        Number(line['rounding']) +
        Number(line['unexplained']),
    ).toBe(line['differenceNanoUsd'])
  const ofOpenAi = lines.filter(({ provider }) => provider === 'openai')
  const column = (name: string) => ofOpenAi.map((line) => Number(line[name]) / USD)
  expect(column('expectedNanoUsd')).toEqual([10, 10, 10, 10, 10, 10])
  expect(column('billedNanoUsd')).toEqual([10, 15.5, 9, 11, 20, 17])
  expect(column('otherProjects')).toEqual([0, 5.5, 0, 0, 0, 0])
  expect(column('dayBoundary')).toEqual([0, 0, -1, 1, 0, 0])
  expect(column('unpriced')).toEqual([0, 0, 0, 0, 10, 0])
  expect(column('unexplained')).toEqual([0, 0, 0, 0, 0, 7])
  expect(ofOpenAi[4]).toMatchObject({ requests: 2, unpricedRequests: 1 })
  // Cents as text, to the nano-dollar.
  expect(lines.find(({ provider }) => provider === 'anthropic')).toMatchObject({
    billedNanoUsd: 1_237_891_200,
    differenceNanoUsd: 0,
  })
  expect(code).toBe(1)
  // Pages were followed, with the key of the administrator only.
  expect(openai.asked).toEqual(Array.from({ length: 3 }, () => '/v1/organization/costs'))
  expect(anthropic.asked).toHaveLength(3)
})

test('a small unexplained share is accepted, and people read a table', async () => {
  const { code, printed } = await run('--from', '2026-10-01', '--days', '1')
  expect([code, printed.split('\n')[1]]).toEqual([0, expect.stringMatching(/^2026-10-01 +10 +10 +0 /)])
  expect((await run(...PERIOD, '--percent', '30')).code).toBe(0)
})

test('a vendor that refuses the key is told, without the key, and the others are compared', async () => {
  vi.stubEnv('PARKWAY_COST_KEYS', `openai=sk-wrong-key,anthropic=${ANTHROPIC_KEY}`)
  const { code, printed } = await run(...PERIOD)
  expect(code).toBe(1)
  expect(printed).toContain('openai: what was billed could not be read: it refuses the key with 401')
  expect(printed).toContain('anthropic ')
  expect(printed).not.toContain('sk-wrong-key')
})

test.each([
  [['--from', '2026-02-30'], '--from must be a day'],
  [['--days', '93'], '--days must be a whole number from 1 to 92'],
  [['--percent', 'x'], '--percent must be'],
])('%s is refused', async (words, message) => {
  await expect(run(...words)).rejects.toThrow(message)
})

test('a provider without an API for costs, and none at all, are refused', async () => {
  vi.stubEnv('PARKWAY_COST_KEYS', 'deepseek=sk-admin')
  await expect(run()).rejects.toThrow(`no costs can be read for 'deepseek'`)
  vi.stubEnv('PARKWAY_COST_KEYS', undefined)
  await expect(run()).rejects.toThrow('Set PARKWAY_COST_KEYS')
})
