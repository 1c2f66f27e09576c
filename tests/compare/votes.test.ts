import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, RUNS, waitForRun } from './wait-for-run.ts'

const LEADERBOARD = '/v1/compare/leaderboard'
const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'green'])
  stranger = await createStranger(gateway)
  gateway.upstream.respondWith(speakers({ red: () => 'r', blue: () => 'b', green: () => 'g' }))
})

afterAll(() => gateway.close())

const prompts = (count: number) => Array.from({ length: count }, (_, index) => `prompt ${index}`)
const make = (models: string[], members: object = {}) =>
  makeRun(gateway, { models, prompts: prompts(8), ...members })
const vote = (runId: string, laneId: string, body?: object, key = gateway.key) =>
  gateway.request('POST', `${RUNS}/${runId}/lanes/${laneId}/winner`, { key, ...(body && { body }) })
const verdictOf = async (runId: string) => (await gateway.request('GET', `${RUNS}/${runId}/verdict`)).body
const leaderboard = async (query = '', key = gateway.key) =>
  (await gateway.request('GET', `${LEADERBOARD}${query}`, { key })).body

describe('a vote', () => {
  test('without a body names the winner of the run', async () => {
    const { id, lanes } = await make(['red', 'blue'])
    const { status, body } = await vote(id, lanes[1].id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      winner_lane_id: lanes[1].id,
      lanes: [{ winner: false }, { winner: true, wins: 0 }],
      vote: { object: 'compare.vote', outcome: 'winner', prompt_index: null, winner_lane_id: lanes[1].id },
    })
    const { body: tied } = await vote(id, lanes[1].id, { tie: true })
    expect(tied).toMatchObject({ winner_lane_id: null, vote: { outcome: 'tie', winner_lane_id: null } })
    expect((await verdictOf(id)).votes).toEqual({ total: 1, human: 1, judge: 0, ties: 1, both_bad: 0 })
  })

  test('on a prompt counts as a win, and a new vote of the same key replaces it', async () => {
    const { id, lanes } = await make(['red', 'blue'])
    const [red, blue] = lanes
    await vote(id, red.id, { prompt_index: 0, reason: 'shorter' })
    await vote(id, red.id, { prompt_index: 1 })
    const { body: changed } = await vote(id, blue.id, { prompt_index: 1 })
    expect(changed.lanes).toMatchObject([{ wins: 1 }, { wins: 1 }])
    expect(changed.winner_lane_id).toBeNull()
    const { body: bad } = await vote(id, blue.id, { prompt_index: 1, both_bad: true })
    expect(bad.lanes).toMatchObject([{ wins: 1 }, { wins: 0 }])
    const { body: other } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'a second voter' },
    })
    const { body: both } = await vote(id, red.id, { prompt_index: 0 }, other.key)
    expect(both.lanes).toMatchObject([{ wins: 2 }, { wins: 0 }])
    expect((await verdictOf(id)).votes).toMatchObject({ total: 3, both_bad: 1 })
  })

  test('a vote of many concurrent ones on one prompt is stored once, and the wins add up', async () => {
    const { id, lanes } = await make(['red', 'blue'])
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => vote(id, lanes[index % 2].id, { prompt_index: 3 })),
    )
    const { body: run } = await gateway.request('GET', `${RUNS}/${id}`)
    expect(run.lanes[0].wins + run.lanes[1].wins).toBe(1)
    expect((await verdictOf(id)).votes.total).toBe(1)
  })

  test.each([
    ['a prompt that is none', { prompt_index: 8 }, 'prompt_index'],
    ['a prompt before the first', { prompt_index: -1 }, 'prompt_index'],
    ['a repeat that is none', { prompt_index: 0, repeat: 1 }, 'repeat'],
    ['a repeat of the whole run', { repeat: 0 }, 'repeat'],
    ['both kinds of tie', { tie: true, both_bad: true }, 'both_bad'],
    ['a tie that is no boolean', { tie: 'yes' }, 'tie'],
  ])('on %s is refused', async (_name, body, param) => {
    const { id, lanes } = await make(['red', 'blue'])
    const answer = await vote(id, lanes[0].id, body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })

  test('on an unknown run or lane, or another account’s, is not found', async () => {
    const [{ id, lanes }, other] = [await make(['red', 'blue']), await make(['red', 'blue'])]
    for (const [runId, laneId, key, what] of [
      [id, NOBODY, gateway.key, 'lane'],
      [id, other.lanes[0].id, gateway.key, 'lane'],
      [NOBODY, lanes[0].id, gateway.key, 'run'],
      ['none', lanes[0].id, gateway.key, 'run'],
      [id, lanes[0].id, stranger, 'run'],
    ] as const) {
      const answer = await vote(runId, laneId, {}, key)
      expect([answer.status, answer.body.error.message]).toEqual([404, `No such ${what}.`])
    }
    expect((await verdictOf(id)).votes.total).toBe(0)
  })
})

