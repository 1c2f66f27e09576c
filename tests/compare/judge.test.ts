import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, failure, stream } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'
import { speakers, startCompareGateway, type Speaker } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

/** The cost of 11 input and 7 output tokens, which the local server always reports. */
const CALL_USD = 0.000081

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['poor', 'fair', 'good', 'judge'])
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

/** The lanes answer with their quality; each test scripts how the judge compares it. */
const QUALITY: Readonly<Record<string, Speaker>> = {
  poor: () => 'quality 1',
  fair: () => 'quality 2',
  good: () => 'quality 3',
}
const played = (judge: Speaker | ScriptedReply) => speakers({ ...QUALITY, judge })

/** Returns the qualities of the two answers that the judge is asked to compare. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever the gateway sent
function qualities(body: any): [number, number] {
  const text: string = body.messages.at(-1).content
  const [a = 0, b = 0] = [...text.matchAll(/quality (\d)/g)].map(([, digit]) => Number(digit))
  return [a, b]
}

const say = (winner: string, reason = 'because'): string => JSON.stringify({ reason, winner })
const fairJudge: Speaker = (body) => {
  const [a, b] = qualities(body)
  return say(a > b ? 'A' : b > a ? 'B' : 'tie')
}
const prompts = (count: number) => Array.from({ length: count }, (_, index) => `prompt ${index}`)
const verdictOf = async (id: string) => (await gateway.request('GET', `${RUNS}/${id}/verdict`)).body
const judgeCalls = () => gateway.upstream.bodies().filter(({ model }) => model === 'judge')

describe('a judge', () => {
  test('with known preferences recovers the order of the lanes', async () => {
    gateway.upstream.respondWith(played(fairJudge))
    const run = await makeRun(gateway, {
      models: ['fair', 'poor', 'good'],
      prompts: prompts(8),
      judge: { model: 'judge', rubric: 'The higher quality wins.' },
    })
    expect([run.status, run.cells_done]).toEqual(['completed', 24])
    const found = await verdictOf(run.id)
    expect(found.lanes.map(({ model }: { model: string }) => model)).toEqual(['good', 'fair', 'poor'])
    expect(found).toMatchObject({
      verdict: { outcome: 'better', text: 'good is better' },
      votes: { total: 24, judge: 24, human: 0 },
      judge: { pairs: 24, consistent: 24, inconsistent: 0, failed: 0 },
      ballots: 8,
    })
    // Three pairs per prompt, each in both orders, charged to the account and to the run like any chat.
    expect(judgeCalls()).toHaveLength(48)
    expect(run.cost_usd).toBeCloseTo((24 + 48) * CALL_USD, 9)
    const question = judgeCalls()[0]
    expect(question.messages[0].content).toContain('The higher quality wins.')
    expect(question.response_format.type).toBe('json_schema')
    expect(run.lanes.map(({ wins }: { wins: number }) => wins)).toEqual([8, 0, 16])
    const { body: page } = await gateway.request('GET', `${RUNS}/${run.id}/results?prompt_index=0`)
    const [{ judgements }] = page.prompts
    expect(judgements).toHaveLength(6)
    for (const { lane_ids: ids, preferred_lane_id: preferred, ...told } of judgements) {
      expect(ids).toContain(preferred)
      expect(told).toEqual({ repeat: 0, score: null, reason: 'because', error: null })
    }
    const [cell] = await readCells(gateway, run.id, '&prompt_index=0')
    expect(cell.judge).toEqual({ wins: 1, losses: 1, ties: 0, inconsistent: 0, failed: 0 })
    const { body: board } = await gateway.request(
      'GET',
      `/v1/compare/leaderboard?run_id=${run.id}&source=judge`,
    )
    expect(board.data[0].model).toBe('good')
  })

  test('recovers it even if it errs often and prefers the first position', async () => {
    let calls = 0
    gateway.upstream.respondWith(
      played((body) => {
        calls += 1
        if (calls % 5 === 0) return say('A')
        if (calls % 7 === 0) return 'I cannot decide.'
        return fairJudge(body)
      }),
    )
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: prompts(40),
      judge: { model: 'judge' },
    })
    const found = await verdictOf(run.id)
    expect(found.judge.inconsistent + found.judge.failed).toBeGreaterThan(5)
    expect(found.judge.consistent).toBe(found.votes.total)
    expect(found.verdict.text).toBe('good is better')
  })

  test('a judge that always prefers the first position has no effect', async () => {
    gateway.upstream.respondWith(played(() => say('A')))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: prompts(8),
      judge: { model: 'judge' },
    })
    expect(await verdictOf(run.id)).toMatchObject({
      votes: { total: 0 },
      verdict: { outcome: 'not_enough_votes' },
      judge: { pairs: 8, consistent: 0, inconsistent: 8, failed: 0 },
    })
    const [cell] = await readCells(gateway, run.id)
    expect(cell.judge).toMatchObject({ inconsistent: 1 })
  })

  test('a judge that sees no difference gives ties', async () => {
    gateway.upstream.respondWith(played(() => `Sure! \`\`\`json\n${say('tie')}\n\`\`\``))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: prompts(8),
      judge: { model: 'judge' },
    })
    expect(await verdictOf(run.id)).toMatchObject({
      votes: { total: 8, ties: 8 },
      verdict: { outcome: 'no_significant_difference' },
    })
  })

  test('a judge whose answers cannot be parsed is reported as failed, and paid', async () => {
    gateway.upstream.respondWith(played(() => 'What a lovely day.'))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: ['one'],
      judge: { model: 'judge' },
    })
    expect(run.status).toBe('completed')
    expect((await verdictOf(run.id)).judge).toEqual({ pairs: 1, consistent: 0, inconsistent: 0, failed: 1 })
    expect(run.cost_usd).toBeCloseTo(4 * CALL_USD, 9)
    expect(run.judging).toMatchObject({
      status: 'failed',
      judgements_total: 2,
      judgements_done: 0,
      judgements_failed: 2,
      error: { code: 'unreadable_answer', message: expect.stringContaining('did not answer in the form') },
    })
    expect(run.judging.cost_usd).toBeCloseTo(2 * CALL_USD, 9)
  })

  test('a judge of ten lanes compares each with two others per prompt', async () => {
    gateway.upstream.respondWith(played(fairJudge))
    const run = await makeRun(gateway, {
      models: Array.from({ length: 10 }, (_, index) => ['poor', 'fair', 'good'][index % 3]),
      prompts: ['one'],
      judge: { model: 'judge' },
    })
    expect(judgeCalls()).toHaveLength(20)
    expect((await verdictOf(run.id)).judge.pairs).toBe(10)
  })

  test('scores answers by the expected value', async () => {
    gateway.upstream.respondWith(
      played((body) =>
        body.messages[0].content.includes('grade')
          ? JSON.stringify({ reason: 'graded', score: qualities(body)[0] / 4 })
          : fairJudge(body),
      ),
    )
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: [{ prompt: 'one', expected: { type: 'judge', value: 'A friendly tone.' } }, 'two'],
      judge: { model: 'judge' },
    })
    const cells = await readCells(gateway, run.id)
    expect(cells.map(({ score }) => score)).toEqual([0.25, 0.75, null, null])
    expect(cells[0].judge).toMatchObject({ losses: 1, score: 0.25, reason: 'graded' })
    expect(run.lanes.map(({ stats }: { stats: { score: number } }) => stats.score)).toEqual([0.25, 0.75])
    expect(judgeCalls().some(({ messages }) => messages[1].content.includes('A friendly tone.'))).toBe(true)
  })

  test('a judge that its upstream refuses is free, and leaves the answers unchanged', async () => {
    gateway.upstream.respondWith(played(failure(401)))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: ['one', 'two'],
      judge: { model: 'judge' },
    })
    expect([run.cells_done, (await verdictOf(run.id)).votes.total]).toEqual([4, 0])
    expect(run.cost_usd).toBeCloseTo(4 * CALL_USD, 9)
  })

  test('stops with the run, and continues later without asking anything twice', async () => {
    const readBalance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
    const balance = await readBalance()
    let judged = 0
    gateway.upstream.respondWith(({ body }) => {
      const { model } = Object(body)
      if (model !== 'judge') return stream(chunksOf('quality 1'))
      judged += 1
      if (judged > 6 && judged <= 8) return new Promise(() => {})
      return stream(chunksOf(say('tie')))
    })
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { models: ['poor', 'good'], prompts: prompts(6), judge: { model: 'judge' }, concurrency: 1 },
    })
    await expect.poll(() => judged).toBeGreaterThan(6)
    await gateway.request('POST', `${RUNS}/${made.id}/cancel`)
    const cancelled = await waitForRun(gateway, made.id)
    expect(cancelled.status).toBe('cancelled')
    gateway.upstream.respondWith(played(() => say('tie')))
    gateway.upstream.requests.length = 0
    expect((await gateway.request('POST', `${RUNS}/${made.id}/resume`)).status).toBe(200)
    const run = await waitForRun(gateway, made.id)
    expect(run.status).toBe('completed')
    expect((await verdictOf(made.id)).judge).toMatchObject({ pairs: 6, consistent: 6 })
    expect(judgeCalls()).toHaveLength(6)
    const { body: records } = await gateway.request('GET', '/v1/usage/records?limit=100&model=judge')
    expect(new Set(records.data.map((record: { request_id: string }) => record.request_id)).size).toBe(
      records.data.length,
    )
    // A cancelled call costs what the vendor may have generated for it.
    expect(run.cost_usd).toBeCloseTo(balance - (await readBalance()), 9)
    expect(run.cost_usd).toBeGreaterThan((12 + 12) * CALL_USD)
  })

  test('is in the estimate of the run, with both orders of every pair', async () => {
    gateway.upstream.respondWith(played(fairJudge))
    const estimate = async (models: readonly string[], judge?: object) => {
      const { body } = await gateway.request('POST', RUNS, {
        body: { models, prompts: prompts(3), judge },
      })
      await waitForRun(gateway, body.id)
      return body
    }
    const partOf = async (...models: string[]) => {
      const judged = await estimate(models, { model: 'judge' })
      const plain = await estimate(models)
      expect(judged.estimated_duration_seconds).toBeGreaterThan(plain.estimated_duration_seconds)
      return judged.estimated_cost_usd - plain.estimated_cost_usd
    }
    const ofTwo = await partOf('poor', 'good')
    // At least the cost of six answers of 60 tokens.
    expect(ofTwo).toBeGreaterThan(6 * 0.0006)
    // Three lanes make three pairs.
    expect(await partOf('poor', 'fair', 'good')).toBeCloseTo(3 * ofTwo, 9)
  })

  test('is refused at once if it is not a text model', async () => {
    const body = { models: ['poor', 'good'], prompts: ['one'], judge: { model: 'nobody' } }
    const answer = await gateway.request('POST', RUNS, { body })
    expect([answer.status, answer.body.error.param]).toEqual([404, 'judge.model'])
  })

  test('a judge that the budget does not cover ends the run with the reason', async () => {
    gateway.upstream.respondWith(played(fairJudge))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: prompts(4),
      judge: { model: 'judge' },
      budget_usd: 0.0019,
    })
    expect([run.status, run.error?.code, run.cells_done]).toEqual(['failed', 'budget_reached', 8])
    expect(run.cost_usd).toBeLessThanOrEqual(0.0019)
    await gateway.request('POST', `${RUNS}/${run.id}/resume`, { body: { budget_usd: 1 } })
    const judged = await waitForRun(gateway, run.id)
    expect([judged.status, judged.judging.judgements_done]).toEqual(['completed', 8])
  })
})
