import OpenAI, { BadRequestError, InternalServerError } from 'openai'
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import {
  describeWeather,
  FILM,
  Film,
  PNG_BASE64,
  PNG_DATA_URI,
  WEATHER_TOOL,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'
import { lastRequestText, SIGNATURE, VENDORS } from './vendors.ts'

const weatherFunction = zodFunction({
  name: WEATHER_TOOL_NAME,
  description: WEATHER_TOOL_DESCRIPTION,
  parameters: WeatherArguments,
  function: describeWeather,
})

const weatherCalls = ['Oslo', 'Rome'].map((city, index) => ({
  id: `call_${index}`,
  name: WEATHER_TOOL_NAME,
  input: { city },
}))

describe.each(VENDORS)('the OpenAI SDK with $name', (vendor) => {
  let server: ScriptedServer
  let gateway: TestGateway
  let client: OpenAI

  beforeAll(async () => {
    server = await vendor.start()
    const settings = { ...vendor.settings(server.baseUrl), PARKWAY_DRAIN_MS_MAX: '200' }
    gateway = await startTestGateway({ settings })
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  })

  beforeEach(() => {
    server.requests.length = 0
  })

  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  const ask = (content: string) => ({ model: vendor.model, messages: [{ role: 'user' as const, content }] })

  test('gets an answer under the requested id, with usage and cost', async () => {
    server.respondWith(vendor.say({ text: 'Hello there' }))
    const { data, response } = await client.chat.completions.create(ask('Hi')).withResponse()
    expect(data).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: vendor.model,
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there' } }],
      usage: { prompt_tokens: expect.any(Number), cost_usd: expect.any(Number) },
    })
    expect(response.headers.get('x-gateway-provider')).toBe(vendor.provider)
  })

  test('streams', async () => {
    server.respondWith(vendor.say({ text: 'one two three' }))
    const pieces: string[] = []
    const completion = await client.chat.completions
      .stream({ ...ask('Hi'), stream_options: { include_usage: true } })
      .on('content', (delta) => pieces.push(delta))
      .finalChatCompletion()
    expect(pieces).toEqual(['one ', 'two ', 'three'])
    expect(completion).toMatchObject({
      model: vendor.model,
      choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'one two three' } }],
      usage: { prompt_tokens: expect.any(Number), cost_usd: expect.any(Number) },
    })
  })

  test.each([['whole', false] as const, ['streamed', true] as const])(
    'runs parallel tool calls: %s',
    async (_name, isStream) => {
      server.respondWith(vendor.say({ toolCalls: weatherCalls }), vendor.say({ text: 'Mild in both.' }))
      const request = { ...ask('Weather?'), tools: [weatherFunction] }
      const runner = isStream
        ? client.chat.completions.runTools({ ...request, stream: true })
        : client.chat.completions.runTools(request)
      expect(await runner.finalContent()).toBe('Mild in both.')
      const roles = runner.messages.map(({ role }) => role)
      expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant'])
      expect(server.requests).toHaveLength(2)
      expect(lastRequestText(server)).toContain('18 degrees in Oslo')
      expect(lastRequestText(server)).toContain('18 degrees in Rome')
    },
  )

  test('parses a JSON answer', async () => {
    server.respondWith(vendor.say({ text: JSON.stringify(FILM) }))
    const completion = await client.chat.completions.parse({
      ...ask('Name a film.'),
      response_format: zodResponseFormat(Film, 'film'),
    })
    expect(completion.choices[0]?.message.parsed).toEqual(FILM)
    expect(lastRequestText(server)).toContain('director')
  })

  test('sends an image', async () => {
    server.respondWith(vendor.say({ text: 'Red.' }))
    await client.chat.completions.create({
      model: vendor.model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PNG_DATA_URI } },
          ],
        },
      ],
    })
    expect(lastRequestText(server)).toContain(PNG_BASE64)
  })

  test('reads the reasoning, complete and streamed', async () => {
    server.respondWith(vendor.say({ reasoning: 'Let me see.', text: 'Four.' }))
    const thinking = { ...ask('2 + 2?'), think: true }
    const { choices } = await client.chat.completions.create(thinking)
    expect(choices[0]?.message).toMatchObject({ content: 'Four.', reasoning_content: 'Let me see.' })

    const stream = await client.chat.completions.create({ ...thinking, stream: true })
    let reasoning = ''
    let content = ''
    for await (const chunk of stream) {
      const delta: { content?: string | null; reasoning_content?: string } = chunk.choices[0]?.delta ?? {}
      reasoning += delta.reasoning_content ?? ''
      content += delta.content ?? ''
    }
    expect([reasoning, content]).toEqual(['Let me see.', 'Four.'])
  })

  test.each([['whole', false] as const, ['assembled from a stream', true] as const])(
    'returns a signed thought with the result of a tool: %s',
    async (_name, isStream) => {
      const calling = { reasoning: 'Weather.', toolCalls: weatherCalls.slice(0, 1) }
      server.respondWith(vendor.say(calling), vendor.say({ text: 'Mild.' }))
      const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Oslo?' }]
      const request = { model: vendor.model, messages, tools: [WEATHER_TOOL], think: true }
      const { choices } = isStream
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request)
      const [choice] = choices
      const [call] = choice?.message.tool_calls ?? []
      if (!choice || !call) throw new Error('no tool was called')
      messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: '18 degrees' })
      const answer = await client.chat.completions.create(request)
      expect(answer.choices[0]?.message.content).toBe('Mild.')
      const sent = lastRequestText(server)
      expect(sent).toContain('Weather.')
      expect(sent.includes(SIGNATURE)).toBe(vendor.isReasoningSigned)
    },
  )

  test('continues a legacy prompt', async () => {
    server.respondWith(vendor.say({ text: ' a time' }))
    const completion = await client.completions.create({ model: vendor.model, prompt: 'Once upon' })
    expect(completion).toMatchObject({
      object: 'text_completion',
      choices: [{ text: expect.stringContaining('a time') }],
    })
    const stream = await client.completions.create({ model: vendor.model, prompt: 'Once upon', stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    expect(text).toContain('a time')
  })

  test('gets the reason of a refused request', async () => {
    server.respondWith(vendor.refuse(400, 'This image is too wide.'))
    const call = client.chat.completions.create(ask('Hi'))
    await expect(call).rejects.toBeInstanceOf(BadRequestError)
    await expect(call).rejects.toMatchObject({
      code: 'invalid_request',
      message: '400 This image is too wide.',
    })
  })

  test('does not see what concerns only the operator', async () => {
    server.respondWith(vendor.refuse(401, 'Your key sk-secret is wrong.'))
    const call = client.chat.completions.create(ask('Hi'))
    await expect(call).rejects.toBeInstanceOf(InternalServerError)
    await expect(call).rejects.toMatchObject({
      status: 502,
      code: 'provider_error',
      message: expect.not.stringContaining('sk-secret'),
    })
  })

  test('disconnects mid-stream, which ends it at the vendor too', async () => {
    server.respondWith(vendor.stall('Hello '))
    const stream = await client.chat.completions.create({ ...ask('Hi'), stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    await server.requests.at(-1)?.abandoned
    expect(server.requests).toHaveLength(1)
  })
})
