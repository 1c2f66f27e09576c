import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postCharges, verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { failure } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'
import { speakers, startCompareGateway, type Speaker } from './start-compare-gateway.ts'
import { makeRun, RUNS, waitForRun } from './wait-for-run.ts'

/** The cost of 11 input and 7 output tokens, which the local server always reports. */
const CALL_USD = 0.000081

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  gateway = await startCompareGateway(['poor', 'good', 'judge'])
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

const played = (judge: Speaker | ScriptedReply) =>
  speakers({ poor: () => 'poor words', good: () => 'good words', judge })
const fairJudge: Speaker = ({ messages }) => {
  const text: string = messages.at(-1).content
  const isFirst = text.indexOf('good words') < text.indexOf('poor words')
  return JSON.stringify({ reason: 'because', winner: isFirst ? 'A' : 'B' })
}
const verdictOf = async (id: string) => (await gateway.request('GET', `${RUNS}/${id}/verdict`)).body
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const judgeCalls = () => gateway.upstream.bodies().filter(({ model }) => model === 'judge')

describe('a judgement that was charged but not stored because of a crash', () => {
  const lose = async () => {
    gateway.upstream.respondWith(played(fairJudge))
    const body = { models: ['poor', 'good'], prompts: ['one'], judge: { model: 'judge' } }
    const done = await makeRun(gateway, body)
    const before = await balance()
    const statements = [
      `UPDATE compare_runs SET status = 'cancelled', cost_nano_usd = cost_nano_usd - (
         SELECT sum(cost_nano_usd) FROM compare_judgements WHERE run_id = $1) WHERE id = $1`,
      `UPDATE compare_judgements SET completed_at = NULL, preferred = NULL, cost_nano_usd = 0, counted_nano_usd = 0
       WHERE run_id = $1`,
      'DELETE FROM compare_judged WHERE run_id = $1',
    ]
    for (const sql of statements) await database.query(sql, [done.id])
    gateway.upstream.requests.length = 0
    return { done, before }
  }
  const goOn = async (id: string) => {
    await gateway.request('POST', `${RUNS}/${id}/resume`)
    return waitForRun(gateway, id)
  }
  const expectCleanBooks = async () =>
    expect((await verifyLedger(database)).flatMap(({ differences }) => differences)).toEqual([])

  test('is requested again and not charged again', async () => {
    const { done, before } = await lose()
    const run = await goOn(done.id)
    expect([run.status, run.cost_usd]).toEqual(['completed', done.cost_usd])
    expect(judgeCalls()).toHaveLength(2)
    expect(await balance()).toBe(before)
    expect(run.lanes.map(({ wins }: { wins: number }) => wins)).toEqual([0, 1])
    await expectCleanBooks()
  })

  test('is not charged again even if the judge was unavailable in between', async () => {
    const { done, before } = await lose()
    gateway.upstream.respondWith(played(failure(400)))
    const failed = await goOn(done.id)
    expect(failed).toMatchObject({ status: 'completed', cost_usd: done.cost_usd })
    expect((await verdictOf(done.id)).judge).toMatchObject({ pairs: 1, failed: 1 })
    // The state of a run that was cancelled before its judge had finished.
    await database.query(`UPDATE compare_runs SET status = 'cancelled' WHERE id = $1`, [done.id])
    gateway.upstream.respondWith(played(fairJudge))
    expect(await goOn(done.id)).toMatchObject({ status: 'completed', cost_usd: done.cost_usd })
    expect((await verdictOf(done.id)).judge).toMatchObject({ pairs: 1, consistent: 1 })
    expect(await balance()).toBe(before)
    await expectCleanBooks()
  })

  test('is requested again, and charged, if only a part of it was charged', async () => {
    const { done, before } = await lose()
    await postCharges(database)
    await database.query(
      `UPDATE usage_records SET outcome = 'disconnected' WHERE 'req_' || replace(id::text, '-', '') IN (
         SELECT request_id FROM compare_judgements WHERE run_id = $1)`,
      [done.id],
    )
    const run = await goOn(done.id)
    expect(run.cost_usd).toBeCloseTo(done.cost_usd + 2 * CALL_USD, 9)
    expect(before - (await balance())).toBeCloseTo(2 * CALL_USD, 9)
    await expectCleanBooks()
  })
})
