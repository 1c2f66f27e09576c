import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, chunksOf, stream, type RecordedRequest } from '../upstreams/openai-server.ts'
import { expectRightMoney } from './expect-right-money.ts'
import { startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

/** The cost of 11 input and 7 output tokens, which the local server always reports. */
const CELL_USD = 0.000081

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(() => stream(chunksOf('Hello there')))
})

const change = (id: string, what: string, body?: object) =>
  gateway.request('POST', `${RUNS}/${id}/${what}`, { body })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const account = async () => (await gateway.request('GET', '/v1/tenants/me')).body.id
const bodyOf = ({ body }: RecordedRequest) => Object(body)

const prompts = Array.from({ length: 30 }, (_, index) => `p${index}`)

test('a run never exceeds its budget, tells the answers that are missing, and continues with a larger one', async () => {
  const budget = 0.003
  const before = await balance()
  const run = await makeRun(gateway, { prompts, models: ['red', 'blue'], budget_usd: budget })
  expect(run).toMatchObject({ status: 'failed', cells_failed: 0, error: { code: 'budget_reached' } })
  expect(run.cells_done).toBeGreaterThanOrEqual(20)
  expect(run.cells_done).toBeLessThan(60)
  expect(run.error.message).toContain(`does not cover ${60 - run.cells_done} of its 60 answers`)
  expect(run.cost_usd).toBeLessThanOrEqual(budget)
  expect(before - (await balance())).toBeCloseTo(run.cost_usd, 9)
  expect(gateway.upstream.requests).toHaveLength(run.cells_done)
  expect((await readCells(gateway, run.id, '&status=pending')).length).toBe(60 - run.cells_done)

  expect((await change(run.id, 'resume', { budget_usd: 1 })).body).toMatchObject({
    budget_usd: 1,
    error: null,
  })
  expect(await waitForRun(gateway, run.id)).toMatchObject({ status: 'completed', cells_done: 60 })
  expect(gateway.upstream.requests).toHaveLength(60)
  await expectRightMoney(database, await account())
})

test('an upstream that reports more than it was asked for does not exceed the budget of a run', async () => {
  const budget = 0.003
  gateway.upstream.respondWith(() =>
    stream([
      ...chunksOf('Hello').slice(0, -1),
      chunk({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 90_000, total_tokens: 90_011 } }),
    ]),
  )
  const before = await balance()
  const run = await makeRun(gateway, { prompts, models: ['red', 'blue'], budget_usd: budget })
  expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_reached' } })
  expect(run.cost_usd).toBeLessThanOrEqual(budget)
  expect(before - (await balance())).toBeCloseTo(run.cost_usd, 9)
})

test('an answer that the budget cuts off fails its cell, which is asked anew with a larger one', async () => {
  gateway.upstream.respondWith((request) => {
    const isShort = JSON.stringify(bodyOf(request)).match(/"max_(completion_)?tokens":\d{1,3}\D/) !== null
    const chunks = chunksOf('Hello there')
    return stream(isShort ? chunks.with(2, chunk({ finish_reason: 'length' })) : chunks)
  })
  const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'], budget_usd: 0.0012 })
  expect(run).toMatchObject({ status: 'failed', cells_done: 0, error: { code: 'budget_reached' } })
  expect(run.cost_usd).toBeGreaterThan(0)
  expect(run.cost_usd).toBeLessThanOrEqual(0.0012)
  const [cut] = await readCells(gateway, run.id, '&status=failed')
  expect(cut.error.code).toBe('budget_reached')
  await change(run.id, 'resume', { budget_usd: 1 })
  const done = await waitForRun(gateway, run.id)
  expect(done).toMatchObject({ status: 'completed', cells_done: 2 })
  expect(done.cost_usd).toBeCloseTo(run.cost_usd + 2 * CELL_USD, 9)
  await expectRightMoney(database, await account())
})
