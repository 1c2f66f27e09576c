import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postCharges, verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { until } from '../app/call.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, failure, pacedStream, stream } from '../upstreams/openai-server.ts'
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
  await postCharges(database)
  const [row] = await database.query<{ count: number; cost: bigint }>(
    'SELECT count(*)::int AS count, coalesce(sum(cost_nano_usd), 0)::bigint AS cost FROM usage_records',
  )
  return { count: row?.count ?? 0, usd: Number(row?.cost ?? 0n) / 1e9 }
}

const resume = (id: string) => gateway.request('POST', `${RUNS}/${id}/resume`)

/** Checks that the charges equal the costs of cells, lanes and runs, and that the ledger is consistent. */
async function expectRightMoney(): Promise<void> {
  await postCharges(database)
  const [row] = await database.query<{ charged: bigint; cells: bigint; lanes: bigint; runs: bigint }>(
    `SELECT (SELECT sum(cost_nano_usd) FROM usage_records)::bigint AS charged,
       (SELECT sum(cost_nano_usd) FROM compare_cells)::bigint AS cells,
       (SELECT sum(cost_nano_usd) FROM compare_lanes)::bigint AS lanes,
       (SELECT sum(cost_nano_usd) FROM compare_runs)::bigint AS runs`,
  )
  const { charged: sum } = row ?? {}
  expect(row).toEqual({ charged: sum, cells: sum, lanes: sum, runs: sum })
  expect((await verifyLedger(database)).flatMap(({ differences }) => differences)).toEqual([])
}

/** Puts the run into the state of a process that died after charging the first cell and before storing its answer. */
async function interrupt(runId: string): Promise<void> {
  await database.query(
    `WITH cell AS (
       UPDATE compare_cells SET status = 'running', output = NULL, cost_nano_usd = 0, counted_nano_usd = 0,
         usage = NULL, completed_at = NULL
       WHERE run_id = $1 AND lane_position = 0 RETURNING lane_id
     ), lane AS (
       UPDATE compare_lanes SET completed = completed - 1, cost_nano_usd = 0 WHERE id = (SELECT lane_id FROM cell)
     )
     UPDATE compare_runs SET status = 'queued', completed_at = NULL, cells_done = cells_done - 1,
       cost_nano_usd = cost_nano_usd / 2 WHERE id = $1`,
    [runId],
  )
}

