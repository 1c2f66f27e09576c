import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
})

afterAll(() => gateway.close())

const MODEL = 'gpt-5.4-mini'
const hello = { model: MODEL, input: 'Hello' }
const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const callOf = ({ output }: OpenAI.Responses.Response) => {
  for (const item of output) if (item.type === 'function_call') return item
  throw new Error('nothing was called')
}

describe('the official SDK', () => {
  test('reads a complete response', async () => {
    const { data, response } = await client.responses.create(hello).withResponse()
    expect(data).toMatchObject({ object: 'response', status: 'completed', model: MODEL, store: true })
    expect(data.id).toMatch(/^resp_/)
    expect(data.output_text).not.toBe('')
    expect(data.usage?.input_tokens).toBeGreaterThan(0)
    expect(data.usage?.output_tokens).toBeGreaterThan(0)
    expect(Number(response.headers.get('x-gateway-cost-usd'))).toBeGreaterThan(0)
  })

  test('reads a stream', async () => {
    const whole = await client.responses.create(hello)
    const streamed = await client.responses.stream(hello).finalResponse()
    expect(streamed.output_text).toBe(whole.output_text)
    expect(streamed.usage).toEqual(whole.usage)
  })

  test('calls a tool, sends its result and gets an answer', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is the weather in Paris?' }]
    const asked = { model: MODEL, input, tools: [WEATHER], tool_choice: 'required' as const }
    for (const first of [
      await client.responses.create(asked),
      await client.responses.stream(asked).finalResponse(),
    ]) {
      const call = callOf(first)
      expect(call).toMatchObject({ name: 'get_weather', status: 'completed' })
      expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) })
      const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Sunny' }
      const second = await client.responses.create({
        model: MODEL,
        tools: [WEATHER],
        input: [...input, ...first.output, result] as OpenAI.Responses.ResponseInput,
      })
      expect(second.output_text).not.toBe('')
    }
  })

  test('gets reasoning, and sends it back', async () => {
    const asked = {
      model: MODEL,
      input: 'Think.',
      reasoning: { effort: 'low' as const, summary: 'auto' as const },
      include: ['reasoning.encrypted_content' as const],
    }
    const { output } = await client.responses.create(asked)
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    const streamed = await client.responses.stream(asked).finalResponse()
    expect(streamed.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    const next = await client.responses.create({
      model: MODEL,
      input: [
        { role: 'user', content: 'Think.' },
        ...output,
        { role: 'user', content: 'And now?' },
      ] as OpenAI.Responses.ResponseInput,
    })
    expect(next.status).toBe('completed')
  })

  test('gets an answer with a schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    }
    const { output_text: text } = await client.responses.create({
      ...hello,
      text: { format: { type: 'json_schema', name: 'person', schema, strict: true } },
    })
    expect(JSON.parse(text)).toEqual({ name: expect.any(String) })
  })
})
