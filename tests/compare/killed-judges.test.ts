import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { usageOf } from '../ledger/metered-upstream.ts'
import { MODEL, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import {
  chunk,
  event,
  startOpenAiServer,
  type OpenAiServer,
  type RecordedRequest,
} from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'
import { RUNS } from './wait-for-run.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const KILLS = longOr(5, 2)
const LEASE_MS = 1_000
const PROMPTS = longOr(30, 20)
const LANES = 3
const CELLS = PROMPTS * LANES
const PAIRS = PROMPTS * 3
const JUDGEMENTS = 2 * PAIRS

let upstream: OpenAiServer
let fleet: Fleet
let gateway: Gateway

beforeAll(async () => {
  upstream = await startOpenAiServer(answer)
  fleet = await startFleet({ upstream, environment: { PARKWAY_LEASE_MS: String(LEASE_MS) } })
  gateway = await fleet.start()
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

const isJudge = ({ body }: RecordedRequest): boolean => 'response_format' in Object(body)
const judgeCalls = () => upstream.requests.filter(isJudge).length

/** Lanes answer with their quality without a delay. The judge prefers the higher quality and answers slowly. */
function answer(request: RecordedRequest): ScriptedReply {
  const { user, messages } = Object(request.body)
  if (!isJudge(request)) return reply(`quality ${user}`, 0)
  const [a = 0, b = 0] = [...messages.at(-1).content.matchAll(/quality (\d)/g)].map(([, digit]) =>
    Number(digit),
  )
  return reply(JSON.stringify({ reason: 'because', winner: a > b ? 'A' : 'B' }), 50 + randomShare() * 400)
}

/** Each reply reports another number of tokens, so that a charge can be identified by its amount. */
function reply(content: string, pauseMs: number): ScriptedReply {
  const ending = [
    chunk({ delta: { content } }),
    chunk({ finish_reason: 'stop' }),
    chunk({ choices: [], usage: usageOf(1 + Math.floor(randomShare() * 1_000)) }),
  ]
  async function* rest(): AsyncGenerator<string> {
    if (pauseMs > 0) await delay(pauseMs)
    yield ending.map((entry) => event(entry)).join('') + 'data: [DONE]\n\n'
  }
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' }
  return { headers, chunks: [event(chunk({ delta: { role: 'assistant', content: '' } }))], more: rest() }
}

describe('a run whose process is killed at random while its judge works', () => {
  let spender: Spender
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  let run: any

  const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
    call(method, gateway.url + path, { key: spender.key, body })

  beforeAll(async () => {
    spender = await fleet.createSpender({ creditUsd: 10 })
    const { body: made } = await ask('POST', RUNS, {
      prompts: Array.from({ length: PROMPTS }, (_, index) => `prompt ${index}`),
      lanes: Array.from({ length: LANES }, (_, index) => ({ model: MODEL, user: String(index) })),
      judge: { model: MODEL },
      concurrency: 4,
    })
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = judgeCalls()
      await until(() => judgeCalls() > before + 5)
      await delay(randomShare() * 400)
      gateway.program.kill('SIGKILL')
      await gateway.program.exited
      gateway = await fleet.start()
    }
    expect((await ask('GET', `${RUNS}/${made.id}`)).body).toMatchObject({
      cells_done: CELLS,
      completed_at: null,
    })
    run = await until(async () => {
      const { body: now } = await ask('GET', `${RUNS}/${made.id}`)
      return now.status === 'completed' || now.status === 'failed' ? now : null
    })
  }, 300_000)

  test('ends with every judgement exactly once, and the order that the judge prefers', async () => {
    expect(run).toMatchObject({ status: 'completed', cells_done: CELLS, cells_failed: 0, error: null })
    const rows = await fleet.database.query<{ name: string; is_done: boolean }>(
      `SELECT concat_ws('.', prompt_index, repeat, first_lane_id, second_lane_id) AS name,
         completed_at IS NOT NULL AND error_code IS NULL AND preferred IS NOT NULL AS is_done FROM compare_judgements`,
    )
    expect(new Set(rows.map(({ name }) => name)).size).toBe(JUDGEMENTS)
    expect(rows.filter(({ is_done: isDone }) => !isDone)).toEqual([])
    // Some judge calls were repeated, because the process that made them was killed; no cell was repeated.
    expect(judgeCalls()).toBeGreaterThan(JUDGEMENTS)
    expect(upstream.requests.length - judgeCalls()).toBe(CELLS)
    const { body: verdict } = await ask('GET', `${RUNS}/${run.id}/verdict`)
    expect(verdict).toMatchObject({
      votes: { total: PAIRS, judge: PAIRS },
      judge: { pairs: PAIRS, consistent: PAIRS, inconsistent: 0, failed: 0 },
      verdict: { outcome: 'better' },
    })
    expect(run.lanes.map(({ wins }: { wins: number }) => wins)).toEqual([0, PROMPTS, 2 * PROMPTS])
  })

  test('charges every judgement once, and reports the charged amount of each', async () => {
    const charges = await fleet.readCharges(spender.accountId)
    expect(charges).toHaveLength(CELLS + JUDGEMENTS)
    const rows = await fleet.database.query<{ id: string; cost: bigint }>(
      `SELECT request_id AS id, cost_nano_usd AS cost FROM compare_judgements
       UNION ALL SELECT request_id, cost_nano_usd FROM compare_cells`,
    )
    const costs = new Map(rows.map(({ id, cost }) => [id, cost]))
    expect(charges.filter(({ requestId, costNanoUsd }) => costs.get(requestId) !== costNanoUsd)).toEqual([])
  })

  test('has consistent sums over the run, its judgements, its cells, and the ledger', async () => {
    const [row] = await fleet.database.query<{ run: bigint; parts: bigint }>(
      `SELECT (SELECT sum(cost_nano_usd) FROM compare_runs)::bigint AS run,
         ((SELECT sum(cost_nano_usd) FROM compare_cells) + (SELECT sum(cost_nano_usd) FROM compare_judgements))::bigint
           AS parts`,
    )
    expect(row?.run).toBe(row?.parts)
    expect(await fleet.findDifferences()).toEqual([])
    const { body: account } = await ask('GET', '/v1/tenants/me')
    expect(account.balance_usd).toBeCloseTo(10 - run.cost_usd, 9)
    expect(fleet.findDefects()).toEqual([])
  })
})
