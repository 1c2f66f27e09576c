import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { until } from '../app/call.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import {
  chunk,
  chunksOf,
  failure,
  pacedStream,
  stream,
  type RecordedRequest,
} from '../upstreams/openai-server.ts'
import { expectRightMoney } from './expect-right-money.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

/** The cost of 11 input and 7 output tokens, which the local server always reports. */
const CELL_USD = 0.000081

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'green'])
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const hello = () => 'Hello there'

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(speakers({ red: hello, blue: hello, green: hello }))
})

const change = (id: string, what: string, body?: object) =>
  gateway.request('POST', `${RUNS}/${id}/${what}`, { body })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const bodyOf = ({ body }: RecordedRequest) => Object(body)

/** Starts a run of two cells whose upstream never answers, and waits until it has both requests. */
async function beginSilentRun(): Promise<string> {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(() => pacedStream().reply)
  const { body: run } = await gateway.request('POST', RUNS, {
    body: { prompt: 'x', models: ['red', 'blue'] },
  })
  await gateway.upstream.requestNumber(1)
  return run.id
}

/** Waits until both cells of a cancelled run are charged, so that the next test sees no late charge. */
const chargedAfterCancel = (id: string) =>
  until(async () => {
    const cells = await readCells(gateway, id)
    return cells.every(({ cost_usd: cost }) => cost > 0) ? cells : null
  })

const account = async () => (await gateway.request('GET', '/v1/tenants/me')).body.id

describe('cancelling a run', () => {
  test('stops streams, charges what was delivered, and keeps completed cells; resuming asks only the rest', async () => {
    const before = await balance()
    const paced = pacedStream()
    gateway.upstream.respondWith((request) => {
      const { model, messages } = bodyOf(request)
      return model === 'blue' && messages[0].content === 'two' ? paced.reply : stream(chunksOf('Hello there'))
    })
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { prompts: ['one', 'two', 'three'], models: ['red', 'blue'], concurrency: 2 },
    })
    paced.release(chunk({ delta: { role: 'assistant', content: 'Some words that were said' } }))
    // A lane that hangs delays only its own cells.
    await until(async () => {
      const { body: run } = await gateway.request('GET', `${RUNS}/${made.id}`)
      return run.cells_done === 4 ? run : null
    })
    const { status, body: cancelled } = await change(made.id, 'cancel')
    expect([status, cancelled.status]).toEqual([200, 'cancelled'])
    await (
      await gateway.upstream.requestNumber(
        gateway.upstream.requests.findIndex(
          (request) => bodyOf(request).model === 'blue' && bodyOf(request).messages[0].content === 'two',
        ),
      )
    ).abandoned

    const stopped = await until(async () => {
      const { body: run } = await gateway.request('GET', `${RUNS}/${made.id}`)
      return run.cost_usd > 4 * CELL_USD ? run : null
    })
    expect(stopped).toMatchObject({ status: 'cancelled', cells_done: 4, cells_failed: 0 })
    const cells = await readCells(gateway, made.id, '&status=pending')
    expect(cells.map(({ model, prompt_index: index }) => `${model} ${index}`)).toEqual(['blue 1', 'blue 2'])
    expect(cells[0].cost_usd).toBeGreaterThan(0)
    expect(before - (await balance())).toBeCloseTo(stopped.cost_usd, 9)
    await expectRightMoney(database, await account())

    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(speakers({ red: hello, blue: hello }))
    expect((await change(made.id, 'resume')).body.status).toBe('queued')
    const done = await waitForRun(gateway, made.id)
    expect(done).toMatchObject({ status: 'completed', cells_done: 6 })
    expect(gateway.upstream.bodies().map(({ model, messages }) => `${model} ${messages[0].content}`)).toEqual(
      ['blue two', 'blue three'],
    )
    expect(before - (await balance())).toBeCloseTo(done.cost_usd, 9)
    await expectRightMoney(database, await account())
  })

  test('cancelling a run that has ended is refused; cancelling twice changes nothing', async () => {
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const { status, body } = await change(run.id, 'cancel')
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    const other = await beginSilentRun()
    expect((await change(other, 'cancel')).status).toBe(200)
    expect((await change(other, 'cancel')).body.status).toBe('cancelled')
    await chargedAfterCancel(other)
  })
})

