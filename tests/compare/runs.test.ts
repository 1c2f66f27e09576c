import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { failure } from '../upstreams/openai-server.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

const NOBODY = '01890000-0000-7000-8000-000000000000'
/** The cost of 11 input and 7 output tokens, which the local server always reports. */
const CELL_USD = 0.000081

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'broken'])
  stranger = await createStranger(gateway)
})
afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(
    speakers({
      red: ({ messages }) => `red heard ${messages.at(-1).content}`,
      blue: ({ messages }) => `blue heard ${messages.at(-1).content}`,
      broken: failure(400),
    }),
  )
})

const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const make = (body: object) => makeRun(gateway, body)

describe('a run', () => {
  test('asks every lane every prompt, and costs the same as the chat calls', async () => {
    const before = await balance()
    const { status, body: made } = await gateway.request('POST', RUNS, {
      body: {
        name: 'Colours',
        prompts: ['one', 'two', 'three'],
        lanes: [{ model: 'red' }, { model: 'blue', name: 'sea' }],
      },
    })
    expect(status).toBe(201)
    expect(made).toMatchObject({
      object: 'compare.run',
      name: 'Colours',
      models: ['red', 'blue'],
      lanes: [
        { model: 'red', name: 'red', winner: false, wins: 0 },
        { model: 'blue', name: 'sea' },
      ],
      prompts_total: 3,
      cells_total: 6,
      repeats: 1,
      winner_lane_id: null,
      error: null,
    })
    expect(made.estimated_cost_usd).toBeGreaterThan(0)
    expect(made.estimated_duration_seconds).toBeGreaterThan(0)

    const run = await waitForRun(gateway, made.id)
    expect(run).toMatchObject({ status: 'completed', cells_done: 6, cells_failed: 0, progress: 100 })
    expect(run.cost_usd).toBeCloseTo(6 * CELL_USD, 9)
    expect(await balance()).toBeCloseTo(before - 6 * CELL_USD, 9)
    const [red] = run.lanes
    expect(run.results[red.id]).toMatchObject(red.stats)
    expect(run.results[red.id].answers.data).toHaveLength(3)
    expect(red.stats).toMatchObject({
      completed: 3,
      failed: 0,
      prompt_tokens: 33,
      completion_tokens: 21,
      total_tokens: 54,
      latency_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      ttft_ms: { p50: expect.any(Number) },
      output_tokens_per_second: expect.any(Number),
      confidence: { cost_usd: { mean: CELL_USD, low: CELL_USD, high: CELL_USD }, score: null },
    })
    const { low, mean, high } = red.stats.confidence.latency_ms
    expect(low <= mean && mean <= high).toBe(true)
    const cells = await readCells(gateway, run.id)
    expect(cells.map(({ prompt_index: prompt, output }) => [prompt, output])).toEqual([
      [0, 'red heard one'],
      [0, 'blue heard one'],
      [1, 'red heard two'],
      [1, 'blue heard two'],
      [2, 'red heard three'],
      [2, 'blue heard three'],
    ])
    expect(cells[0]).toMatchObject({
      status: 'completed',
      repeat: 0,
      lane_id: red.id,
      model: 'red',
      provider: 'openai',
      finish_reason: 'stop',
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      cost_usd: CELL_USD,
      error: null,
      judge: null,
    })
    const { body: records } = await gateway.request('GET', '/v1/usage/records?limit=100')
    const ids = new Set(records.data.map((record: { request_id: string }) => record.request_id))
    expect(cells.every(({ request_id: id }) => ids.has(id))).toBe(true)
  })

  test('sends each lane its own parameters, and its system prompt instead of the prompt’s', async () => {
    await make({
      prompts: [
        {
          messages: [
            { role: 'system', content: 'Be kind.' },
            { role: 'user', content: 'Hi' },
          ],
        },
      ],
      lanes: [
        { model: 'red', system: 'Be brief.', temperature: 0.3, max_tokens: 5, top_k: 7, seed: 40 },
        { model: 'blue', response_format: { type: 'json_object' }, n: 4, stream: false },
      ],
      repeats: 2,
      concurrency: 1,
    })
    const bodies = gateway.upstream.bodies()
    const red = bodies.filter(({ model }) => model === 'red')
    expect(new Set(red.map(({ seed }) => seed))).toEqual(new Set([40, 41]))
    expect(red[0]).toMatchObject({
      temperature: 0.3,
      max_completion_tokens: 5,
      top_k: 7,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    const blue = bodies.find(({ model }) => model === 'blue')
    expect(blue).toMatchObject({ stream: true, response_format: { type: 'json_object' } })
    expect(blue.messages[0]).toEqual({ role: 'system', content: 'Be kind.' })
    expect(blue.n).toBeUndefined()
  })

  test('shuffles the lanes for each prompt by its seed, and reports their order', async () => {
    const body = {
      prompts: Array.from({ length: 12 }, (_, index) => `p${index}`),
      models: ['red', 'blue'],
      seed: 7,
      concurrency: 1,
    }
    const orders: string[][] = []
    for (let round = 0; round < 2; round += 1) {
      gateway.upstream.requests.length = 0
      const run = await make(body)
      const asked = gateway.upstream.bodies().map(({ model, messages }) => `${messages[0].content} ${model}`)
      const cells = await readCells(gateway, run.id)
      const told = cells
        .toSorted((a, b) => a.prompt_index - b.prompt_index || a.turn - b.turn)
        .map(({ prompt_index: index, model }) => `p${index} ${model}`)
      expect(asked).toEqual(told)
      orders.push(asked)
    }
    expect(orders[0]).toEqual(orders[1])
    const firsts = new Set(
      orders[0]?.filter((_, index) => index % 2 === 0).map((entry) => entry.split(' ')[1]),
    )
    expect(firsts).toEqual(new Set(['red', 'blue']))
  })

  test('scores expected answers', async () => {
    const run = await make({
      prompts: [
        { id: 'a', prompt: '4', expected: 'red heard 4' },
        { prompt: '5', expected: { type: 'contains', value: 'RED HEARD' } },
        { prompt: '6', expected: { type: 'regex', value: '^red .* \\d$' } },
        { prompt: '7', expected: { type: 'regex', value: '^(\\w+\\s?)*!$' } },
        { prompt: '8', expected: { answer: 8 } },
      ],
      models: ['red', 'blue'],
    })
    const scores = (await readCells(gateway, run.id)).map(({ model, score }) => `${model} ${score}`)
    expect(scores).toEqual([
      'red 1',
      'blue 0',
      'red 1',
      'blue 0',
      'red 1',
      'blue 0',
      'red 0',
      'blue 0',
      'red 0',
      'blue 0',
    ])
    expect(run.lanes[0].stats).toMatchObject({ score: 0.6, scored: 5 })
  })

  test('fails the cells that a provider fails, and completes with the others', async () => {
    const before = await balance()
    const run = await make({ prompts: ['one'], models: ['red', 'broken'] })
    expect(run).toMatchObject({ status: 'completed', cells_done: 1, cells_failed: 1, progress: 100 })
    const [, broken] = await readCells(gateway, run.id)
    expect(broken).toMatchObject({
      status: 'failed',
      output: null,
      cost_usd: 0,
      error: { code: 'invalid_request' },
    })
    expect(await balance()).toBeCloseTo(before - CELL_USD, 9)
  })

  test('may be created from one prompt and models alone', async () => {
    const run = await make({ models: ['red', 'blue', 'red'], prompt: 'Hello' })
    expect(run.lanes.map(({ name }: { name: string }) => name)).toEqual(['red', 'blue', 'red #2'])
    expect(run).toMatchObject({
      name: 'red, blue, red',
      prompts_total: 1,
      cells_total: 3,
      status: 'completed',
    })
  })

  test('may be created from a conversation, with its turns and lanes', async () => {
    const { body: talk } = await gateway.request('POST', '/v1/compare/conversations', {
      body: { models: ['red', 'blue'] },
    })
    await gateway.request('POST', `/v1/compare/conversations/${talk.id}/turns`, { body: { content: 'Once' } })
    const run = await make({ conversation_id: talk.id })
    expect(run).toMatchObject({ conversation_id: talk.id, models: ['red', 'blue'], prompts_total: 1 })
    expect((await readCells(gateway, run.id))[0].output).toBe('red heard Once')
  })
})

describe('runs', () => {
  test('are listed newest first, by page and status', async () => {
    const first = await make({ prompts: ['one'], models: ['red', 'blue'] })
    const second = await make({ prompts: ['two'], models: ['red', 'blue'] })
    const { body: page } = await gateway.request('GET', `${RUNS}?limit=1&status=completed`)
    expect(page).toMatchObject({ object: 'list', has_more: true, next_cursor: second.id })
    expect(page.runs).toEqual(page.data)
    const { body: next } = await gateway.request('GET', `${RUNS}?limit=1&after=${page.next_cursor}`)
    expect(next.data[0].id).toBe(first.id)
    expect((await gateway.request('GET', `${RUNS}?status=asleep`)).status).toBe(400)
  })

  test('runs of another account are not found, by any route', async () => {
    const run = await make({ prompts: ['one'], models: ['red', 'blue'] })
    const routes = [
      ['GET', ''],
      ['GET', '/results'],
      ['GET', '/export'],
      ['POST', '/cancel'],
      ['POST', '/resume'],
      ['POST', '/save'],
    ] as const
    for (const [method, path] of routes) {
      for (const [key, id] of [
        [stranger, run.id],
        [gateway.key, NOBODY],
        [gateway.key, 'not-an-id'],
      ]) {
        const { status, body } = await gateway.request(method, `${RUNS}/${id}${path}`, { key: key ?? '' })
        expect([path, status, body.error.code]).toEqual([path, 404, 'not_found'])
      }
    }
    expect((await gateway.request('GET', RUNS, { key: stranger })).body.total).toBe(0)
  })
})
