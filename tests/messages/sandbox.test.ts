import Anthropic, { AuthenticationError, BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let client: Anthropic

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new Anthropic({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 })
})

afterAll(() => gateway.close())

const MODEL = 'claude-sonnet-4-6'
const hello = { model: MODEL, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

describe('the official SDK', () => {
  test('reads a complete message', async () => {
    const { data, response } = await client.messages.create(hello).withResponse()
    expect(data).toMatchObject({ type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' })
    expect(data.id).toMatch(/^msg_/)
    expect(data.content).toEqual([{ type: 'text', text: expect.stringMatching(/./) }])
    expect(data.usage.input_tokens).toBeGreaterThan(0)
    expect(data.usage.output_tokens).toBeGreaterThan(0)
    expect(response.headers.get('request-id')).toMatch(/^req_/)
    expect(Number(response.headers.get('x-gateway-cost-usd'))).toBeGreaterThan(0)
  })

  test('reads a stream', async () => {
    const whole = await client.messages.create(hello)
    const streamed = await client.messages.stream(hello).finalMessage()
    expect(streamed.content).toEqual(whole.content)
    expect(streamed.usage).toMatchObject({
      input_tokens: whole.usage.input_tokens,
      output_tokens: whole.usage.output_tokens,
    })
    expect(streamed.stop_reason).toBe('end_turn')
  })

  test('calls a tool, sends its result and gets an answer', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is the weather in Paris?' }]
    const asked = { ...hello, tools: [WEATHER], tool_choice: { type: 'any' as const } }
    for (const first of [
      await client.messages.create({ ...asked, messages }),
      await client.messages.stream({ ...asked, messages }).finalMessage(),
    ]) {
      expect(first.stop_reason).toBe('tool_use')
      const call = first.content.find((block) => block.type === 'tool_use')
      expect(call).toMatchObject({ name: 'get_weather', input: { city: expect.any(String) } })
      const result = {
        type: 'tool_result' as const,
        tool_use_id: call?.id ?? '',
        content: 'Sunny, 21 degrees',
      }
      const second = await client.messages.create({
        ...hello,
        tools: [WEATHER],
        messages: [
          ...messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [result] },
        ],
      })
      expect(second.stop_reason).toBe('end_turn')
    }
  })

  test('gets reasoning if it asks for it', async () => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 }
    const asked = { ...hello, max_tokens: 4_096, thinking }
    for (const { content } of [
      await client.messages.create(asked),
      await client.messages.stream(asked).finalMessage(),
    ])
      expect(content).toMatchObject([
        {
          type: 'thinking',
          thinking: expect.stringMatching(/./),
          signature: expect.stringMatching(/^sandbox_.{20}/),
        },
        { type: 'text' },
      ])
    const kinds: string[] = []
    for await (const event of client.messages.stream(asked))
      if (event.type === 'content_block_delta' && event.index === 0) kinds.push(event.delta.type)
    expect(kinds.at(-1)).toBe('signature_delta')
    expect(new Set(kinds.slice(0, -1))).toEqual(new Set(['thinking_delta']))
  })

  test('is told at which sequence the answer stopped', async () => {
    const whole = await client.messages.create(hello)
    const [first] = whole.content
    const word = first?.type === 'text' ? (/\w{5,}/.exec(first.text)?.[0] ?? '') : ''
    expect(word).not.toBe('')
    const stopped = { ...hello, stop_sequences: ['never said', word] }
    for (const message of [
      await client.messages.create(stopped),
      await client.messages.stream(stopped).finalMessage(),
    ])
      expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: word })
    expect(whole).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null })
  })

  test('counts tokens', async () => {
    const { input_tokens: tokens } = await client.messages.countTokens({
      model: MODEL,
      messages: hello.messages,
    })
    expect(tokens).toBeGreaterThan(0)
  })

  test('recognises errors by their classes', async () => {
    const wrongKey = new Anthropic({ baseURL: gateway.baseUrl, apiKey: 'nothing', maxRetries: 0 })
    await expect(wrongKey.messages.create(hello)).rejects.toThrow(AuthenticationError)
    const unknown = client.messages.create({ ...hello, model: 'no-such-model' })
    await expect(unknown).rejects.toThrow(NotFoundError)
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
    })
    await expect(client.messages.create({ ...hello, max_tokens: 0 })).rejects.toThrow(BadRequestError)
  })
})