describe('a verdict', () => {
  test('goes from not enough votes over no difference to a better lane', async () => {
    const { id, lanes } = await make(['red', 'blue', 'green'], { prompts: prompts(40) })
    const [red, blue, green] = lanes
    expect(await verdictOf(id)).toMatchObject({
      object: 'compare.verdict',
      winner_lane_id: null,
      verdict: { outcome: 'not_enough_votes' },
      judge: { pairs: 0, consistent: 0, inconsistent: 0, failed: 0 },
    })
    for (let index = 0; index < 12; index += 1)
      await vote(id, [red, blue, green][index % 3].id, { prompt_index: index })
    expect((await verdictOf(id)).verdict).toEqual({
      outcome: 'no_significant_difference',
      text: 'no significant difference',
    })
    for (let index = 12; index < 40; index += 1) await vote(id, blue.id, { prompt_index: index })
    const found = await verdictOf(id)
    expect(found).toMatchObject({
      winner_lane_id: blue.id,
      verdict: { outcome: 'better', text: 'blue is better' },
      ballots: 40,
      lanes: [{ lane_id: blue.id, model: 'blue', name: 'blue', rank: 1, wins: 64, losses: 8 }, {}, {}],
    })
    expect(found.lanes[0].rating_low).toBeGreaterThan(found.lanes[1].rating_high)
    expect(await verdictOf(id)).toEqual(found)
  })

  test('counts each vote once, and ties and all bad as what they are', async () => {
    const { id, lanes } = await make(['red', 'blue', 'green'])
    for (const [index, body] of [
      {},
      {},
      {},
      {},
      {},
      { tie: true },
      { both_bad: true },
      { both_bad: true },
    ].entries())
      await vote(id, lanes[0].id, { prompt_index: index, ...body })
    const found = await verdictOf(id)
    expect(found.votes).toEqual({ total: 8, human: 8, judge: 0, ties: 1, both_bad: 2 })
    expect(found.lanes.map(({ name, votes }: { name: string; votes: object }) => [name, votes])).toEqual([
      ['red', { won: 5, lost: 0, tied: 1, both_bad: 2 }],
      ...[found.lanes[1].name, found.lanes[2].name].map((name) => [
        name,
        { won: 0, lost: 5, tied: 1, both_bad: 2 },
      ]),
    ])
  })

  test('the verdict of a run decides by scores, by votes of people before them, and tells nothing before the end', async () => {
    const read = async (id: string) => (await gateway.request('GET', `${RUNS}/${id}`)).body
    const run = await make(['red', 'blue'], {
      prompts: prompts(8).map((prompt) => ({ prompt, expected: 'r' })),
    })
    const [red, blue] = run.lanes
    expect(run.verdict).toMatchObject({
      outcome: 'better',
      basis: 'score',
      winner_lane_id: red.id,
      recommended_lane_id: red.id,
      confidence: 1,
      text: expect.stringContaining(
        'red is better: its score is 100 % (100–100 %), and blue comes next with 0 %',
      ),
      lanes: [
        { lane_id: red.id, quality: { mean: 1, low: 1, high: 1 }, is_worse: false },
        { lane_id: blue.id, quality: { mean: 0 }, is_worse: true, cost_usd: expect.any(Number) },
      ],
    })
    for (let index = 0; index < 8; index += 1)
      await vote(run.id, index < 4 ? red.id : blue.id, { prompt_index: index })
    const voted = (await read(run.id)).verdict
    expect(voted).toMatchObject({ outcome: 'no_clear_difference', basis: 'people', winner_lane_id: null })
    expect([red.id, blue.id]).toContain(voted.recommended_lane_id)
    const { body: made } = await gateway.request('POST', RUNS, {
      body: { models: ['red', 'blue'], prompt: 'one' },
    })
    expect(made.verdict).toBeNull()
    await waitForRun(gateway, made.id)
    expect((await read(made.id)).verdict).toMatchObject({
      outcome: 'not_enough_data',
      basis: null,
      confidence: null,
      recommended_lane_id: null,
    })
  })

  test('the verdict of a blind run is hidden until the key has voted on the run', async () => {
    const run = await make(['red', 'blue'], {
      blind: true,
      prompts: prompts(8).map((prompt) => ({ prompt, expected: 'r' })),
    })
    expect(run.verdict).toBeNull()
    const { body: revealed } = await vote(run.id, run.lanes[0].id)
    expect(revealed.status).toBe('completed')
    const { body: read } = await gateway.request('GET', `${RUNS}/${run.id}`)
    expect(read.verdict.outcome).toBe('better')
  })

  test('a verdict of another account’s run is not found', async () => {
    const { id } = await make(['red', 'blue'])
    for (const [runId, key] of [
      [id, stranger],
      [NOBODY, gateway.key],
      ['none', gateway.key],
    ] as const)
      expect((await gateway.request('GET', `${RUNS}/${runId}/verdict`, { key })).status).toBe(404)
  })
})

