import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { eventually } from '../support/eventually.ts'
import { failure } from '../upstreams/openai-server.ts'
import {
  messageItem,
  responseObject,
  responseStart,
  responseStream,
  responseTextEvents,
  RESPONSE_USAGE,
  wholeResponse,
} from '../upstreams/openai-responses-server.ts'
import {
  parseNumberedEvents,
  RESPONSES,
  startNativeGateway,
  type NativeGateway,
} from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway({ PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.openai.requests.length = 0
  gateway.upstream.requests.length = 0
  gateway.openai.respondWith(wholeResponse())
})

const MARKED = { type: 'input_text', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }
const COST_USD = (12 + 6 * 10) / 1e6
const bodyOf = (members: object = {}) => ({ model: 'gpt', input: 'Hi', ...members })
const send = (members: object = {}) => gateway.request('POST', RESPONSES, { body: bodyOf(members) })
const open = (members: object = {}) =>
  gateway.fetch('POST', RESPONSES, { body: bodyOf({ stream: true, ...members }) })

async function recordOf(requestId: string | null) {
  return eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=5')
    const record = body.data.find(({ request_id: id }: { request_id: string }) => id === requestId)
    expect(record).toBeDefined()
    return record
  })
}

describe('a request of OpenAI’s Responses, for OpenAI', () => {
  test('is passed byte for byte, except for the model and store: false', async () => {
    const text =
      '{"model":"gpt","future":{"a":[1.0]},"input":[{"type":"hologram","depth":3},{"role":"user","content":"é"},' +
      '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA"}],"store":true,"stream":false,' +
      '"include":["reasoning.encrypted_content"],"tools":[{"type":"custom","name":"patch","format":{"type":"text"}}]}'
    const { status } = await gateway.request('POST', RESPONSES, { body: text })
    expect(status).toBe(200)
    const { path, text: arrived } = await gateway.openai.requestNumber(0)
    expect([path, arrived]).toEqual([
      '/v1/responses',
      text.replace('"model":"gpt"', '"model":"gpt-upstream"').replace('"store":true', '"store":false'),
    ])
  })

  test('has store: false even if the client does not say', async () => {
    await send()
    expect((await gateway.openai.requestNumber(0)).body).toEqual({
      model: 'gpt-upstream',
      input: 'Hi',
      store: false,
      include: ['reasoning.encrypted_content'],
    })
  })

  test('continues a response stored in the gateway, of which the upstream only gets the items', async () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
    gateway.openai.respondWith(wholeResponse({ output: [thought, messageItem('Hello there')] }))
    const first = await send()
    expect(first.body).toMatchObject({ store: true, previous_response_id: null })
    const second = await send({ input: 'Go on', previous_response_id: first.body.id })
    expect(second.body).toMatchObject({ store: true, previous_response_id: first.body.id })
    const { body } = await gateway.openai.requestNumber(1)
    expect(body).toMatchObject({
      store: false,
      input: [{ role: 'user' }, thought, { role: 'assistant' }, {}],
    })
    expect(body).not.toHaveProperty('previous_response_id')
  })

  test('removes reasoning that OpenAI did not encrypt, and a search that is offered beside other tools', async () => {
    const own = { type: 'function', name: 'look', parameters: { type: 'object' } }
    await send({
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'parkway.1.e30' },
        { type: 'reasoning', id: 'rs_2', summary: [] },
        { role: 'user', content: 'Go on' },
      ],
      tools: [own, { type: 'web_search' }],
    })
    expect((await gateway.openai.requestNumber(0)).body).toMatchObject({
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'Go on' },
      ],
      tools: [own],
    })
  })

  const tool = (type: string, members: object = {}) => ({ tools: [{ type, ...members }] })
  const input = (item: object) => ({ input: [item] })
  test.each([
    ['a search of the web', tool('web_search'), 'tools.0.type'],
    ['files of the account', tool('file_search', { vector_store_ids: ['vs_1'] }), 'tools.0.type'],
    ['code that runs there', tool('code_interpreter', { container: { type: 'auto' } }), 'tools.0.type'],
    ['a shell that runs there', tool('shell', { environment: { type: 'container_auto' } }), 'tools.0.type'],
    ['pictures', tool('image_generation'), 'tools.0.type'],
    ['MCP servers', tool('mcp', { server_url: 'https://example.com' }), 'tools.0.type'],
    ['a tool that nobody knows yet', tool('teleport'), 'tools.0.type'],
    [
      'a tool of the vendor in a namespace',
      tool('namespace', {
        name: 'n',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'mcp', name: 'm' },
        ],
      }),
      'tools.0.tools.1.type',
    ],
    [
      'a tool of the vendor among the items',
      input({ type: 'tool_search_output', tools: [{ type: 'code_interpreter' }] }),
      'input.0.tools.0.type',
    ],
    ['another tier', { service_tier: 'priority' }, 'service_tier'],
    ['a prompt kept there', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      'a file kept there',
      input({ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }),
      'input.0.content.0.file_id',
    ],
    ['the mark of a paid cache', input({ content: [MARKED] }), 'input.0.content.0.prompt_cache_breakpoint'],
    ['such a mark in a result', input({ output: [MARKED] }), 'input.0.output.0.prompt_cache_breakpoint'],
    [
      'a file of a screen',
      input({
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', file_id: 'f' },
      }),
      'input.0.output.file_id',
    ],
  ])('is refused with %s', async (_name, members, param) => {
    const { status, body } = await send(members)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
    expect(gateway.openai.requests).toHaveLength(0)
  })

  test('is sent to another provider, translated, if OpenAI fails', async () => {
    gateway.openai.respondWith(failure(503, { message: 'down' }))
    const { status, headers, body } = await send({ model: 'either' })
    expect([status, headers.get('x-gateway-provider'), body.object]).toEqual([200, 'groq', 'response'])
  })
})

