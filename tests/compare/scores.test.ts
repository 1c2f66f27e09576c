import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, json, stream, type RecordedRequest } from '../upstreams/openai-server.ts'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'
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
  ['a webhook without https', [{ type: 'webhook', url: 'http://example.com/' }], 'scores.0.url'],
  ['a webhook in a private network', [{ type: 'webhook', url: 'https://10.1.2.3/' }], 'scores.0.url'],
])('a run with %s is refused', async (_, scores, param) => {
  const answer = await gateway.request('POST', RUNS, { body: { prompts, models: ['red', 'blue'], scores } })
  expect([answer.status, answer.body.error.param]).toEqual([400, param])
})
