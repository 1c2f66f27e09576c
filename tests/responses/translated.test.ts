import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { COST_USD, startMessagesGateway } from '../messages/start-messages-gateway.ts'
import { chunk, chunksOf, completion, failure, stream, USAGE } from '../upstreams/openai-server.ts'

const RESPONSES = '/v1/responses'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startMessagesGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const bodyOf = (members: object = {}) => ({ model: 'scripted', input: 'Hi', ...members })
const send = (members: object = {}) => gateway.request('POST', RESPONSES, { body: bodyOf(members) })

async function streamed(members: object = {}) {
  const response = await gateway.fetch('POST', RESPONSES, { body: bodyOf({ stream: true, ...members }) })
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '')
  return frames.map((frame, index) => {
    const [, name, json = ''] = /^event: ([\w.]+)\ndata: (.*)$/.exec(frame) ?? []
    const data = JSON.parse(json)
    expect([data.type, data.sequence_number]).toEqual([name, index])
    return data
  })
}

const TOOLS = [
  { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'patch', description: 'Patches.' },
  {
    type: 'namespace',
    name: 'agents',
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
  },
  { type: 'web_search', external_web_access: false },
]

describe('a request', () => {
  test('means the same in the chat form', async () => {
    const { status } = await send({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Rules.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', image_url: 'https://pictures.example/cat.png', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'of somebody else' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'look', namespace: 'agents', arguments: '{"at":1}' },
        { type: 'custom_tool_call', call_id: 'c3', name: 'patch', input: '*** Begin' },
        { type: 'function_call_output', call_id: 'c1', output: 'A cat.' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'A dog.' }] },
        { type: 'custom_tool_call_output', call_id: 'c3', output: 'Done.' },
      ],
      tools: TOOLS,
      tool_choice: { type: 'function', name: 'look', namespace: 'agents' },
      parallel_tool_calls: false,
      max_output_tokens: 50,
      temperature: 0.5,
      store: false,
      prompt_cache_key: 'p',
      client_metadata: { a: 'b' },
    })
    expect(status).toBe(200)
    const { messages, tools, ...rest } = gateway.upstream.bodies().at(-1)
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Rules.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://pictures.example/cat.png', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
          { id: 'c2', type: 'function', function: { name: 'agents__look', arguments: '{"at":1}' } },
          { id: 'c3', type: 'function', function: { name: 'patch', arguments: '{"input":"*** Begin"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'A cat.' },
      { role: 'tool', tool_call_id: 'c2', content: 'A dog.' },
      { role: 'tool', tool_call_id: 'c3', content: 'Done.' },
    ])
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'look',
      'patch',
      'agents__look',
    ])
    expect(rest).toEqual({
      model: 'upstream-model',
      tool_choice: { type: 'function', function: { name: 'agents__look' } },
      parallel_tool_calls: false,
      max_completion_tokens: 50,
      temperature: 0.5,
    })
  })

  test.each<[string, object, string]>([
    ['a tool of OpenAI alone', { tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    ['another tool of OpenAI', { tools: [...TOOLS, { type: 'code_interpreter' }] }, 'tools.4.type'],
    ['an item of OpenAI', { input: [{ type: 'web_search_call', id: 'w' }] }, 'input.0.type'],
    [
      'a file of OpenAI',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input.0.content.0.file_id',
    ],
  ])('is refused with %s, before an upstream is called', async (_name, members, param) => {
    const { status, body } = await send(members)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('with too many tools is refused at once, however they are grouped', async () => {
    const inner = Array.from({ length: 20_000 }, () => ({ type: 'function', name: 'same' }))
    const { status, body } = await send({ tools: [{ type: 'namespace', name: 'many', tools: inner }] })
    expect([status, body.error.param]).toEqual([400, 'tools'])
  })

  test('a request of an account with little credit asks for a shorter answer', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0.01 })
    const { status } = await gateway.request('POST', RESPONSES, { body: bodyOf(), key })
    expect(status).toBe(200)
    expect(gateway.upstream.bodies().at(-1).max_completion_tokens).toBeLessThanOrEqual(1_000)
  })
})

describe('an answer', () => {
  test('is a response with the usage and the cost', async () => {
    const { body } = await send()
    expect(body).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'scripted',
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: USAGE.prompt_tokens,
        output_tokens: USAGE.completion_tokens,
        total_tokens: USAGE.total_tokens,
        cost_usd: COST_USD,
      },
    })
  })

  test('an answer that was cut off says so', async () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Hel' }, finish_reason: 'length' }
    gateway.upstream.respondWith(completion({ choices: [choice] }))
    expect((await send()).body).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  test('calls tools of all kinds by their own names', async () => {
    const call = (id: string, name: string, text: string) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    })
    const calls = [call('c1', 'agents__look', '{"at":1}'), call('c2', 'patch', '{"input":"*** Begin"}')]
    gateway.upstream.respondWith(completion({ message: { content: null, tool_calls: calls } }))
    expect((await send({ tools: TOOLS })).body.output).toMatchObject([
      { type: 'function_call', call_id: 'c1', name: 'look', namespace: 'agents', arguments: '{"at":1}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
    ])
  })
})

describe('a stream', () => {
  test('has numbered events, stable ids, and the complete response at its end', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hel', 'lo')))
    const events = await streamed()
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const { response } = events.at(-1)
    expect(response).toMatchObject({ id: events[0].response.id, usage: { cost_usd: COST_USD } })
    expect(response.output[0].id).toBe(events[2].item.id)
    expect(response.output[0].content[0].text).toBe('Hello')
  })

  test('has interleaved calls, each complete', async () => {
    const call = (index: number, members: object) => chunk({ delta: { tool_calls: [{ index, ...members }] } })
    gateway.upstream.respondWith(
      stream([
        chunk({ delta: { role: 'assistant', reasoning_content: 'Hm.' } }),
        call(0, { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":' } }),
        call(1, { id: 'c2', type: 'function', function: { name: 'patch', arguments: '{"input":' } }),
        call(0, { function: { arguments: '1}' } }),
        call(1, { function: { arguments: '"x"}' } }),
        chunk({ finish_reason: 'tool_calls' }),
        chunk({ choices: [], usage: USAGE }),
      ]),
    )
    const events = await streamed({ tools: TOOLS })
    expect(events.at(-1).response.output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'c1', arguments: '{"a":1}' },
      { type: 'custom_tool_call', call_id: 'c2', input: 'x' },
    ])
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => item)).toEqual(events.at(-1).response.output)
  })

  test('a stream that fails mid-stream ends with a numbered error, and what was delivered is charged', async () => {
    gateway.upstream.respondWith(stream([chunk({ delta: { content: 'Hel' } })], { ending: 'cut' }))
    const events = await streamed()
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'provider_error' })
    const [record] = (await gateway.request('GET', '/v1/usage/records')).body.data
    expect([record.operation, record.outcome, record.cost_usd > 0]).toEqual(['responses', 'failed', true])
  })

  test('is replayed under its key, and charged once', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hello')))
    const again = async () => {
      const headers = { 'idempotency-key': 'one-response' }
      const response = await gateway.fetch('POST', RESPONSES, { body: bodyOf({ stream: true }), headers })
      return [response.headers.get('idempotent-replayed'), await response.text()]
    }
    const [, text] = await again()
    expect(await again()).toEqual(['true', text])
    expect(gateway.upstream.requests).toHaveLength(1)
  })
})

test('an error has the form of OpenAI', async () => {
  gateway.upstream.respondWith(failure(500))
  const { status, body } = await send()
  expect([status, body.error.code, body.error.type]).toEqual([502, 'provider_error', 'upstream_error'])
})