describe('an answer', () => {
  test('keeps unknown members, and has our model and cost', async () => {
    const output = [{ type: 'hologram', id: 'h_1' }, messageItem('Hello')]
    gateway.openai.respondWith(wholeResponse({ output, future: [1] }))
    const { status, body, headers } = await send()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...responseObject({ output, future: [1] }),
      id: expect.stringMatching(/^resp_/),
      store: true,
      model: 'gpt',
      usage: { ...RESPONSE_USAGE, cost_usd: COST_USD },
    })
    expect(await recordOf(headers.get('x-request-id'))).toMatchObject({
      operation: 'responses',
      prompt_tokens: 12,
      completion_tokens: 6,
      cost_usd: COST_USD,
    })
  })

  test.each([
    ['failed', { status: 'failed', error: { code: 'server_error', message: 'no' } }, 502],
    ['was refused', { status: 'failed', error: { code: 'invalid_prompt', message: 'no' } }, 400],
    ['is not finished', { status: 'in_progress', output: [] }, 502],
  ])('an answer that %s is an error, and free', async (_name, members, status) => {
    gateway.openai.respondWith(wholeResponse(members))
    expect((await send()).status).toBe(status)
  })
})

describe('a stream', () => {
  test('passes every event, also unknown ones, with one id and the cost at its end', async () => {
    const upstream = responseTextEvents('Hello there')
    upstream.splice(3, 0, { type: 'response.weather', sunny: true })
    gateway.openai.respondWith(responseStream(upstream))
    const events = parseNumberedEvents(await (await open()).text())
    const passed = upstream.flatMap((event, index) =>
      'response' in event ? [] : [{ ...event, sequence_number: index }],
    )
    expect(events.flatMap(({ data }) => (data.response ? [] : [data]))).toEqual(passed)
    const responses = events.flatMap(({ data }) => (data.response ? [data.response] : []))
    expect(new Set(responses.map(({ id, model }) => `${id} ${model}`)).size).toBe(1)
    expect(responses.at(-1)).toMatchObject({ model: 'gpt', usage: { ...RESPONSE_USAGE, cost_usd: COST_USD } })
  })

  test('has an id of the gateway, whatever the upstream’s is, the same in every event', async () => {
    const events = responseTextEvents('Hi').map((event) =>
      'response' in event ? { ...event, response: { ...Object(event['response']), id: '1' } } : event,
    )
    gateway.openai.respondWith(responseStream(events))
    const told = parseNumberedEvents(await (await open()).text())
    const ids = told.flatMap(({ data }) => (data.response ? [data.response.id] : []))
    expect([new Set(ids).size, ids[0]]).toEqual([1, expect.stringMatching(/^resp_/)])
  })

  test('a stream that fails mid-stream ends with an error, and what was delivered is charged', async () => {
    const usage = { ...RESPONSE_USAGE, output_tokens: 3 }
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
    const begun = responseTextEvents('Hello there').slice(0, 6)
    const last = {
      type: 'response.failed',
      response: responseObject({ status: 'failed', error: { code: 'server_error', message: 'no' }, usage }),
    }
    const all = responseStream([...begun, last]).chunks
    gateway.openai.respondWith({
      ...responseStream([]),
      chunks: all.slice(0, -1),
      more: (async function* () {
        await isRead
        yield* all.slice(-1)
      })(),
    })
    const response = await open()
    const pieces = readPieces(response)
    await pieces.until(/there/)
    read()
    const events = parseNumberedEvents(await pieces.until(/event: error\n.*\n\n/))
    expect(events.at(-1)?.data).toMatchObject({ type: 'error', code: 'provider_error' })
    expect(await recordOf(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      prompt_tokens: 12,
      completion_tokens: 3,
    })
  })

  test('a stream that is cut at any byte ends with the wire’s error', async () => {
    const whole = responseStream(responseTextEvents('Hello')).chunks.join('')
    const headers = { 'content-type': 'text/event-stream' }
    const firstFrame = whole.indexOf('\n\n')
    const end = whole.indexOf('event: response.completed')
    for (let at = 50; at < end + 100; at += at < firstFrame ? 300 : 11) {
      gateway.openai.respondWith({ headers, chunks: [whole.slice(0, at)], ending: 'cut' })
      const response = await open()
      if (response.status !== 200) continue
      const events = parseNumberedEvents(await response.text())
      expect([at, events[0]?.name, events.at(-1)?.name]).toEqual([at, 'response.created', 'error'])
    }
  })

  test('does not wait for a connection that stays open after the last event', async () => {
    gateway.openai.respondWith(responseStream(responseTextEvents('Hello'), { ending: 'hang' }))
    expect(parseNumberedEvents(await (await open()).text()).at(-1)?.name).toBe('response.completed')
  })

  test('a stream that fails after its start event is free', async () => {
    const last = { type: 'error', code: 'server_error', message: 'no', param: null }
    gateway.openai.respondWith(responseStream([...responseStart(), last]))
    const response = await open()
    await response.text()
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=5')
    const charged = body.data.filter(
      (record: { request_id: string; cost_usd: number }) =>
        record.request_id === response.headers.get('x-request-id') && record.cost_usd > 0,
    )
    expect(charged).toEqual([])
  })
})

test('the official SDK streams and parses', async () => {
  const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
  gateway.openai.respondWith(responseStream(responseTextEvents('Hello there')))
  const stream = client.responses.stream({ model: 'gpt', input: 'Hi' })
  expect((await stream.finalResponse()).output_text).toBe('Hello there')
})
