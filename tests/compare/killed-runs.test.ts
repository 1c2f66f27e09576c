import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { MODEL, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { RUNS } from './wait-for-run.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const KILLS = longOr(10, 2)
const LEASE_MS = 1_000
const PROMPTS = longOr(100, 30)
const LANES = 3
const CELLS = PROMPTS * LANES

let upstream: MeteredUpstream
let fleet: Fleet
let gateway: Gateway

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 50 + randomShare() * 800 })
  fleet = await startFleet({ upstream, environment: { PARKWAY_LEASE_MS: String(LEASE_MS) } })
  gateway = await fleet.start()
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

describe('a run whose process is killed at random', () => {
  let spender: Spender
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  let run: any

  const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
    call(method, gateway.url + path, { key: spender.key, body })

  beforeAll(async () => {
    spender = await fleet.createSpender({ creditUsd: 10 })
    const prompts = Array.from({ length: PROMPTS }, (_, index) => `prompt ${index}`)
    const lanes = Array.from({ length: LANES }, (_, index) => ({
      model: MODEL,
      max_tokens: 100,
      user: `lane ${index}`,
    }))
    const { body } = await ask('POST', RUNS, { prompts, lanes, concurrency: 6 })
    for (let kill = 0; kill < KILLS; kill += 1) {
      await untilCellsRun()
      await delay(randomShare() * 1_000)
      gateway.program.kill('SIGKILL')
      await gateway.program.exited
      gateway = await fleet.start()
    }
    run = await until(async () => {
      const { body: now } = await ask('GET', `${RUNS}/${body.id}`)
      return now.status === 'completed' || now.status === 'failed' ? now : null
    })
  }, 600_000)

  async function untilCellsRun(): Promise<void> {
    const before = upstream.requests.length
    await until(() => upstream.requests.length > before)
  }

  test('ends with every cell completed exactly once', async () => {
    expect(run).toMatchObject({
      status: 'completed',
      cells_total: CELLS,
      cells_done: CELLS,
      cells_failed: 0,
      error: null,
    })
    const rows = await fleet.database.query<{ name: string; status: string }>(
      `SELECT prompt_index || '.' || repeat || '.' || lane_position AS name, status FROM compare_cells`,
    )
    expect(rows).toHaveLength(CELLS)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(CELLS)
    expect(rows.filter(({ status }) => status !== 'completed')).toEqual([])
    // Some cells were asked again, because the process that asked them was killed.
    expect(upstream.requests.length).toBeGreaterThan(CELLS)
  })

  test('charges every cell once, and reports the charged amount of each', async () => {
    const charges = await fleet.readCharges(spender.accountId)
    const whole = charges.filter(({ outcome }) => outcome === 'completed')
    expect(whole).toHaveLength(CELLS)
    const rows = await fleet.database.query<{ id: string; cost: bigint }>(
      'SELECT request_id AS id, cost_nano_usd AS cost FROM compare_cells',
    )
    const costs = new Map(rows.map(({ id, cost }) => [id, cost]))
    expect(whole.filter(({ requestId, costNanoUsd }) => (costs.get(requestId) ?? 0n) < costNanoUsd)).toEqual(
      [],
    )
    // A process that is so slow that others take its lease has its cells cut off. What they delivered is part of their cost.
    const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
    expect(sum(rows.map(({ cost }) => cost))).toBe(sum(charges.map(({ costNanoUsd }) => costNanoUsd)))
  })

  test('has consistent sums over the run, its lanes, and the ledger', async () => {
    const [row] = await fleet.database.query<{
      run: bigint
      lanes: bigint
      cells: bigint
      completed: number
    }>(
      `SELECT (SELECT sum(cost_nano_usd) FROM compare_runs)::bigint AS run,
         (SELECT sum(cost_nano_usd) FROM compare_lanes)::bigint AS lanes,
         (SELECT sum(completed) FROM compare_lanes)::int AS completed,
         (SELECT sum(cost_nano_usd) FROM compare_cells)::bigint AS cells`,
    )
    expect(row).toEqual({ run: row?.cells, lanes: row?.cells, cells: row?.cells, completed: CELLS })
    expect(await fleet.findDifferences()).toEqual([])
    const { body: account } = await ask('GET', '/v1/tenants/me')
    expect(account.balance_usd).toBeCloseTo(10 - run.cost_usd, 9)
    expect(fleet.findDefects()).toEqual([])
  })
})
