import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeRun, readCells, RUNS } from '../compare/wait-for-run.ts'
import { eventually } from '../support/eventually.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createOther, deploy, startGpuGateway, waitForStatus } from './deploy.ts'

const CONVERSATIONS = '/v1/compare/conversations'

let gateway: TestGateway
let other: string
let id: string
let model: string

beforeAll(async () => {
  gateway = await startGpuGateway()
  other = await createOther(gateway)
  id = await deploy(gateway)
  model = `byom-${id}`
  await waitForStatus(gateway, id, 'running')
})
afterAll(() => gateway.close())

const messages = [{ role: 'user', content: 'Hello!' }]

/** All requests that contain the id of a model. */
const calls = (named: string): [path: string, body: object][] => [
  ['/v1/chat/completions', { model: named, messages }],
  ['/v1/chat/completions', { model: named, messages, stream: true }],
  ['/v1/completions', { model: named, prompt: 'Hello' }],
  ['/v1/messages', { model: named, messages, max_tokens: 16 }],
  ['/v1/responses', { model: named, input: 'Hello!' }],
  ['/v1/responses', { model: named, input: 'Hello!', background: true }],
  ['/v1/embeddings', { model: named, input: 'Hello!' }],
  ['/v1/rerank', { model: named, query: 'a', documents: ['a', 'b'] }],
  ['/v1/moderations', { model: named, input: 'Hello!' }],
  ['/v1/images/generations', { model: named, prompt: 'a' }],
  ['/v1/videos/generations', { model: named, prompt: 'a' }],
  ['/v1/audio/speech', { model: named, input: 'a', voice: 'alloy' }],
  ['/v1/audio/music', { model: named, prompt: 'a' }],
  [RUNS, { prompt: 'one', models: ['gpt-4o-mini', named] }],
  [RUNS, { prompt: 'one', models: ['gpt-4o-mini', 'gpt-4o'], judge: { model: named } }],
  [CONVERSATIONS, { models: ['gpt-4o-mini', named] }],
]

/** Returns the answer without the name of the model. */
const describeAnswer = (body: unknown, named: string) =>
  JSON.stringify(body)
    .replaceAll(named, 'MODEL')
    .replace(/"request_id":"[^"]*"/, '')

describe('a deployment of another account', () => {
  test('cannot be called on any route, and gets the same answer as an unknown model', async () => {
    const nobodys = 'byom-01890000-0000-7000-8000-000000000000'
    const unknown = calls(nobodys)
    for (const [index, [path, body]] of calls(model).entries()) {
      const theirs = await gateway.request('POST', path, { body, key: other })
      expect([path, theirs.status]).toEqual([path, 404])
      const none = await gateway.request('POST', path, { body: unknown[index]?.[1], key: other })
      expect([path, describeAnswer(theirs.body, model)]).toEqual([path, describeAnswer(none.body, nobodys)])
    }
  })

  test('cannot be read, listed, or called by a variant of its model id', async () => {
    for (const path of [`/v1/models/${model}`, `/v1/deployments/${id}`, `/v1/deployments/${id}/metrics`])
      expect([path, (await gateway.request('GET', path, { key: other })).status]).toEqual([path, 404])
    for (const path of ['/v1/models', '/v1/deployments', '/v1/queue/status', '/v1/usage/records'])
      expect(JSON.stringify((await gateway.request('GET', path, { key: other })).body)).not.toContain(id)
    for (const named of [model.toUpperCase(), `${model} `, `openai/${model}`, id]) {
      const body = { model: named, messages }
      expect((await gateway.request('POST', '/v1/chat/completions', { body, key: other })).status).toBe(404)
    }
  })

  test('answers its own account in comparisons, conversations and background responses', async () => {
    const run = await makeRun(gateway, { prompts: ['one', 'two'], models: ['gpt-4o-mini', model] })
    expect(run).toMatchObject({ status: 'completed', cells_done: 4, models: ['gpt-4o-mini', model] })
    const cells = await readCells(gateway, run.id, `&lane_id=${run.lanes[1].id}`)
    expect(cells.map(({ provider, cost_usd: cost }) => [provider, cost])).toEqual([
      ['sandbox', 0],
      ['sandbox', 0],
    ])
    const { body: conversation } = await gateway.request('POST', CONVERSATIONS, {
      body: { models: ['gpt-4o-mini', model] },
    })
    const turn = await gateway.request('POST', `${CONVERSATIONS}/${conversation.id}/turns`, {
      body: { content: 'Hi' },
    })
    expect([turn.status, turn.body.replies[1].model, turn.body.replies[1].cost_usd]).toEqual([200, model, 0])
    expect(turn.body.replies[1].output.length).toBeGreaterThan(0)
    const { body: background } = await gateway.request('POST', '/v1/responses', {
      body: { model, input: 'Hello!', background: true },
    })
    await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/responses/${background.id}`)
      expect(body.status).toBe('completed')
    })
    const { body: metrics } = await gateway.request('GET', `/v1/deployments/${id}/metrics?window=5m`)
    expect(metrics.requests).toBe(4)
  })
})