describe('the leaderboard', () => {
  test('ranks models over all runs, and by run, time, dataset and voter', async () => {
    const { body: dataset } = await gateway.request('POST', '/v1/compare/datasets', {
      body: { name: 'eight', prompts: prompts(8) },
    })
    const before = await leaderboard()
    const first = await makeRun(gateway, {
      lanes: [{ model: 'red' }, { model: 'red', temperature: 1, name: 'warm' }, { model: 'blue' }],
      dataset_id: dataset.id,
    })
    // The database's time, because the clock of this machine may be ahead of it.
    const since = first.created_at
    for (let index = 0; index < 8; index += 1)
      await vote(first.id, first.lanes[index % 2].id, { prompt_index: index })
    // Both lanes with the red model count as red, and are not compared with each other.
    const ofRun = await leaderboard(`?run_id=${first.id}`)
    expect(ofRun).toMatchObject({
      object: 'compare.leaderboard',
      data: [
        {
          model: 'red',
          rank: 1,
          wins: 8,
          losses: 0,
          ties: 0,
          win_rate: 1,
          votes: { won: 8, lost: 0, tied: 0, both_bad: 0 },
        },
        { model: 'blue', rank: 2, wins: 0, losses: 8 },
      ],
      verdict: { outcome: 'better', text: 'red is better' },
      votes: { total: 8, human: 8 },
      ballots: 8,
    })
    expect(await leaderboard(`?dataset_id=${dataset.id}`)).toEqual(ofRun)
    expect((await leaderboard()).votes.total).toBe(before.votes.total + 8)
    expect((await leaderboard(`?since=${since}`)).votes.total).toBe(8)
    expect(await leaderboard('?source=judge')).toMatchObject({
      data: [],
      votes: { total: 0 },
      verdict: { outcome: 'not_enough_votes' },
    })
    expect((await leaderboard('', stranger)).data).toEqual([])
  })

  test.each([
    ['?since=yesterday', 400],
    ['?run_id=none', 400],
    ['?source=dog', 400],
    [`?run_id=${NOBODY}`, 404],
  ])('%s is refused with %d', async (query, status) => {
    expect((await gateway.request('GET', `${LEADERBOARD}${query}`)).status).toBe(status)
  })
})
