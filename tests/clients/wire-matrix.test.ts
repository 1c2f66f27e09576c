import { APICallError, generateText, isStepCount, Output, streamText, tool, type LanguageModel } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import {
  describeWeather,
  FILM,
  Film,
  PNG_BASE64,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'
import { lastRequestText } from './vendors.ts'
import { MATRIX } from './wire-matrix.ts'

const tools = {
  [WEATHER_TOOL_NAME]: tool({
    description: WEATHER_TOOL_DESCRIPTION,
    inputSchema: WeatherArguments,
    execute: async (input) => describeWeather(input),
  }),
}
const calls = ['Oslo', 'Rome'].map((city, index) => ({
  id: `call_${index}`,
  name: WEATHER_TOOL_NAME,
  input: { city },
}))

describe.each(MATRIX)('$client with $vendor.name', ({ vendor, connect, operation }) => {
  let server: ScriptedServer
  let gateway: TestGateway
  let model: LanguageModel

  beforeAll(async () => {
    server = await vendor.start()
    gateway = await startTestGateway({ settings: vendor.settings(server.baseUrl) })
    model = connect(gateway, vendor.model)
  })

  beforeEach(() => {
    server.requests.length = 0
  })

  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  test("works complete and streamed, charged by the vendor's usage", async () => {
    server.respondWith(vendor.say({ text: 'one two three' }))
    const whole = await generateText({ model, prompt: 'Count', maxRetries: 0 })
    expect([whole.text, whole.finishReason]).toEqual(['one two three', 'stop'])
    const stream = streamText({ model, prompt: 'Count', maxRetries: 0 })
    expect([await stream.text, await stream.finishReason]).toEqual(['one two three', 'stop'])
    const records = await eventually(async () => {
      const { body } = await gateway.request('GET', '/v1/usage/records?limit=2')
      expect(body.data).toHaveLength(2)
      return body.data
    })
    for (const { usage } of [whole, { usage: await stream.usage }])
      expect(records).toContainEqual(
        expect.objectContaining({
          operation,
          outcome: 'completed',
          prompt_tokens: usage.inputTokens,
          completion_tokens: usage.outputTokens,
        }),
      )
  })

  test('works with parallel tools, whose results reach the vendor', async () => {
    server.respondWith(vendor.say({ toolCalls: calls }), vendor.say({ text: 'Both mild' }))
    const { text, steps } = await generateText({
      model,
      tools,
      prompt: 'Compare',
      stopWhen: isStepCount(2),
      maxRetries: 0,
    })
    expect([text, steps[0]?.toolCalls.map(({ input }) => input)]).toEqual([
      'Both mild',
      calls.map(({ input }) => input),
    ])
    for (const city of ['Oslo', 'Rome']) expect(lastRequestText(server)).toContain(describeWeather({ city }))
  })

  test('works with parallel tools in a stream', async () => {
    server.respondWith(vendor.say({ toolCalls: calls }))
    const stream = streamText({ model, tools, prompt: 'Compare', maxRetries: 0 })
    expect((await stream.toolCalls).map(({ input }) => input)).toEqual(calls.map(({ input }) => input))
    expect(await stream.finishReason).toBe('tool-calls')
  })

  test('gets the reasoning of the model', async () => {
    server.respondWith(vendor.say({ reasoning: 'Hm, hm', text: 'Yes' }))
    // This client shows reasoning only as a summary, and requests one only from models that it knows as reasoning models.
    const providerOptions = { openai: { reasoningSummary: 'auto', forceReasoning: true } }
    const asked = { model, prompt: 'Really?', maxRetries: 0, providerOptions }
    const whole = await generateText(asked)
    const stream = streamText(asked)
    await stream.text
    expect([whole.text, whole.finalStep.reasoningText, (await stream.finalStep).reasoningText]).toEqual([
      'Yes',
      'Hm, hm',
      'Hm, hm',
    ])
  })

  test('works with an image and a schema', async () => {
    server.respondWith(vendor.say({ text: JSON.stringify(FILM) }))
    const { output } = await generateText({
      model,
      output: Output.object({ schema: Film }),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which film?' },
            { type: 'image', image: Buffer.from(PNG_BASE64, 'base64') },
          ],
        },
      ],
      maxRetries: 0,
    })
    expect(output).toEqual(FILM)
    expect(lastRequestText(server)).toContain(PNG_BASE64)
  })

  test('gets errors about its own mistakes', async () => {
    server.respondWith(vendor.refuse(400, 'temperature is too high'))
    const failure = await generateText({ model, prompt: 'Hi', maxRetries: 0 }).catch((error) => error)
    expect(APICallError.isInstance(failure) && [failure.statusCode, failure.message]).toEqual([
      400,
      'temperature is too high',
    ])
  })
})
