import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, json, stream, type RecordedRequest } from '../upstreams/openai-server.ts'
import { startScriptedServer, type Reply, type ScriptedServer } from '../upstreams/scripted-server.ts'
import { readTable } from './read-csv.ts'
import { startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS } from './wait-for-run.ts'

let gateway: ChatGateway
let scorer: ScriptedServer

beforeAll(async () => {
  scorer = await startScriptedServer(json({ score: 0.25, reason: 'Too short.' }))
  gateway = await startCompareGateway(['red', 'blue'], {
    PARKWAY_OUTBOUND_ALLOW: new URL(scorer.baseUrl).host,
  })
})
afterAll(async () => {
  await gateway.close()
  await scorer.close()
})

beforeEach(() => {
  scorer.requests.length = 0
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(({ body }: RecordedRequest) =>
    stream(chunksOf(Object(body).model === 'red' ? 'Paris' : '{"city": "paris, France"}')),
  )
})

type Scores = Record<string, { mean: number; scored: number }>

const prompts = [{ prompt: 'Which city?', expected: { type: 'contains', value: 'Paris' } }]
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

test('each score is a column of the answers, of the lanes and of the export', async () => {
  const run = await makeRun(gateway, {
    prompts,
    models: ['red', 'blue'],
    scores: [
      { type: 'exact' },
      { type: 'contains', name: 'names it', value: 'PARIS' },
      { type: 'regex', value: '^[A-Z]', flags: '' },
      { type: 'json_schema', schema },
      { type: 'similarity' },
      { type: 'latency', max_ms: 60_000 },
      { type: 'cost', max_usd: 0.00001 },
    ],
  })
  expect(run.status).toBe('completed')
  const [red, blue] = run.lanes.map(({ id }: { id: string }) => run.results[id].scores as Scores) as [
    Scores,
    Scores,
  ]
  const meansOf = (scores: Scores) =>
    Object.fromEntries(Object.entries(scores).map(([name, { mean }]) => [name, mean]))
  expect(meansOf(red)).toEqual({
    exact: 1,
    'names it': 1,
    regex: 1,
    json_schema: 0,
    similarity: 1,
    latency: 1,
    cost: 0,
  })
  expect(meansOf(blue)).toMatchObject({ exact: 0, 'names it': 1, regex: 0, json_schema: 1 })
  expect(blue['similarity']?.mean).toBeGreaterThan(0)
  expect(blue['similarity']?.mean).toBeLessThan(0.5)
  const [cell] = await readCells(gateway, run.id)
  expect(cell.scores.exact).toEqual({ score: 1, reason: null })

  const csv = await gateway.request('GET', `${RUNS}/${run.id}/export?format=csv`)
  expect(readTable(csv.body)[0]?.['score names it']).toBe('1')
})

test('a pattern or a schema that backtracks without end is given up, and does not hold up the run', async () => {
  gateway.upstream.respondWith(() => stream(chunksOf(JSON.stringify(`${'a'.repeat(40)}!`))))
  const run = await makeRun(gateway, {
    prompts: ['one'],
    models: ['red', 'blue'],
    scores: [
      { type: 'regex', value: '(a+)+$' },
      { type: 'json_schema', schema: { type: 'string', pattern: '^(a+)+$' } },
    ],
  })
  expect(run.status).toBe('completed')
  const [cell] = await readCells(gateway, run.id)
  expect(cell.scores).toMatchObject({
    regex: { score: null, reason: 'It could not be decided in time.' },
    json_schema: { score: null },
  })
})

test('a webhook of the account scores answers, signed, and its failures are told', async () => {
  const scores = [{ type: 'webhook', url: `${scorer.baseUrl}/score` }]
  const run = await makeRun(gateway, { prompts, models: ['red', 'blue'], scores })
  const [cell] = await readCells(gateway, run.id)
  expect(cell.scores.webhook).toEqual({ score: 0.25, reason: 'Too short.' })
  expect(scorer.requests).toHaveLength(2)
  const [asked] = scorer.requests
  expect(asked?.headers['webhook-signature']).toMatch(/^v1,/)
  expect(asked?.body).toMatchObject({ type: 'compare.score', run_id: run.id, prompt_index: 0 })

  scorer.respondWith(json({ score: 7 }))
  const wrong = await makeRun(gateway, { prompts, models: ['red', 'blue'], scores })
  expect(wrong.status).toBe('completed')
  const [untold] = await readCells(gateway, wrong.id)
  expect(untold.scores.webhook).toMatchObject({
    score: null,
    reason: expect.stringContaining('from 0 to 1'),
  })
})

test('a score that is nearly nothing is stored, and a run with it ends', async () => {
  scorer.respondWith(json({ score: 1e-50 }))
  const scores = [{ type: 'webhook', url: `${scorer.baseUrl}/score` }]
  const run = await makeRun(gateway, { prompts: ['Which city?'], models: ['red', 'blue'], scores })
  expect(run.status).toBe('completed')
  expect(gateway.upstream.requests).toHaveLength(2)
  const [cell] = await readCells(gateway, run.id)
  expect(cell).toMatchObject({ score: 0, scores: { webhook: { score: 0, reason: null } } })
})

