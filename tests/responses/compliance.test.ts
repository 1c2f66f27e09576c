import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** Members that the Open Responses specification requires in every response. */
const REQUIRED = (
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools ' +
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning ' +
  'user usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key'
).split(' ')

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string' } },
    required: ['location'],
  },
}

/** The cases of openresponses.org that need neither a WebSocket nor compaction. */
const CASES: readonly (readonly [string, object, string])[] = [
  ['a basic text response', { input: [user('Say hello in exactly 3 words.')] }, 'message'],
  ['a streamed response', { input: [user('Count from 1 to 5.')], stream: true }, 'message'],
  [
    'a system prompt',
    { input: [{ type: 'message', role: 'system', content: 'Be a pirate.' }, user('Say hello.')] },
    'message',
  ],
  [
    'tool calling',
    { input: [user('Weather in San Francisco?')], tools: [WEATHER], tool_choice: 'required' },
    'function_call',
  ],
  [
    'streamed tool calling',
    { input: [user('Weather in San Francisco?')], tools: [WEATHER], tool_choice: 'required', stream: true },
    'function_call',
  ],
  [
    'an image',
    {
      input: [
        user([
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: PIXEL },
        ]),
      ],
    },
    'message',
  ],
  [
    'several turns',
    {
      input: [
        user('My name is Alice.'),
        { type: 'message', role: 'assistant', content: 'Hello Alice!' },
        user('What is my name?'),
      ],
    },
    'message',
  ],
]

const MODEL = 'gpt-5.4-mini'
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

interface Told {
  readonly response: Record<string, unknown>
  readonly types: readonly string[]
}

async function ask(members: object): Promise<Told> {
  const response = await gateway.fetch('POST', '/v1/responses', { body: { model: MODEL, ...members } })
  const text = await response.text()
  if (!('stream' in members)) return { response: JSON.parse(text), types: [] }
  const events = text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
  return { response: events.at(-1).response, types: events.map(({ type }) => type) }
}

describe('the Open Responses specification', () => {
  test.each(CASES)('is followed for %s', async (_, members, kind) => {
    const { response, types } = await ask(members)
    expect(REQUIRED.filter((name) => !(name in response))).toEqual([])
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output: expect.arrayContaining([expect.objectContaining({ type: kind, status: 'completed' })]),
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
    })
    if (!('stream' in members)) return
    const wanted =
      kind === 'message'
        ? ['content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done']
        : ['function_call_arguments.delta', 'function_call_arguments.done']
    for (const name of [
      'created',
      'in_progress',
      'output_item.added',
      ...wanted,
      'output_item.done',
      'completed',
    ])
      expect(types).toContain(`response.${name}`)
  })
})

describe('the official SDK', () => {
  test('parses an answer with a schema and continues it', async () => {
    const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
    const text = { format: zodTextFormat(z.object({ name: z.string(), age: z.number() }), 'person') }
    const first = await client.responses.parse({ model: MODEL, input: 'Who?', text })
    expect(first.output_parsed).toEqual({ name: expect.any(String), age: expect.any(Number) })
    const next = await client.responses.parse({
      model: MODEL,
      input: 'And?',
      text,
      previous_response_id: first.id,
    })
    expect(next.output_parsed).toEqual({ name: expect.any(String), age: expect.any(Number) })
    expect(next.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0)
  })

  test.each([{}, { stream: true }])('is answered once for an Idempotency-Key, %j', async (members) => {
    const send = () =>
      gateway.request('POST', '/v1/responses', {
        body: { model: MODEL, input: 'Once', ...members },
        headers: { 'idempotency-key': `once ${JSON.stringify(members)}` },
      })
    const { total } = (await gateway.request('GET', '/v1/usage/records')).body
    const [first, again] = [await send(), await send()]
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await gateway.request('GET', '/v1/usage/records')).body.total).toBe(total + 1)
  })
})
