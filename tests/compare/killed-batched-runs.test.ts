import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { startBatchVendor, type BatchVendor } from '../batches/batch-vendor.ts'
import { MODEL, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'
import { startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { RUNS } from './wait-for-run.ts'

const KILLS = longOr(12, 3)
const PROMPTS = longOr(300, 40)
const LANES = 2
const CELLS = PROMPTS * LANES
/** Between two kills the process gets this long, so that kills hit all of its steps. */
const LIFE_MS_MAX = 2_500

let upstream: OpenAiServer
let vendor: BatchVendor
let fleet: Fleet
let gateway: Gateway
let spender: Spender

beforeAll(async () => {
  upstream = await startOpenAiServer()
  vendor = await startBatchVendor()
  fleet = await startFleet({ upstream, environment: { ...vendor.settings, PARKWAY_LEASE_MS: '1000' } })
  gateway = await fleet.start()
  spender = await fleet.createSpender({ creditUsd: 10 })
})
afterAll(async () => {
  await fleet.close()
  await vendor.close()
  await upstream.close()
})

const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
  call(method, gateway.url + path, { key: spender.key, body })

test('each cell of a run as batches is answered and charged once, although its processes are killed', async () => {
  vendor.behave({ looks: 3, isTwice: true })
  const prompts = Array.from({ length: PROMPTS }, (_, index) => `prompt ${index}`)
  const lanes = Array.from({ length: LANES }, (_, index) => ({
    model: MODEL,
    max_tokens: 200,
    user: `lane ${index}`,
  }))
  const { body: made } = await ask('POST', RUNS, { mode: 'batch', prompts, lanes })
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(randomShare() * LIFE_MS_MAX)
    gateway.program.kill('SIGKILL')
    await gateway.program.exited
    gateway = await fleet.start()
  }
  const run = await until(async () => {
    const { body: now } = await ask('GET', `${RUNS}/${made.id}`)
    return now.status === 'completed' || now.status === 'failed' ? now : null
  })
  expect(run).toMatchObject({
    status: 'completed',
    error: null,
    cells_total: CELLS,
    cells_done: CELLS,
    cells_failed: 0,
  })
  expect(run.batches).toHaveLength(LANES)
  const charges = await fleet.readCharges(spender.accountId)
  expect(charges).toHaveLength(CELLS)
  const cells = await fleet.database.query<{ id: string; cost: bigint; output: string; prompt: number }>(
    'SELECT request_id AS id, cost_nano_usd AS cost, output, prompt_index AS prompt FROM compare_cells',
  )
  for (const { output, prompt } of cells) expect(output).toBe(`prompt ${prompt}`)
  const byId = new Map(charges.map(({ requestId, costNanoUsd }) => [requestId, costNanoUsd]))
  expect(cells.map(({ id, cost }) => [id, cost])).toEqual(cells.map(({ id }) => [id, byId.get(id)]))
  const [sums] = await fleet.database.query<{ run: bigint; lanes: bigint; cells: bigint }>(
    `SELECT (SELECT sum(cost_nano_usd) FROM compare_runs)::bigint AS run,
       (SELECT sum(cost_nano_usd) FROM compare_lanes)::bigint AS lanes,
       (SELECT sum(cost_nano_usd) FROM compare_cells)::bigint AS cells`,
  )
  expect(sums).toEqual({ run: sums?.cells, lanes: sums?.cells, cells: sums?.cells })
  expect(vendor.invoice.single).toEqual([])
  expect(await fleet.findDifferences()).toEqual([])
  expect(fleet.findDefects()).toEqual([])
}, 600_000)
