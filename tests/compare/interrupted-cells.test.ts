import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { until } from '../app/call.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, pacedStream, stream } from '../upstreams/openai-server.ts'
import { startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

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

const says = (completionTokens: number) =>
  stream([
    chunk({ delta: { role: 'assistant', content: `said with ${completionTokens} tokens` } }),
    chunk({ finish_reason: 'stop' }),
    chunk({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: completionTokens, total_tokens: 10 + completionTokens },
    }),
  ])

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(says(5))
})

const charged = async () => {
  const [row] = await database.query<{ count: number; cost: bigint }>(
    'SELECT count(*)::int AS count, coalesce(sum(cost_nano_usd), 0)::bigint AS cost FROM usage_records',
  )
  return { count: row?.count ?? 0, usd: Number(row?.cost ?? 0n) / 1e9 }
}

/** As a process leaves it that dies between the charge of the first cell and its writing down. */
async function interrupt(runId: string): Promise<void> {
  await database.query(
    `WITH cell AS (
       UPDATE compare_cells SET status = 'running', output = NULL, cost_nano_usd = 0, usage = NULL, completed_at = NULL
       WHERE run_id = $1 AND lane_position = 0 RETURNING lane_id
     ), lane AS (
       UPDATE compare_lanes SET completed = completed - 1, cost_nano_usd = 0 WHERE id = (SELECT lane_id FROM cell)
     )
     UPDATE compare_runs SET status = 'queued', completed_at = NULL, cells_done = cells_done - 1,
       cost_nano_usd = cost_nano_usd / 2 WHERE id = $1`,
    [runId],
  )
}

describe('a cell that was charged and not written down', () => {
  test('is asked again under its id, not charged again, and costs what was charged', async () => {
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const [before] = await readCells(gateway, run.id)
    const paid = await charged()
    await interrupt(run.id)
    gateway.upstream.respondWith(says(50))
    const done = await waitForRun(gateway, run.id)
    const [after] = await readCells(gateway, run.id)
    expect(after).toMatchObject({
      status: 'completed',
      output: 'said with 50 tokens',
      request_id: before.request_id,
      cost_usd: before.cost_usd,
    })
    expect(await charged()).toEqual(paid)
    expect(done.cost_usd).toBe(run.cost_usd)
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})

describe('a cell whose answer broke off and was not written down', () => {
  test('is asked under another id, and costs both', async () => {
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const [before] = await readCells(gateway, run.id)
    const paid = await charged()
    await database.query(
      `UPDATE usage_records SET outcome = 'disconnected' WHERE 'req_' || replace(id::text, '-', '') = $1`,
      [before.request_id],
    )
    await interrupt(run.id)
    const done = await waitForRun(gateway, run.id)
    const [after] = await readCells(gateway, run.id)
    expect(after.request_id).not.toBe(before.request_id)
    expect(after.cost_usd).toBeCloseTo(2 * before.cost_usd, 9)
    const now = await charged()
    expect(now.count).toBe(paid.count + 1)
    expect(now.usd - paid.usd).toBeCloseTo(before.cost_usd, 9)
    expect(done.cost_usd).toBeCloseTo(run.cost_usd + before.cost_usd, 9)
  })
})

describe('a run whose worker lives and has let go of it', () => {
  test('is taken up again', async () => {
    gateway.upstream.respondWith(() => pacedStream().reply)
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { prompt: 'one', models: ['red', 'blue'] },
    })
    await gateway.upstream.requestNumber(1)
    const [row] = await database.query<{ worker_id: string }>(
      'SELECT worker_id FROM compare_runs WHERE id = $1',
      [made.id],
    )
    await gateway.request('POST', `${RUNS}/${made.id}/cancel`)
    await until(async () => (await readCells(gateway, made.id, '&status=running')).length === 0)
    gateway.upstream.respondWith(says(5))
    await database.query(
      `UPDATE compare_runs SET status = 'running', worker_id = $2, completed_at = NULL, updated_at = now() - interval '2 minutes'
       WHERE id = $1`,
      [made.id, row?.worker_id],
    )
    expect(await waitForRun(gateway, made.id)).toMatchObject({ status: 'completed', cells_done: 2 })
  }, 20_000)
})
