import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execFileSync } from 'node:child_process'
import { afterEach, describe, expect, test } from 'vitest'
import { parseTraceparent } from './traceparent.ts'
import { createTracer, parseOtlpHeaders } from './tracing.ts'
import { readOtlpSpans, type ReceivedSpan } from './read-otlp-spans.ts'

describe('tracing', () => {
  const servers: Server[] = []
  afterEach(() => servers.splice(0).forEach((server) => server.close()))

  async function startReceiver() {
    const requests: { path: string | undefined; authorization: string | undefined; spans: ReceivedSpan[] }[] =
      []
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { url: path, headers } = request
        requests.push({
          path,
          authorization: headers.authorization,
          spans: readOtlpSpans(Buffer.concat(chunks)),
        })
        response.end()
      })
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
  }

  test('an inference is exported with the GenAI attributes and joins the client’s trace', async () => {
    const { endpoint, requests } = await startReceiver()
    const tracer = await createTracer({
      endpoint: `${endpoint}/`,
      headers: { authorization: 'Bearer collector' },
      serviceName: 'gateway-test',
    })
    const span = tracer?.startInference({
      operation: 'chat',
      model: 'claude-test',
      isStream: true,
      maxTokens: 50,
      requestId: 'req_1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    span?.setProvider({ provider: 'google' })
    span?.setResponse({ model: 'gemini-test' })
    span?.setFirstToken(250)
    span?.setUsage({ prompt: 11, completion: 7, cached: 3, reasoning: 2 })
    span?.finish({ status: 200, attempts: 2 })
    await tracer?.shutdown()

    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ path: '/v1/traces', authorization: 'Bearer collector' })
    const [exported] = requests[0]?.spans ?? []
    expect(exported).toMatchObject({
      name: 'chat claude-test',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      statusCode: 0,
    })
    expect(exported?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'google',
      'gen_ai.request.model': 'claude-test',
      'gen_ai.request.stream': true,
      'gen_ai.request.max_tokens': 50,
      'gen_ai.response.model': 'gemini-test',
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'gen_ai.usage.reasoning.output_tokens': 2,
      'http.response.status_code': 200,
      'parkway.request.id': 'req_1',
      'parkway.upstream.attempts': 2,
    })
  })

  test('a failure has its error type', async () => {
    const { endpoint, requests } = await startReceiver()
    const tracer = await createTracer({ endpoint })
    tracer
      ?.startInference({ operation: 'chat', model: 'm' })
      .finish({ status: 504, error: { type: 'timeout' } })
    await tracer?.shutdown()
    const [exported] = requests[0]?.spans ?? []
    expect(exported).toMatchObject({ statusCode: 2, parentSpanId: '' })
    expect(exported?.attributes['error.type']).toBe('timeout')
  })

  test('a call that the client does not sample is not exported', async () => {
    const { endpoint, requests } = await startReceiver()
    const tracer = await createTracer({ endpoint })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
    tracer?.startInference({ operation: 'chat', model: 'm', traceparent }).finish({ status: 200 })
    await tracer?.shutdown()
    expect(requests).toEqual([])
  })

  test('an unreachable collector neither throws nor delays the shutdown', async () => {
    const warnings: string[] = []
    const logger = {
      info: () => {},
      error: () => {},
      warn: (_: object, message: string) => warnings.push(message),
    }
    const tracer = await createTracer({ endpoint: 'http://127.0.0.1:1', logger, shutdownTimeoutMs: 50 })
    tracer?.startInference({ operation: 'chat', model: 'm' }).finish({ status: 200 })
    await tracer?.shutdown()
    expect(warnings).toContain('the last traces could not be exported')
  })

  test('without an endpoint there is no tracer and no part of OpenTelemetry is loaded', () => {
    const script = `
      const { createTracer } = await import(${JSON.stringify(new URL('./tracing.ts', import.meta.url).href)})
      const tracer = await createTracer({ endpoint: undefined })
      process.stdout.write(JSON.stringify({ tracer, loaded: globalThis[Symbol.for('opentelemetry.js.api.1')] ?? null }))`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual({ tracer: null, loaded: null })
  })

  test('a malformed traceparent begins a new trace', () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    for (const header of [
      undefined,
      '',
      `ff-${traceId}-b7ad6b7169203331-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
    ]) {
      expect(parseTraceparent(header)).toBeNull()
    }
    expect(parseTraceparent(`01-${traceId}-b7ad6b7169203331-03-more`)).toMatchObject({
      traceId,
      isSampled: true,
    })
  })

  test('collector headers are read in the format of the OpenTelemetry environment', () => {
    expect(parseOtlpHeaders('api-key=abc%3D, x-team = core ,broken,=x')).toEqual({
      'api-key': 'abc=',
      'x-team': 'core',
    })
  })
})
