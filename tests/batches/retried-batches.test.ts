import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { json } from '../upstreams/openai-server.ts'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const MODEL = 'gpt-4o-mini'

let hook: ScriptedServer
let gateway: TestGateway

beforeAll(async () => {
  hook = await startScriptedServer(json({}))
  const { host } = new URL(hook.baseUrl)
  gateway = await startTestGateway({
    settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '100', PARKWAY_OUTBOUND_ALLOW: host },
  })
})
afterAll(async () => {
  await gateway.close()
  await hook.close()
})

const chatLine = (custom_id: string, content = `[[sandbox:echo ${custom_id}]]`) => ({
  custom_id,
  body: { model: MODEL, messages: [{ role: 'user', content }] },
})
const retry = (id: string, key = gateway.key) => gateway.request('POST', `/v1/batches/${id}/retry`, { key })
const WRONG = '[[sandbox:error status=400 code=invalid_value]]'

test('only the lines without an answer are asked again, with the choices of the batch', async () => {
  const lines = [chatLine('fine'), chatLine('broken', WRONG), chatLine('good'), chatLine('bad', WRONG)]
  const text = toLines(lines, CHAT).replaceAll('\n', '\n\n')
  const metadata = { night: 'first' }
  const { body: made } = await createBatch(gateway, text, { members: { metadata } })
  expect((await waitForBatch(gateway, made.id)).request_counts).toEqual({ total: 4, completed: 2, failed: 2 })
  const { status, body: again } = await retry(made.id)
  expect([status, again.metadata, again.endpoint]).toEqual([200, metadata, CHAT])
  const batch = await waitForBatch(gateway, again.id)
  expect([batch.status, batch.request_counts]).toEqual(['completed', { total: 2, completed: 0, failed: 2 }])
  const errors = await readResults(gateway, batch.error_file_id)
  expect([...errors.keys()].toSorted()).toEqual(['bad', 'broken'])
})

test('a batch with nothing to ask again, that runs or of another account is not asked again', async () => {
  const { body: whole } = await createBatch(gateway, toLines([chatLine('one')], CHAT))
  const slow = chatLine('slow', '[[sandbox:latency ms=20000]]')
  const { body: running } = await createBatch(gateway, toLines([slow], CHAT))
  const { body: wrong } = await createBatch(gateway, '{}\n')
  for (const { id } of [whole, wrong]) await waitForBatch(gateway, id)
  for (const { id } of [whole, running, wrong]) {
    const { status, body } = await retry(id)
    expect([status, body.error.code]).toEqual([409, 'conflict'])
  }
  const { key: stranger } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
  expect((await retry(whole.id, stranger)).status).toBe(404)
  await gateway.request('POST', `/v1/batches/${running.id}/cancel`)
})

test('lines that were cancelled are asked again, unless the input file is gone', async () => {
  const lines = [chatLine('slow', '[[sandbox:latency ms=1500]]')]
  for (let line = 0; line < 60; line += 1) lines.push(chatLine(`l${line}`, '[[sandbox:latency ms=1500]]'))
  const { body: made } = await createBatch(gateway, toLines(lines, CHAT))
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${made.id}`)
    expect(body.status).toBe('in_progress')
  })
  await gateway.request('POST', `/v1/batches/${made.id}/cancel`)
  const cancelled = await waitForBatch(gateway, made.id)
  const { body: again } = await retry(made.id)
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${again.id}`)
    expect(body.request_counts.total).toBe(61 - cancelled.request_counts.completed)
  })
  await gateway.request('POST', `/v1/batches/${again.id}/cancel`)
  await waitForBatch(gateway, again.id)
  await gateway.request('DELETE', `/v1/files/${made.input_file_id}`)
  const gone = await retry(made.id)
  expect([gone.status, gone.body.error.message]).toEqual([404, expect.stringContaining('input file')])
})

test('the end of a batch is told in the form of OpenAI, signed', async () => {
  const { key } = await createAccountKey(gateway, { name: 'told', credit_usd: 1 })
  const members = { webhook_url: `${hook.baseUrl}/batches` }
  const made = await createBatch(gateway, toLines([chatLine('one')], CHAT), { key, members })
  const wrong = await createBatch(gateway, '{}\n', { key, members })
  const { body: secret } = await gateway.request('GET', '/v1/tenants/me/webhook-secret', { key })
  const told = await eventually(() => {
    expect(hook.requests).toHaveLength(2)
    return hook.requests
  })
  const client = new OpenAI({ apiKey: 'unused', webhookSecret: secret.secret })
  const events = await Promise.all(
    told.map(({ text, headers }) =>
      client.webhooks.unwrap(text, new Headers(Object.entries(headers).map(([k, v]) => [k, String(v)]))),
    ),
  )
  expect(
    events
      .map(({ object, type, data }) => [object, type, Object(data).id])
      .toSorted((a, b) => (String(a[1]) < String(b[1]) ? -1 : 1)),
  ).toEqual([
    ['event', 'batch.completed', made.body.id],
    ['event', 'batch.failed', wrong.body.id],
  ])
  expect(events[0]?.id).toMatch(/^evt_[0-9a-f]{32}$/)
})

test('a webhook leads to a public address', async () => {
  const members = { webhook_url: 'http://10.0.0.1/hook' }
  const { status, body } = await createBatch(gateway, toLines([chatLine('one')], CHAT), { members })
  expect([status, body.error.param]).toEqual([400, 'webhook_url'])
})

test('a batch that runs tells its speed, the time that is left and what it will cost', async () => {
  const { key } = await createAccountKey(gateway, { name: 'watcher', credit_usd: 1 })
  const lines = Array.from({ length: 20 }, (_, index) => chatLine(`fast${index}`))
  const slow = Array.from({ length: 20 }, (_, index) => chatLine(`s${index}`, '[[sandbox:latency ms=3000]]'))
  const { body: made } = await createBatch(gateway, toLines([...lines, ...slow], CHAT), { key })
  expect([made.lines_per_second, made.seconds_left]).toEqual([null, null])
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${made.id}`, { key })
    expect(body.request_counts.completed).toBe(20)
    expect(body.lines_per_second).toBeGreaterThan(0)
    expect(body.seconds_left).toBeGreaterThan(0)
    expect(body.expected_cost_usd).toBeCloseTo(body.cost_usd * 2, 8)
  })
  await gateway.request('POST', `/v1/batches/${made.id}/cancel`, { key })
  const batch = await waitForBatch(gateway, made.id, key)
  expect([batch.seconds_left, batch.expected_cost_usd]).toEqual([null, batch.cost_usd])
})
