import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startBatchVendor, type BatchVendor } from '../batches/batch-vendor.ts'
import { TOKENS } from '../batches/vendor-answers.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectRightMoney } from './expect-right-money.ts'
import { RUNS } from './wait-for-run.ts'

let gateway: TestGateway
let vendor: BatchVendor
let database: Database
let key: string
let accountId: string

beforeAll(async () => {
  vendor = await startBatchVendor()
  gateway = await startTestGateway({
    settings: { ...vendor.settings, PARKWAY_BOOTSTRAP_CREDIT_USD: '100' },
  })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 30_000,
  })
})
beforeEach(async () => {
  vendor.behave({})
  await createSpender(5)
})
afterAll(async () => {
  await database.close()
  await gateway.close()
  await vendor.close()
})

const OPENAI = { model: 'gpt-4o-mini', input: 0.15, output: 0.6 }
const ANTHROPIC = { model: 'claude-sonnet-5', input: 2, output: 10 }

/** The whole price of an answer. */
const priceOf = ({ input, output }: typeof OPENAI) =>
  (input * TOKENS.prompt + output * TOKENS.completion) / 1_000_000
const HALF_USD = (priceOf(OPENAI) + priceOf(ANTHROPIC)) / 2

const lanes = [
  { model: OPENAI.model, max_tokens: 200 },
  { model: ANTHROPIC.model, max_tokens: 200 },
]
const ask = (method: 'GET' | 'POST', path: string, body?: unknown) =>
  gateway.request(method, path, { key, ...(body === undefined ? {} : { body }) })

async function createSpender(creditUsd: number): Promise<void> {
  const made = await createAccountKey(gateway, { name: 'comparer', credit_usd: creditUsd })
  key = made.key
  const { body } = await ask('GET', '/v1/tenants/me')
  accountId = body.id
}

async function start(body: object = {}) {
  const prompts = ['one', 'two', { prompt: 'three', expected: 'three' }]
  const { status, body: run } = await ask('POST', RUNS, { mode: 'batch', prompts, lanes, ...body })
  if (status !== 201) throw new Error(JSON.stringify(run))
  return run
}

const ENDED = new Set(['completed', 'failed', 'cancelled'])
const waitFor = (id: string) =>
  eventually(async () => {
    const { body } = await ask('GET', `${RUNS}/${id}`)
    if (!ENDED.has(body.status)) throw new Error(`the run is ${body.status}`)
    return body
  })
const cellsOf = async (id: string) => (await ask('GET', `${RUNS}/${id}/results?limit=100`)).body.data