describe('a cell that was charged but not stored', () => {
  test('is asked again under its id, is not charged again, and has the charged cost', async () => {
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

describe('a cell that was charged but not stored, and that then fails', () => {
  const loseAnswer = async () => {
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const [cell] = await readCells(gateway, run.id)
    const paid = await charged()
    await interrupt(run.id)
    return { run, cell, paid }
  }

  test('has the charged cost, and is not charged again when it is resumed, however often', async () => {
    const { run, cell, paid } = await loseAnswer()
    gateway.upstream.respondWith(failure(400))
    const failed = await waitForRun(gateway, run.id)
    expect(failed).toMatchObject({ cells_done: 1, cells_failed: 1, cost_usd: run.cost_usd })
    await resume(run.id)
    expect(await waitForRun(gateway, run.id)).toMatchObject({ cells_failed: 1, cost_usd: run.cost_usd })
    gateway.upstream.respondWith(says(50))
    await resume(run.id)
    const done = await waitForRun(gateway, run.id)
    expect(done).toMatchObject({
      status: 'completed',
      cells_done: 2,
      cells_failed: 0,
      cost_usd: run.cost_usd,
    })
    const [after] = await readCells(gateway, run.id)
    expect(after).toMatchObject({
      status: 'completed',
      output: 'said with 50 tokens',
      request_id: cell.request_id,
      cost_usd: cell.cost_usd,
    })
    expect(await charged()).toEqual(paid)
    await expectRightMoney()
  })

  test('is not charged again after a temporary error in between', async () => {
    const { run, cell, paid } = await loseAnswer()
    gateway.upstream.respondWith(({ body }) =>
      Object(body).model === 'red' && gateway.upstream.requests.length < 4 ? failure(503) : says(50),
    )
    const done = await waitForRun(gateway, run.id)
    expect(done).toMatchObject({ cells_done: 2, cost_usd: run.cost_usd })
    expect(gateway.upstream.requests.length).toBeGreaterThan(3)
    expect((await readCells(gateway, run.id))[0].request_id).toBe(cell.request_id)
    expect(await charged()).toEqual(paid)
    await expectRightMoney()
  })

  test('is not charged again after a cancellation in between', async () => {
    const { run, cell, paid } = await loseAnswer()
    const paced = pacedStream()
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(paced.reply)
    const asked = await gateway.upstream.requestNumber(0)
    paced.release(chunk({ delta: { role: 'assistant', content: 'Some words that were said' } }))
    await gateway.request('POST', `${RUNS}/${run.id}/cancel`)
    await asked.abandoned
    await until(async () => (await readCells(gateway, run.id, '&status=running')).length === 0)
    expect((await waitForRun(gateway, run.id)).cost_usd).toBe(run.cost_usd)
    gateway.upstream.respondWith(says(50))
    await resume(run.id)
    expect(await waitForRun(gateway, run.id)).toMatchObject({ status: 'completed', cost_usd: run.cost_usd })
    expect((await readCells(gateway, run.id))[0]).toMatchObject({
      output: 'said with 50 tokens',
      request_id: cell.request_id,
      cost_usd: cell.cost_usd,
    })
    expect(await charged()).toEqual(paid)
    await expectRightMoney()
  })
})

describe('a cell whose answer is cut off', () => {
  const begun = (content: string) => chunk({ delta: { role: 'assistant', content } })
  const cutOnce = (content: string) => {
    let cuts = 0
    gateway.upstream.respondWith(({ body }) => {
      if (Object(body).model !== 'red' || cuts > 0) return says(5)
      cuts += 1
      return stream([begun(content)], { ending: 'cut' })
    })
  }

  test('permanently costs what was delivered, plus its answer when it is resumed', async () => {
    gateway.upstream.respondWith(({ body }) =>
      Object(body).model === 'red' ? stream([begun('Half of')], { ending: 'cut' }) : says(5),
    )
    const broken = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    expect(broken).toMatchObject({ cells_done: 1, cells_failed: 1 })
    const [before, other] = await readCells(gateway, broken.id)
    expect(before.cost_usd).toBeGreaterThan(0)
    await expectRightMoney()
    gateway.upstream.respondWith(says(5))
    await resume(broken.id)
    expect(await waitForRun(gateway, broken.id)).toMatchObject({ status: 'completed', cells_done: 2 })
    const [after] = await readCells(gateway, broken.id)
    expect(after.request_id).not.toBe(before.request_id)
    expect(after.cost_usd).toBeCloseTo(before.cost_usd + other.cost_usd, 9)
    await expectRightMoney()
  })

  test('before the first token is free, and its next answer is charged', async () => {
    cutOnce('')
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const [red, blue] = await readCells(gateway, run.id)
    expect(red).toMatchObject({ status: 'completed', cost_usd: blue.cost_usd })
    expect(blue.cost_usd).toBeGreaterThan(0)
    await expectRightMoney()
  })

  test('before the first token by a cancellation costs what the vendor made, plus its answer when it is resumed', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(({ body }) => (Object(body).model === 'red' ? paced.reply : says(5)))
    paced.release(begun(''))
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { prompt: 'one', models: ['red', 'blue'] },
    })
    await until(async () => (await readCells(gateway, made.id, '&status=completed')).length === 1)
    await gateway.request('POST', `${RUNS}/${made.id}/cancel`)
    await until(async () => (await readCells(gateway, made.id, '&status=running')).length === 0)
    const [left] = await readCells(gateway, made.id, '&status=pending')
    expect(left.cost_usd).toBeGreaterThan(0)
    gateway.upstream.respondWith(says(5))
    await resume(made.id)
    await waitForRun(gateway, made.id)
    const [red, blue] = await readCells(gateway, made.id)
    expect(red.status).toBe('completed')
    expect(red.cost_usd).toBeCloseTo(left.cost_usd + blue.cost_usd, 9)
    await expectRightMoney()
  })
})

describe('a cell whose answer was cut off and not stored', () => {
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

describe('a run of a live worker that no longer works on it', () => {
  test('is claimed again', async () => {
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
  })
})
