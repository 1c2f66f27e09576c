import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { startMessagesGateway } from '../messages/start-messages-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startMessagesGateway()
  client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion({ message: { content: 'Hello, Ada.' } }))
})

const user = (content: string) => ({ role: 'user' as const, content })
const FIRST = user('My name is Ada.')

describe('a compacted conversation', () => {
  test('is what the user said and a summary, is charged, and is read by any model', async () => {
    gateway.upstream.respondWith(completion({ message: { content: 'Ada likes numbers.' } }))
    const input = [FIRST, { role: 'assistant' as const, content: 'Hello!' }, user('I like numbers.')]
    const compacted = await client.responses.compact({ model: 'scripted', input, instructions: 'Be brief.' })
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      output: [
        { type: 'message', role: 'user' },
        { type: 'message', role: 'user' },
        { type: 'compaction', encrypted_content: expect.stringMatching(/./) },
      ],
      usage: { input_tokens: 11, output_tokens: 7 },
    })
    expect(compacted.usage).toHaveProperty('cost_usd', expect.any(Number))
    gateway.upstream.requests.length = 0
    const next = [...compacted.output, user('What do I like?')]
    await client.responses.create({ model: 'scripted', input: JSON.parse(JSON.stringify(next)) })
    const sent = gateway.upstream.requests[0]?.text ?? ''
    expect(sent).toContain('Ada likes numbers.')
    expect(sent).not.toContain('compaction')
  })

  test('may be a stored response, and needs something to compact', async () => {
    const first = await client.responses.create({ model: 'scripted', input: 'My name is Ada.' })
    const compacted = await client.responses.compact({ model: 'scripted', previous_response_id: first.id })
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
    await expect(client.responses.compact({ model: 'scripted' })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    })
  })
})

test('a response that was answered in the foreground can be read as a stream, from any event on', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } }
  gateway.upstream.respondWith(
    completion({ message: { content: 'Hello', reasoning_content: 'Hm.', tool_calls: [call] } }),
  )
  const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
  const whole = await client.responses.create({ model: 'scripted', input: 'Hi', tools })
  const events: OpenAI.Responses.ResponseStreamEvent[] = []
  for await (const event of await client.responses.retrieve(whole.id, { stream: true })) events.push(event)
  expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()])
  expect(events.at(0)?.type).toBe('response.created')
  const last = events.at(-1)
  expect(last?.type === 'response.completed' && last.response.output).toEqual(whole.output)
  const rest: OpenAI.Responses.ResponseStreamEvent[] = []
  for await (const event of await client.responses.retrieve(whole.id, { stream: true, starting_after: 4 }))
    rest.push(event)
  expect(rest).toEqual(events.slice(5))
  const deltas = events.filter(({ type }) => type.endsWith('.delta')).map(({ type }) => type)
  expect(deltas).toEqual([
    'response.reasoning_text.delta',
    'response.output_text.delta',
    'response.function_call_arguments.delta',
  ])
})
