import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOtlpSpans, type ReceivedSpan } from '../../src/telemetry/read-otlp-spans.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'
import { until } from './call.ts'

const CLIENT = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
const received: ReceivedSpan[] = []
let exported = ''
let collector: Server
let gateway: ChatGateway

const route = (provider: string, priority: number) => ({ provider, model: `${provider}-name`, priority })
const MODELS = [
  modelEntry('ordered', [route('together', 0), route('vllm', 1)]),
  modelEntry('own', [route('vllm', 0)]),
]

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      exported += body.toString('latin1')
      received.push(...readOtlpSpans(body))
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  gateway = await startChatGateway({
    models: MODELS,
    providers: ['vllm', 'together'],
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=quiet-harbour,service.name=ignored',
    },
  })
})

afterAll(async () => {
  await gateway.close()
  collector.close()
})

async function send(members: object, headers: Record<string, string> = CLIENT) {
  const before = gateway.upstream.requests.length
  const response = await gateway.fetch('POST', CHAT, { body: chatBody(members), headers })
  await response.text()
  const id = response.headers.get('x-request-id') ?? ''
  const span = await until(() => received.find(({ attributes }) => attributes['parkway.request.id'] === id))
  const attempts = await until(() => {
    const found = received.filter(({ parentSpanId }) => parentSpanId === span.spanId)
    return found.length === Number(span.attributes['parkway.upstream.attempts']) ? found : null
  })
  const told = gateway.upstream.requests.slice(before).map(({ headers }) => headers['traceparent'])
  return { status: response.status, span, attempts, told }
}

test('each call of an upstream is a span with its address and its failure, below the one of the request', async () => {
  gateway.upstream.respondWith(failure(429), completion())
  const { span, attempts } = await send({ model: 'ordered' })
  const [failed, answered] = attempts
  expect(span).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', statusCode: 0 })
  expect(span.attributes).toMatchObject({ 'parkway.upstream.attempts': 2 })
  expect(span.attributes['gen_ai.response.finish_reasons']).toBeDefined()
  const { hostname, port } = new URL(gateway.upstream.baseUrl)
  expect(failed).toMatchObject({ name: 'chat together-name', statusCode: 2, traceId: span.traceId })
  expect(failed?.attributes).toMatchObject({
    'gen_ai.request.model': 'together-name',
    'server.address': hostname,
    'server.port': Number(port),
    'http.response.status_code': 429,
    'error.type': '429',
  })
  expect(answered).toMatchObject({ name: 'chat vllm-name', statusCode: 0 })
  expect(answered?.attributes).toMatchObject({ 'http.request.resend_count': 1 })
})

test('a server of our own is told the span of the call in the trace of the client, and a vendor is told nothing', async () => {
  gateway.upstream.respondWith(failure(429), stream(chunksOf('Hello')))
  const { attempts, told } = await send({ model: 'ordered', stream: true })
  expect(told).toEqual([undefined, `00-0af7651916cd43dd8448eb211c80319c-${attempts[1]?.spanId}-01`])
})

test('without a trace of the client a server of our own is told the one that begins here', async () => {
  gateway.upstream.respondWith(completion())
  const { span, attempts, told } = await send({ model: 'own' }, {})
  expect(span.parentSpanId).toBe('')
  expect(told).toEqual([`00-${span.traceId}-${attempts[0]?.spanId}-01`])
})

test('a request that fails has the code of its error as the type', async () => {
  gateway.upstream.respondWith(failure(400))
  const { status, span } = await send({ model: 'own' })
  expect(status).toBe(400)
  expect(span.attributes['error.type']).toBe('invalid_request')
})

test('spans carry the attributes that the operator gave the process, and its own name', async () => {
  gateway.upstream.respondWith(completion())
  await send({ model: 'own' })
  expect(exported).toContain('quiet-harbour')
  expect(exported).not.toContain('ignored')
})