describe('a run as batches', () => {
  test('asks each lane in a batch of its own at half of the price, and scores the answers', async () => {
    const made = await start({ scores: [{ type: 'similarity', name: 'alike' }] })
    expect(made).toMatchObject({ mode: 'batch', status: 'queued' })
    const run = await waitFor(made.id)
    expect(run).toMatchObject({ status: 'completed', cells_done: 6, cells_failed: 0, error: null })
    expect(run.cost_usd).toBeCloseTo(3 * HALF_USD, 9)
    expect(run.batches).toHaveLength(2)
    expect(run.batches.map((batch: { lane_id: string }) => batch.lane_id).toSorted()).toEqual(
      run.lanes.map((lane: { id: string }) => lane.id).toSorted(),
    )
    for (const { id } of run.batches) {
      const { body: batch } = await ask('GET', `/v1/batches/${id}`)
      expect(batch).toMatchObject({
        status: 'completed',
        metadata: { compare_run_id: run.id },
        request_counts: { total: 3, completed: 3, failed: 0 },
      })
    }
    const cells = await cellsOf(run.id)
    for (const cell of cells)
      expect(cell).toMatchObject({ status: 'completed', latency_ms: null, ttft_ms: null })
    expect(cells.map(({ output }: { output: string }) => output).toSorted()).toEqual([
      'one',
      'one',
      'three',
      'three',
      'two',
      'two',
    ])
    expect(cells.filter(({ score }: { score: number | null }) => score === 1)).toHaveLength(2)
    expect(run.lanes[0].stats).toMatchObject({
      completed: 3,
      latency_ms: { p50: null },
      output_tokens_per_second: null,
      confidence: { latency_ms: null, ttft_ms: null, output_tokens_per_second: null },
      scored: 1,
    })
    expect(vendor.invoice.single).toEqual([])
    expect(vendor.invoice.batch).toHaveLength(6)
    await expectRightMoney(database, accountId)
  })

  test('is estimated at the price of batches', async () => {
    const body = { prompts: ['one'], lanes }
    const { body: live } = await ask('POST', '/v1/compare/estimates', body)
    const { body: batch } = await ask('POST', '/v1/compare/estimates', { ...body, mode: 'batch' })
    expect(batch.estimated_cost_usd).toBeCloseTo(live.estimated_cost_usd / 2, 6)
  })

  test('is judged when its answers are collected', async () => {
    const made = await start({
      prompts: ['one'],
      judge: { model: OPENAI.model },
    })
    const run = await waitFor(made.id)
    expect(run.cells_done).toBe(2)
    expect(run.judging.judgements_total).toBe(2)
    expect(vendor.invoice.single.length).toBeGreaterThan(0)
  })

  test('refuses scores by latency, and unknown modes', async () => {
    const timed = await ask('POST', RUNS, {
      mode: 'batch',
      prompts: ['one'],
      lanes,
      scores: [{ type: 'latency', max_ms: 5 }],
    })
    expect([timed.status, timed.body.error.param]).toEqual([400, 'scores.0'])
    const unknown = await ask('POST', RUNS, { mode: 'later', prompts: ['one'], lanes })
    expect([unknown.status, unknown.body.error.param]).toEqual([400, 'mode'])
  })

  test('cancels its batches with it, and keeps and charges what they answered', async () => {
    vendor.behave({ answersWhenCancelled: 1 })
    const made = await start()
    await eventually(async () => {
      if (vendor.asked.filter((path) => path.startsWith('GET')).length < 4) throw new Error('not handed yet')
    })
    const { body: cancelled } = await ask('POST', `${RUNS}/${made.id}/cancel`)
    expect(cancelled.status).toBe('cancelled')
    const cells = await eventually(async () => {
      const now = await cellsOf(made.id)
      const { body: run } = await ask('GET', `${RUNS}/${made.id}`)
      const left = run.batches.filter(({ status }: { status: string }) => status !== 'cancelled')
      if (left.length > 0 || run.cells_done < 2) throw new Error('the answers are not collected')
      return now
    })
    const run = await waitFor(made.id)
    expect(run.status).toBe('cancelled')
    expect(run.cost_usd).toBeCloseTo(HALF_USD, 9)
    expect(cells.filter(({ status }: { status: string }) => status === 'failed')).toEqual([])
    await expectRightMoney(database, accountId)

    vendor.behave({})
    await ask('POST', `${RUNS}/${made.id}/resume`, {})
    const resumed = await waitFor(made.id)
    expect(resumed).toMatchObject({ status: 'completed', cells_done: 6, cells_failed: 0 })
    expect(resumed.batches).toHaveLength(4)
    expect(vendor.invoice.batch).toHaveLength(4)
    await expectRightMoney(database, accountId)
  })

  test('keeps its budget: no answer costs more than its share, and what does not fit is left out', async () => {
    const made = await start({
      lanes: [{ model: OPENAI.model }, { model: ANTHROPIC.model }],
      budget_usd: 0.000_01,
    })
    const run = await waitFor(made.id)
    expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_reached' } })
    expect(run.cost_usd).toBeLessThanOrEqual(0.000_01)
    await expectRightMoney(database, accountId)
  })

  test('ends with the reason when the credit is used up, and can be resumed', async () => {
    await createSpender(0.000_001)
    const made = await start()
    const run = await waitFor(made.id)
    expect(run).toMatchObject({ status: 'failed', error: { code: 'insufficient_balance' } })
    await expectRightMoney(database, accountId)
  })

  test('is of its account only, and so are its batches', async () => {
    const made = await start()
    const run = await waitFor(made.id)
    const { key: other } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
    const paths = [`${RUNS}/${run.id}`, `/v1/batches/${run.batches[0].id}`]
    for (const path of paths) expect((await gateway.request('GET', path, { key: other })).status).toBe(404)
  })
})
