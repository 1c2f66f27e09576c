import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, stream } from '../upstreams/openai-server.ts'
import { speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, RUNS, waitForRun } from './wait-for-run.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['poor', 'good', 'judge'])
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const say = (winner: string): string => JSON.stringify({ reason: 'because', winner })
const judgedBy = (judge: () => string) =>
  speakers({ poor: () => 'quality 1', good: () => 'quality 3', judge })
const prompts = (count: number) => Array.from({ length: count }, (_, index) => `prompt ${index}`)

describe('the progress of a judge', () => {
  test('a judge that fails question after question ends the run early with the reason, and the run can be resumed', async () => {
    gateway.upstream.respondWith(judgedBy(() => 'What a lovely day.'))
    const run = await makeRun(gateway, {
      models: ['poor', 'good'],
      prompts: prompts(30),
      judge: { model: 'judge' },
      concurrency: 2,
    })
    expect([run.status, run.error.code, run.cells_done]).toEqual(['failed', 'judge_failed', 60])
    expect(run.error.message).toContain('did not answer in the form')
    expect(run.judging).toMatchObject({ status: 'failed', judgements_total: 60, judgements_done: 0 })
    expect(run.judging.judgements_failed).toBeGreaterThanOrEqual(8)
    // Eight in a row, and what was asked at the same time.
    expect(gateway.upstream.bodies().filter(({ model }) => model === 'judge').length).toBeLessThanOrEqual(12)
    gateway.upstream.respondWith(judgedBy(() => say('tie')))
    expect((await gateway.request('POST', `${RUNS}/${run.id}/resume`)).status).toBe(200)
    const resumed = await waitForRun(gateway, run.id)
    expect(resumed).toMatchObject({
      status: 'completed',
      progress: 100,
      error: null,
      judging: { status: 'completed', judgements_done: 60, judgements_failed: 0, error: null },
    })
  })

  test('tells answers and judgements apart while it is asked', async () => {
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    let judged = 0
    gateway.upstream.respondWith(async ({ body }) => {
      if (Object(body).model !== 'judge') return stream(chunksOf('quality 1'))
      judged += 1
      if (judged > 2) await finished
      return stream(chunksOf(say('tie')))
    })
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { models: ['poor', 'good'], prompts: prompts(3), judge: { model: 'judge' }, concurrency: 1 },
    })
    const read = async () => (await gateway.request('GET', `${RUNS}/${made.id}`)).body
    await expect.poll(async () => (await read()).judging.judgements_done).toBe(2)
    expect(await read()).toMatchObject({
      status: 'running',
      cells_done: 6,
      // Six answers and two judgements of twelve of both.
      progress: 66,
      judging: { status: 'running', judgements_total: 6, judgements_failed: 0, error: null },
    })
    finish()
    expect(await waitForRun(gateway, made.id)).toMatchObject({ status: 'completed', progress: 100 })
  })
})