test('a webhook is asked again only where that may help', async () => {
  const scores = [{ type: 'webhook', url: `${scorer.baseUrl}/score` }]
  const ask = async (...replies: readonly Reply[]) => {
    scorer.requests.length = 0
    // One for each lane.
    scorer.respondWith(...replies.flatMap((reply) => [reply, reply]))
    const run = await makeRun(gateway, { prompts: ['Which city?'], models: ['red', 'blue'], scores })
    const [cell] = await readCells(gateway, run.id)
    return { asked: scorer.requests.length, ...cell.scores.webhook }
  }
  const good = json({ score: 0.5 })
  expect(await ask({ status: 503, chunks: ['later'] }, good)).toMatchObject({ asked: 4, score: 0.5 })
  expect(await ask({ status: 404, chunks: ['no'] }, good)).toEqual({
    asked: 2,
    score: null,
    reason: 'The webhook answered with the status 404.',
  })
  expect(await ask({ chunks: ['Well, I would say'] }, good)).toEqual({
    asked: 2,
    score: null,
    reason: 'The webhook did not answer with JSON.',
  })
})

test('an answer that is too long for a webhook is not sent', async () => {
  const scores = [{ type: 'webhook', url: `${scorer.baseUrl}/score` }]
  gateway.upstream.respondWith(() => stream(chunksOf('long '.repeat(250_000))))
  const run = await makeRun(gateway, { prompts: ['Which city?'], models: ['red', 'blue'], scores })
  const [cell] = await readCells(gateway, run.id)
  expect(cell.scores.webhook).toEqual({ score: null, reason: 'The answer is too long for a webhook.' })
  expect(scorer.requests).toHaveLength(0)
})

test('a cancelled run does not wait for its webhooks', async () => {
  scorer.respondWith({ chunks: [], ending: 'hang' })
  const scores = [{ type: 'webhook', url: `${scorer.baseUrl}/score` }]
  const body = { prompts: ['Which city?'], models: ['red', 'blue'], scores }
  const { body: run } = await gateway.request('POST', RUNS, { body })
  const asked = [await scorer.requestNumber(0), await scorer.requestNumber(1)]
  await gateway.request('POST', `${RUNS}/${run.id}/cancel`)
  await Promise.all(asked.map(({ abandoned }) => abandoned))
  await until(async () => (await readCells(gateway, run.id)).every(({ status }) => status === 'completed'))
  const [cell] = await readCells(gateway, run.id)
  expect(cell.scores.webhook.reason).toBe('The run was stopped before the webhook answered.')
  expect(scorer.requests).toHaveLength(2)
})

test('the scores of a blind run tell nothing of its lanes before the vote', async () => {
  scorer.respondWith(({ body }) => json({ score: Object(body).output === 'Paris' ? 1 : 0.5 }))
  const made = await makeRun(gateway, {
    prompts: ['Which city?'],
    models: ['red', 'blue'],
    blind: true,
    scores: [
      { type: 'exact', value: 'Paris' },
      { type: 'webhook', url: `${scorer.baseUrl}/score` },
    ],
  })
  const path = `${RUNS}/${made.id}`
  const readAll = async () => {
    const { body: list } = await gateway.request('GET', `${RUNS}?limit=100`)
    const { body: exported } = await gateway.request('GET', `${path}/export`)
    const { body: kept } = await gateway.request('POST', `${path}/save`)
    const { body: read } = await gateway.request('GET', path)
    const listed = list.data.find(({ id }: { id: string }) => id === made.id)
    return { runs: [read, listed, kept, exported.run], cells: exported.cells }
  }
  const hidden = await readAll()
  for (const run of hidden.runs) {
    for (const { id, stats } of run.lanes) {
      const told = { score: null, scores: {}, confidence: null, completion_tokens: 0, cost_usd: 0 }
      expect(stats).toMatchObject(told)
      expect(run.results[id]).toMatchObject(told)
    }
  }
  for (const cell of [...hidden.cells, ...(await readCells(gateway, made.id))])
    expect([cell.score, cell.scores]).toEqual([null, null])
  const csv = await gateway.request('GET', `${path}/export?format=csv`)
  for (const row of readTable(csv.body)) expect([row['score'], row['score exact']]).toEqual(['', ''])

  const [first] = made.lanes
  const vote = await gateway.request('POST', `${path}/lanes/${first.id}/winner`, { body: {} })
  expect(vote.body.lanes[0].stats).toMatchObject({ score: 1, scores: { exact: { mean: 1 } } })
  const shown = await readAll()
  for (const run of shown.runs)
    expect(run.lanes.map(({ stats }: typeof first) => stats.score)).toEqual([1, 0.25])
})

test('the scores of answers without an expectation decide which lane is better', async () => {
  const run = await makeRun(gateway, {
    prompts: Array.from({ length: 8 }, (_, index) => `Which city? ${index}`),
    models: ['red', 'blue'],
    scores: [
      { type: 'exact', value: 'Paris' },
      { type: 'cost', max_usd: 1 },
    ],
  })
  expect(run.verdict).toMatchObject({ outcome: 'better', basis: 'score', winner_lane_id: run.lanes[0].id })
})

test.each([
  ['two scores of one name', [{ type: 'exact' }, { type: 'exact' }], 'scores.1.name'],
  ['a broken pattern', [{ type: 'regex', value: '(' }], 'scores.0.value'],
  [
    'more than two webhooks',
    ['a', 'b', 'c'].map((name) => ({ type: 'webhook', name, url: 'https://example.com/' })),
    'scores.2',
  ],
  ['a webhook without https', [{ type: 'webhook', url: 'http://example.com/' }], 'scores.0.url'],
  ['a webhook in a private network', [{ type: 'webhook', url: 'https://10.1.2.3/' }], 'scores.0.url'],
])('a run with %s is refused', async (_, scores, param) => {
  const answer = await gateway.request('POST', RUNS, { body: { prompts, models: ['red', 'blue'], scores } })
  expect([answer.status, answer.body.error.param]).toEqual([400, param])
})
