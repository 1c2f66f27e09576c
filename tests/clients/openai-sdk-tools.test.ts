import OpenAI from 'openai'
import { zodFunction } from 'openai/helpers/zod'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import {
  describeWeather,
  WEATHER_TOOL,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'

const MODEL = 'gpt-4o-mini'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
})

const ask = (content: string) => ({ role: 'user' as const, content })

const weatherFunction = zodFunction({
  name: WEATHER_TOOL_NAME,
  description: WEATHER_TOOL_DESCRIPTION,
  parameters: WeatherArguments,
  function: describeWeather,
})

describe('tools with the OpenAI SDK', () => {
  test('the model calls a tool, gets its result, and uses it in the answer', async () => {
    const messages: ChatCompletionMessageParam[] = [ask('What is the weather in Paris?')]
    const calling = await client.chat.completions.create({ model: MODEL, messages, tools: [WEATHER_TOOL] })
    const [choice] = calling.choices
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          { type: 'function', function: { name: WEATHER_TOOL_NAME, arguments: '{"city":"Paris"}' } },
        ],
      },
    })
    if (!choice) throw new Error('no choice came')
    messages.push(choice.message)
    for (const { id } of choice.message.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: id, content: describeWeather({ city: 'Paris' }) })
    }
    const answer = await client.chat.completions.create({ model: MODEL, messages, tools: [WEATHER_TOOL] })
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.choices[0]?.message.content).toContain('18 degrees in Paris')
  })

  test('parallel calls have their own ids, and parallel_tool_calls: false allows one', async () => {
    const request = {
      model: MODEL,
      messages: [ask('get_weather for Paris and London')],
      tools: [WEATHER_TOOL],
    }
    const { choices } = await client.chat.completions.create(request)
    const calls = choices[0]?.message.tool_calls ?? []
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
      '{"city":"Paris"}',
      '{"city":"London"}',
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)

    const one = await client.chat.completions.create({ ...request, parallel_tool_calls: false })
    expect(one.choices[0]?.message.tool_calls).toHaveLength(1)
  })

  test('streamed parallel calls are assembled by the helper', async () => {
    const events: [number, string][] = []
    const stream = client.chat.completions
      .stream({ model: MODEL, messages: [ask('get_weather for Paris and London')], tools: [WEATHER_TOOL] })
      .on('tool_calls.function.arguments.done', ({ index, arguments: text }) => events.push([index, text]))
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { id: expect.stringMatching(/./), type: 'function', function: { name: WEATHER_TOOL_NAME } },
      { id: expect.stringMatching(/./), type: 'function', function: { name: WEATHER_TOOL_NAME } },
    ])
    expect(events).toEqual([
      [0, '{"city":"Paris"}'],
      [1, '{"city":"London"}'],
    ])
  })

  test('parse turns the arguments of a strict tool into values', async () => {
    const completion = await client.chat.completions.parse({
      model: MODEL,
      messages: [ask('What is the weather in Paris?')],
      tools: [weatherFunction],
    })
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { function: { name: WEATHER_TOOL_NAME, parsed_arguments: { city: 'Paris' } } },
    ])
  })

  test.each([
    ['required', 'required' as const],
    ['a named function', { type: 'function' as const, function: { name: WEATHER_TOOL_NAME } }],
  ])('tool_choice %s makes the model call a tool it would not have called', async (_name, tool_choice) => {
    const request = { model: MODEL, messages: [ask('Hello.')], tools: [WEATHER_TOOL] }
    const free = await client.chat.completions.create(request)
    expect(free.choices[0]?.message.tool_calls).toBeUndefined()
    const forced = await client.chat.completions.create({ ...request, tool_choice })
    expect(forced.choices[0]?.message.tool_calls).toHaveLength(1)
  })

  test('tool_choice none prevents tool calls', async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages: [ask('What is the weather in Paris?')],
      tools: [WEATHER_TOOL],
      tool_choice: 'none',
    })
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringMatching(/./) },
    })
    expect(choices[0]?.message.tool_calls).toBeUndefined()
  })

  test.each([['whole', false] as const, ['streamed', true] as const])(
    'runTools runs the tools and returns the final answer: %s',
    async (_name, isStream) => {
      const request = {
        model: MODEL,
        messages: [ask('get_weather for Paris and London')],
        tools: [weatherFunction],
      }
      const runner = isStream
        ? client.chat.completions.runTools({ ...request, stream: true })
        : client.chat.completions.runTools(request)
      const answer = await runner.finalContent()
      expect(answer).toContain('18 degrees in Paris')
      expect(answer).toContain('18 degrees in London')
      expect(runner.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
        'assistant',
      ])
    },
  )
})
