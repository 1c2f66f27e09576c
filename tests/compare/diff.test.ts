import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, stream } from '../upstreams/openai-server.ts'
import { createStranger, speakers, startCompareGateway, type Speaker } from './start-compare-gateway.ts'
import { makeRun, RUNS } from './wait-for-run.ts'

const DATASETS = '/v1/compare/datasets'
const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'green'])
  stranger = await createStranger(gateway)
})

afterAll(() => gateway.close())

const CASES = Array.from({ length: 10 }, (_, index) => ({
  prompt: `add one to ${index}`,
  expected: `${index + 1}`,
}))
const solve: Speaker = ({ messages }) => String(Number(/\d+/.exec(messages.at(-1).content)?.[0]) + 1)
const makeDataset = async (prompts: object[] = CASES) =>
  (await gateway.request('POST', DATASETS, { body: { name: 'sums', prompts } })).body
const diff = (runId: string, against: string, key = gateway.key) =>
  gateway.request('GET', `${RUNS}/${runId}/diff?against=${against}`, { key })

describe('two runs of one dataset', () => {
  test('are compared lane by lane over the same prompts', async () => {
    const { id: datasetId } = await makeDataset()
    gateway.upstream.respondWith(speakers({ red: () => 'no idea', blue: solve }))
    const before = await makeRun(gateway, { models: ['red', 'blue'], dataset_id: datasetId, repeats: 2 })
    const dear = { prompt_tokens: 11, completion_tokens: 70, total_tokens: 81 }
    gateway.upstream.respondWith((request) => {
      const body = Object(request.body)
      const entries = [
        chunk({ delta: { role: 'assistant', content: solve(body) } }),
        chunk({ finish_reason: 'stop' }),
      ]
      return stream([...entries, chunk({ choices: [], usage: dear })])
    })
    const after = await makeRun(gateway, { models: ['green', 'red'], dataset_id: datasetId })
    const { status, body } = await diff(after.id, before.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'compare.diff',
      run_id: after.id,
      against_run_id: before.id,
      dataset_id: datasetId,
      dataset_version: before.dataset_version,
      lanes: [
        {
          lane: { lane_id: after.lanes[1].id, model: 'red' },
          against: { lane_id: before.lanes[0].id, model: 'red' },
          prompts: 10,
          measures: {
            score: {
              prompts: 10,
              mean: 1,
              against_mean: 0,
              difference: 1,
              difference_low: 1,
              difference_high: 1,
              verdict: 'better',
            },
            cost_usd: { verdict: 'worse' },
            completion_tokens: { mean: 70, against_mean: 7, verdict: 'more' },
          },
        },
      ],
    })
    expect(body.lanes).toHaveLength(1)
    expect(body.lanes[0].measures.cost_usd.difference).toBeCloseTo(63e-5, 9)
    expect(body.unmatched.map(({ model }: { model: string }) => model)).toEqual(['green', 'blue'])
    const { body: back } = await diff(before.id, after.id)
    expect(back.lanes[0].measures.score).toMatchObject({ difference: -1, verdict: 'worse' })
  })

  test('are not compared while one of them hides its lanes', async () => {
    const { id: datasetId } = await makeDataset()
    gateway.upstream.respondWith(speakers({ red: () => 'no idea', blue: solve }))
    const order = { models: ['red', 'blue'], dataset_id: datasetId }
    const before = await makeRun(gateway, order)
    const blind = await makeRun(gateway, { ...order, blind: true })
    for (const [runId, against] of [
      [blind.id, before.id],
      [before.id, blind.id],
    ]) {
      const { status, body } = await diff(runId, against)
      expect([status, body.error.param]).toEqual([400, 'against'])
    }
    const winner = `${RUNS}/${blind.id}/lanes/${blind.lanes[1].id}/winner`
    await gateway.request('POST', winner, { body: {} })
    expect((await diff(blind.id, before.id)).status).toBe(200)
  })

  test('two runs of one dataset of different versions are compared over the unchanged prompts', async () => {
    const dataset = await makeDataset()
    gateway.upstream.respondWith(speakers({ red: solve, blue: solve }))
    const before = await makeRun(gateway, { models: ['red', 'blue'], dataset_id: dataset.id })
    const changed = [{ prompt: 'add one to 99', expected: '100' }, ...CASES.slice(0, 7)]
    const { status } = await gateway.request('PATCH', `${DATASETS}/${dataset.id}`, {
      body: { prompts: changed },
    })
    expect(status).toBe(200)
    const after = await makeRun(gateway, { models: ['red', 'blue'], dataset_id: dataset.id })
    const { body } = await diff(after.id, before.id)
    expect(body).toMatchObject({
      dataset_version: null,
      lanes: [
        { prompts: 7, measures: { score: { difference: 0, verdict: 'no_significant_difference' } } },
        { prompts: 7 },
      ],
      unmatched: [],
    })
  })

  test('with few prompts are compared without a verdict', async () => {
    const { id } = await makeDataset(CASES.slice(0, 2))
    gateway.upstream.respondWith(speakers({ red: solve, blue: solve }))
    const [one, other] = [
      await makeRun(gateway, { models: ['red', 'blue'], dataset_id: id }),
      await makeRun(gateway, { models: ['red', 'blue'], dataset_id: id }),
    ]
    const { body } = await diff(one.id, other.id)
    expect(body.lanes[0].measures.score.verdict).toBe('not_enough_prompts')
  })

  test('can be compared only with each other, and only by their account', async () => {
    gateway.upstream.respondWith(speakers({ red: solve, blue: solve }))
    const { id } = await makeDataset(CASES.slice(0, 1))
    const [run, loose] = [
      await makeRun(gateway, { models: ['red', 'blue'], dataset_id: id }),
      await makeRun(gateway, { models: ['red', 'blue'], prompts: ['add one to 1'] }),
    ]
    for (const [runId, against, key, status] of [
      [run.id, loose.id, gateway.key, 400],
      [loose.id, loose.id, gateway.key, 400],
      [run.id, run.id, gateway.key, 400],
      [run.id, NOBODY, gateway.key, 400],
      [run.id, 'none', gateway.key, 400],
      [NOBODY, run.id, gateway.key, 404],
      ['none', run.id, gateway.key, 404],
      [run.id, loose.id, stranger, 404],
    ] as const)
      expect((await diff(runId, against, key)).status).toBe(status)
    const { status, body } = await gateway.request('GET', `${RUNS}/${run.id}/diff`)
    expect([status, body.error.param]).toEqual([400, 'against'])
  })
})
