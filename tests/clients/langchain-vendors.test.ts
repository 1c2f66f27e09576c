import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { collect } from './collect.ts'
import {
  describeWeather,
  FILM,
  Film,
  PNG_BASE64,
  PNG_DATA_URI,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'
import { lastRequestText, VENDORS } from './vendors.ts'

const weatherTool = tool(describeWeather, {
  name: WEATHER_TOOL_NAME,
  description: WEATHER_TOOL_DESCRIPTION,
  schema: WeatherArguments,
})

const weatherCalls = ['Oslo', 'Rome'].map((city, index) => ({
  id: `call_${index}`,
  name: WEATHER_TOOL_NAME,
  input: { city },
}))

describe.each(VENDORS)('LangChain with $name', (vendor) => {
  let server: ScriptedServer
  let gateway: TestGateway

  beforeAll(async () => {
    server = await vendor.start()
    gateway = await startTestGateway({ settings: vendor.settings(server.baseUrl) })
  })

  beforeEach(() => {
    server.requests.length = 0
  })

  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  const connect = (modelKwargs: Record<string, unknown> = {}) =>
    new ChatOpenAI({
      model: vendor.model,
      apiKey: gateway.key,
      maxRetries: 0,
      configuration: { baseURL: `${gateway.baseUrl}/v1` },
      modelKwargs,
    })

  test('gets an answer, complete and streamed', async () => {
    server.respondWith(vendor.say({ text: 'one two three' }))
    const message = await connect().invoke('Hi')
    expect(message.text).toBe('one two three')
    expect(message.response_metadata).toMatchObject({ model_name: vendor.model, finish_reason: 'stop' })
    const chunks = await collect(await connect().stream('Hi'))
    expect(chunks.map(({ text }) => text).filter((text) => text !== '')).toEqual(['one ', 'two ', 'three'])
  })

  test.each([['whole', false] as const, ['streamed', true] as const])(
    'answers parallel tool calls: %s',
    async (_name, isStream) => {
      server.respondWith(vendor.say({ toolCalls: weatherCalls }), vendor.say({ text: 'Mild in both.' }))
      const model = connect().bindTools([weatherTool])
      const messages: BaseMessage[] = [new HumanMessage('Weather?')]
      const calling = isStream ? await addUp(model.stream(messages)) : await model.invoke(messages)
      messages.push(calling)
      for (const call of calling.tool_calls ?? []) {
        const result: unknown = await weatherTool.invoke({ ...call, type: 'tool_call' })
        if (!(result instanceof ToolMessage)) throw new Error('the tool gave no message')
        messages.push(result)
      }
      expect((await model.invoke(messages)).text).toBe('Mild in both.')
      expect(lastRequestText(server)).toContain('18 degrees in Oslo')
      expect(lastRequestText(server)).toContain('18 degrees in Rome')
    },
  )

  async function addUp<Chunk extends { concat(other: Chunk): Chunk }>(
    stream: Promise<AsyncIterable<Chunk>>,
  ): Promise<Chunk> {
    const chunks = await collect(await stream)
    return chunks.reduce((sum, chunk) => sum.concat(chunk))
  }

  test('gets the object of the schema', async () => {
    server.respondWith(vendor.say({ text: JSON.stringify(FILM) }))
    const model = connect().withStructuredOutput(Film, { name: 'film', method: 'jsonSchema' })
    expect(await model.invoke('Name a film.')).toEqual(FILM)
  })

  test('sends an image', async () => {
    server.respondWith(vendor.say({ text: 'Red.' }))
    const content = [{ type: 'image_url', image_url: { url: PNG_DATA_URI } }]
    await connect().invoke([new HumanMessage({ content })])
    expect(lastRequestText(server)).toContain(PNG_BASE64)
  })

  test('keeps the reasoning beside the answer', async () => {
    server.respondWith(vendor.say({ reasoning: 'Let me see.', text: 'Four.' }))
    const message = await connect({ think: true }).invoke('2 + 2?')
    expect(message.text).toBe('Four.')
    expect(message.additional_kwargs['reasoning_content']).toBe('Let me see.')
  })
})
