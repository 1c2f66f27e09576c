import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, Output, streamText, tool, type LanguageModel } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { collect } from './collect.ts'
import {
  describeWeather,
  FILM,
  Film,
  PNG_BASE64,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'
import { lastRequestText, SIGNATURE, VENDORS } from './vendors.ts'

const tools = {
  [WEATHER_TOOL_NAME]: tool({
    description: WEATHER_TOOL_DESCRIPTION,
    inputSchema: WeatherArguments,
    execute: async (input) => describeWeather(input),
  }),
}

const weatherCalls = ['Oslo', 'Rome'].map((city, index) => ({
  id: `call_${index}`,
  name: WEATHER_TOOL_NAME,
  input: { city },
}))

describe.each(VENDORS)('the AI SDK with $name', (vendor) => {
  let server: ScriptedServer
  let gateway: TestGateway
  let model: LanguageModel

  beforeAll(async () => {
    server = await vendor.start()
    gateway = await startTestGateway({ settings: vendor.settings(server.baseUrl) })
    const parkway = createOpenAICompatible({
      name: 'parkway',
      baseURL: `${gateway.baseUrl}/v1`,
      apiKey: gateway.key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })
    model = parkway(vendor.model)
  })

  beforeEach(() => {
    server.requests.length = 0
  })

  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  test('gets an answer, complete and streamed', async () => {
    server.respondWith(vendor.say({ text: 'one two three' }))
    const result = await generateText({ model, prompt: 'Hi' })
    expect(result).toMatchObject({ text: 'one two three', finishReason: 'stop' })
    expect(result.response.modelId).toBe(vendor.model)
    expect(result.usage.inputTokens).toBeGreaterThan(0)

    const streamed = streamText({ model, prompt: 'Hi' })
    expect(await collect(streamed.textStream)).toEqual(['one ', 'two ', 'three'])
    expect((await streamed.usage).inputTokens).toBe(result.usage.inputTokens)
  })

  test.each([
    ['generateText', generateText],
    ['streamText', streamText],
  ])('runs parallel tool calls: %s', async (_name, run) => {
    server.respondWith(vendor.say({ toolCalls: weatherCalls }), vendor.say({ text: 'Mild in both.' }))
    const result = await run({ model, prompt: 'Weather?', tools, stopWhen: isStepCount(5) })
    expect(await result.text).toBe('Mild in both.')
    expect(await result.steps).toHaveLength(2)
    expect(lastRequestText(server)).toContain('18 degrees in Oslo')
    expect(lastRequestText(server)).toContain('18 degrees in Rome')
    // Google signs the tool call and requires the signature together with the result.
    if (vendor.provider === 'google') expect(lastRequestText(server)).toContain(SIGNATURE)
  })

  test('gets the object of the schema, complete and streamed', async () => {
    server.respondWith(vendor.say({ text: JSON.stringify(FILM) }))
    const request = { model, prompt: 'Name a film.', output: Output.object({ schema: Film }) }
    expect((await generateText(request)).output).toEqual(FILM)
    expect(await streamText(request).output).toEqual(FILM)
  })

  test('sends an image', async () => {
    server.respondWith(vendor.say({ text: 'Red.' }))
    const image = { type: 'file' as const, mediaType: 'image/png', data: Buffer.from(PNG_BASE64, 'base64') }
    await generateText({ model, messages: [{ role: 'user', content: [image] }] })
    expect(lastRequestText(server)).toContain(PNG_BASE64)
  })

  test('reads the reasoning, complete and streamed', async () => {
    server.respondWith(vendor.say({ reasoning: 'Let me see.', text: 'Four.' }))
    const request = { model, prompt: '2 + 2?', providerOptions: { parkway: { think: true } } }
    expect(await generateText(request)).toMatchObject({ text: 'Four.', reasoningText: 'Let me see.' })
    const streamed = streamText(request)
    expect(await streamed.reasoningText).toBe('Let me see.')
    expect(await streamed.text).toBe('Four.')
  })
})