describe('resuming a run', () => {
  test('asks failed cells, and no completed ones', async () => {
    gateway.upstream.respondWith(speakers({ red: hello, blue: failure(400) }))
    const run = await makeRun(gateway, { prompts: ['one', 'two'], models: ['red', 'blue'] })
    expect(run).toMatchObject({ status: 'completed', cells_done: 2, cells_failed: 2 })
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(speakers({ blue: hello }))
    expect((await change(run.id, 'resume')).status).toBe(200)
    const done = await waitForRun(gateway, run.id)
    expect(done).toMatchObject({ status: 'completed', cells_done: 4, cells_failed: 0, error: null })
    expect(gateway.upstream.bodies().map(({ model }) => model)).toEqual(['blue', 'blue'])
    expect(done.lanes[1].stats).toMatchObject({ completed: 2, failed: 0 })
    expect(done.cost_usd).toBeCloseTo(4 * CELL_USD, 9)
  })

  test('is refused if nothing is left to ask, while it runs, and if its budget is spent', async () => {
    const done = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    const refused = await change(done.id, 'resume')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'run_not_resumable'])
    const running = await beginSilentRun()
    expect((await change(running, 'resume')).body.error.code).toBe('run_not_resumable')
    await change(running, 'cancel')
    await chargedAfterCancel(running)
    expect((await change(done.id, 'resume', { budget_usd: -1 })).status).toBe(400)
  })
})

describe('a run whose cells all fail', () => {
  test('has failed, and can be resumed', async () => {
    gateway.upstream.respondWith(failure(400))
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    expect(run).toMatchObject({
      status: 'failed',
      cells_done: 0,
      cells_failed: 2,
      cost_usd: 0,
      error: { code: 'no_cell_completed' },
    })
    gateway.upstream.respondWith(speakers({ red: hello, blue: hello }))
    await change(run.id, 'resume')
    expect(await waitForRun(gateway, run.id)).toMatchObject({ status: 'completed', error: null })
  })
})

describe('a temporary error', () => {
  test('is retried, under a new id if something was delivered and charged', async () => {
    const before = await balance()
    let cuts = 0
    gateway.upstream.respondWith((request) => {
      if (bodyOf(request).model !== 'blue' || cuts > 0) return stream(chunksOf('Hello there'))
      cuts += 1
      return stream([chunk({ delta: { role: 'assistant', content: 'Half of' } })], { ending: 'cut' })
    })
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    expect(run).toMatchObject({ status: 'completed', cells_done: 2 })
    const [, blue] = await readCells(gateway, run.id)
    expect(blue.output).toBe('Hello there')
    expect(blue.cost_usd).toBeGreaterThan(CELL_USD)
    expect(before - (await balance())).toBeCloseTo(run.cost_usd, 9)
    await expectRightMoney(database, await account())
  })
})

describe('an account without credit', () => {
  test('gets a run that fails with 402 in its cells, and continues when there is credit', async () => {
    const key = await createStranger(gateway)
    const asPoor = {
      request: (method: string, path: string, rest = {}) => gateway.request(method, path, { key, ...rest }),
    }
    const run = await makeRun(asPoor, { prompts: ['one', 'two', 'three'], models: ['red', 'blue'] })
    expect(run).toMatchObject({
      status: 'failed',
      cells_done: 0,
      cost_usd: 0,
      error: { code: 'insufficient_balance', type: 'billing_error' },
    })
    const failed = await readCells(asPoor, run.id, '&status=failed')
    expect(failed.length).toBeGreaterThan(0)
    expect(failed[0].error.code).toBe('insufficient_balance')
    expect(gateway.upstream.requests).toHaveLength(0)

    const { body: me } = await asPoor.request('GET', '/v1/tenants/me')
    await gateway.request('POST', `/v1/admin/accounts/${me.id}/credit`, {
      body: { amount_usd: 1, reason: 'test' },
    })
    await asPoor.request('POST', `${RUNS}/${run.id}/resume`)
    expect(await waitForRun(asPoor, run.id)).toMatchObject({
      status: 'completed',
      cells_done: 6,
      error: null,
    })
    await expectRightMoney(database, me.id)
  })
})

describe('a revoked key', () => {
  test('asks nothing more: its run fails with the reason', async () => {
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'brief', env: 'dev', scopes: ['inference'] },
    })
    const paced = [pacedStream(), pacedStream()]
    let next = 0
    gateway.upstream.respondWith(() => paced[next++]?.reply ?? stream(chunksOf('Hello there')))
    const { body: run } = await gateway.request('POST', RUNS, {
      key: key.key,
      body: { prompts: ['one', 'two'], models: ['red', 'blue'], concurrency: 2 },
    })
    await gateway.upstream.requestNumber(1)
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${key.id}`)
    for (const one of paced) {
      for (const entry of chunksOf('Hello there')) one.release(entry)
      one.finish()
    }
    const ended = await waitForRun(gateway, run.id)
    expect(ended).toMatchObject({
      status: 'failed',
      cells_done: 2,
      cells_failed: 0,
      error: { code: 'invalid_api_key' },
    })
    expect(gateway.upstream.requests).toHaveLength(2)
  })
})

describe('saving a run', () => {
  test('keeps it beyond the retention period', async () => {
    const run = await makeRun(gateway, { prompt: 'one', models: ['red', 'blue'] })
    expect(run.saved).toBe(false)
    expect((await change(run.id, 'save')).body.saved).toBe(true)
    expect((await gateway.request('GET', `${RUNS}/${run.id}`)).body.saved).toBe(true)
  })
})
