import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOtlpSpans, type ReceivedSpan } from '../../src/telemetry/read-otlp-spans.ts'
import { makeRun } from '../compare/wait-for-run.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { until } from './call.ts'

const received: ReceivedSpan[] = []
let collector: Server
let endpoint: string
let gateway: TestGateway

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push(...readOtlpSpans(Buffer.concat(chunks)))
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo
  endpoint = `http://127.0.0.1:${port}`
  gateway = await startTestGateway({
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, PARKWAY_SANDBOX_JOB_MS: '1' },
  })
})

afterAll(async () => {
  await gateway.close()
  collector.close()
})

const spansOf = (requestId: string): ReceivedSpan[] =>
  received.filter(({ attributes }) => attributes['parkway.request.id'] === requestId)

/** Waits until the collector has the span of a request, and returns it. */
function spanOf(requestId: string): Promise<ReceivedSpan> {
  return until(async () => spansOf(requestId)[0] ?? null)
}

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

test.each([
  ['chat', 'chat', '/v1/chat/completions', { ...CHAT, n: 2, seed: 7 }],
  ['completion', 'text_completion', '/v1/completions', { model: 'gpt-4o-mini', prompt: 'Hi' }],
  ['embedding', 'embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
  ['rerank', 'rerank', '/v1/rerank', { query: 'a', documents: ['a', 'b'] }],
  ['moderation', 'moderation', '/v1/moderations', { input: 'Hi' }],
  ['tts', 'generate_content', '/v1/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'alloy' }],
])('%s has a span', async (work, operation, path, body) => {
  const response = await gateway.fetch('POST', path, { body })
  await response.arrayBuffer()
  expect(response.status).toBe(200)
  const { attributes, name } = await spanOf(response.headers.get('x-request-id') ?? '')
  expect(name.startsWith(`${operation} `)).toBe(true)
  expect(attributes).toMatchObject({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': 'sandbox',
    'gen_ai.response.model': expect.any(String),
    'http.response.status_code': 200,
    'parkway.operation': work,
    'parkway.account.id': expect.any(String),
    'parkway.upstream.attempts': 1,
  })
  if (work === 'chat')
    expect(attributes).toMatchObject({ 'gen_ai.request.choice.count': 2, 'gen_ai.request.seed': 7 })
})

test('a span joins the trace of its client on every route', async () => {
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  const body = { model: 'tts-1', input: 'Hi', voice: 'alloy' }
  const response = await gateway.fetch('POST', '/v1/audio/speech', { body, headers })
  await response.arrayBuffer()
  expect(await spanOf(response.headers.get('x-request-id') ?? '')).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
  })
})

test("only the configured share of the gateway's own traces is kept, and a client’s sampling is followed", async () => {
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '0' }
  const sparing = await startTestGateway({ settings })
  try {
    const send = async (headers: Record<string, string>) => {
      const response = await sparing.fetch('POST', '/v1/chat/completions', { body: CHAT, headers })
      await response.arrayBuffer()
      return response.headers.get('x-request-id') ?? ''
    }
    const own = await send({})
    const joined = await send({ traceparent: '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
    await spanOf(joined)
    expect(spansOf(own)).toEqual([])
  } finally {
    await sparing.close()
  }
})

test('an image has a span in the trace of its client, directly or as a task, and creating the task has none', async () => {
  const body = { model: 'dall-e-3', prompt: 'A cube', size: '1024x1024' }
  const made = await gateway.fetch('POST', '/v1/images/generations', {
    body,
    headers: {
      prefer: 'respond-async',
      traceparent: '00-2af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  })
  expect(made.status).toBe(202)
  await made.arrayBuffer()
  const id = made.headers.get('x-request-id') ?? ''
  const span = await spanOf(id)
  expect(span.attributes).toMatchObject({
    'parkway.operation': 'image',
    'gen_ai.provider.name': 'sandbox',
    'http.response.status_code': 200,
  })
  expect(span).toMatchObject({
    traceId: '2af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
  })
  expect(spansOf(id)).toHaveLength(1)
})

test('a background response has one span, with its usage', async () => {
  const body = { model: 'gpt-5.4-mini', input: 'Hi', background: true, max_output_tokens: 512 }
  const made = await gateway.request('POST', '/v1/responses', { body })
  expect(made.status).toBe(200)
  const id = made.headers.get('x-request-id') ?? ''
  expect((await spanOf(id)).attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'sandbox',
    'gen_ai.request.max_tokens': 512,
    'gen_ai.usage.input_tokens': expect.any(Number),
    'parkway.operation': 'responses',
    'parkway.upstream.attempts': 1,
  })
  expect(spansOf(id)).toHaveLength(1)
})

test('every cell of a run and every question of its judge has a span', async () => {
  const run = await makeRun(gateway, {
    prompts: ['One?', 'Two?'],
    models: ['gpt-4o-mini', 'gpt-4o'],
    judge: { model: 'gpt-4o-mini' },
  })
  const { body } = await gateway.request('GET', `/v1/compare/runs/${run.id}/results`)
  expect(body.data).toHaveLength(4)
  for (const cell of body.data) {
    const { attributes } = await spanOf(cell.request_id)
    expect(attributes).toMatchObject({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.stream': true })
  }
  const known = new Set<unknown>(body.data.map((cell: { request_id: string }) => cell.request_id))
  // The judge compares each of two prompts in both orders.
  await until(async () => {
    const asked = received.filter(({ attributes }) => isQuestion(attributes, known))
    return asked.length >= 4 ? asked : null
  })
})

function isQuestion(attributes: Record<string, unknown>, known: ReadonlySet<unknown>): boolean {
  return (
    attributes['gen_ai.request.max_tokens'] === 4096 && !known.has(String(attributes['parkway.request.id']))
  )
}

test('every lane of a turn has a span', async () => {
  const { body: conversation } = await gateway.request('POST', '/v1/compare/conversations', {
    body: { models: ['gpt-4o-mini', 'gpt-4o'] },
  })
  const { body: turn } = await gateway.request('POST', `/v1/compare/conversations/${conversation.id}/turns`, {
    body: { content: 'Hi' },
  })
  expect(turn.replies).toHaveLength(2)
  for (const reply of turn.replies) {
    const { attributes } = await spanOf(reply.request_id)
    expect(attributes['gen_ai.provider.name']).toBe('sandbox')
  }
})

test('a refused inference has a span with its error', async () => {
  const { headers, status } = await gateway.request('POST', '/v1/audio/speech', {
    body: { model: 'tts-1', input: '[[sandbox:error status=400]]', voice: 'alloy' },
  })
  expect(status).toBe(400)
  const span = await spanOf(headers.get('x-request-id') ?? '')
  expect(span.statusCode).toBe(2)
  expect(span.attributes['error.type']).toBe('invalid_request')
})

test('an inference that was refused before an upstream was called has a span too', async () => {
  const { headers, status } = await gateway.request('POST', '/v1/chat/completions', {
    body: { ...CHAT, model: 'no-such-model' },
  })
  expect(status).toBe(404)
  const span = await spanOf(headers.get('x-request-id') ?? '')
  expect(span.attributes['error.type']).toBe('model_not_found')
})
