import type { BaseMessageLike } from '@langchain/core/messages'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, ChatOpenAICompletions, OpenAI, type ChatOpenAIFields } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { collect } from './collect.ts'
import { createAccountKey, createKey } from './create-key.ts'
import { createRecordingFetch } from './recording-fetch.ts'
import {
  describeWeather,
  Film,
  PNG_DATA_URI,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'

const MODEL = 'gpt-4o-mini'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

function connect(fields: ChatOpenAIFields = {}): ChatOpenAI {
  const { configuration, ...rest } = fields
  return new ChatOpenAI({
    model: MODEL,
    apiKey: gateway.key,
    maxRetries: 0,
    configuration: { baseURL: `${gateway.baseUrl}/v1`, ...configuration },
    ...rest,
  })
}

const isPositive = (value: unknown): boolean => typeof value === 'number' && value > 0

const weatherTool = tool(describeWeather, {
  name: WEATHER_TOOL_NAME,
  description: WEATHER_TOOL_DESCRIPTION,
  schema: WeatherArguments,
})

describe('a chat model of LangChain', () => {
  test('invoke returns the answer, its model and its token usage', async () => {
    const message = await connect({ temperature: 0.5, maxTokens: 100 }).invoke([
      ['system', 'Be brief.'],
      ['human', '[[sandbox:echo Hello, Ada.]]'],
    ])
    expect(message.text).toBe('Hello, Ada.')
    expect(message.response_metadata).toMatchObject({ model_name: MODEL, finish_reason: 'stop' })
    expect(message).toHaveProperty('usage_metadata.input_tokens', expect.toSatisfy(isPositive))
    expect(message).toHaveProperty('usage_metadata.output_tokens', expect.toSatisfy(isPositive))
  })

  test('stream yields pieces that add up to the answer with its usage', async () => {
    const chunks = await collect(await connect().stream('[[sandbox:echo one two three]]'))
    expect(chunks.filter(({ text }) => text !== '').length).toBeGreaterThan(1)
    const [first, ...others] = chunks
    const whole = others.reduce((sum, chunk) => sum?.concat(chunk), first)
    expect(whole?.text).toBe('one two three')
    expect(whole?.response_metadata).toMatchObject({ finish_reason: 'stop', model_name: MODEL })
    expect(whole).toHaveProperty('usage_metadata.total_tokens', expect.toSatisfy(isPositive))
  })

  test('batch answers every input in order', async () => {
    const texts = ['one', 'two', 'three']
    const messages = await connect().batch(texts.map((text) => `[[sandbox:echo ${text}]]`))
    expect(messages.map(({ text }) => text)).toEqual(texts)
  })

  test('callbacks get the tokens as they arrive and the token count at the end', async () => {
    const tokens: string[] = []
    const usages: unknown[] = []
    const callbacks = [
      {
        handleLLMNewToken: (token: string) => void tokens.push(token),
        handleLLMEnd: (output: { llmOutput?: Record<string, unknown> | undefined }) =>
          void usages.push(output.llmOutput?.['tokenUsage']),
      },
    ]
    await connect().invoke('[[sandbox:echo one two three]]', { callbacks })
    expect(usages).toEqual([
      {
        promptTokens: expect.any(Number),
        completionTokens: expect.any(Number),
        totalTokens: expect.any(Number),
      },
    ])
    await collect(await connect().stream('[[sandbox:echo one two three]]', { callbacks }))
    expect(tokens.join('')).toBe('one two three')
  })

  test('an image part reaches the model', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: PNG_DATA_URI } },
    ]
    const { text } = await connect().invoke([new HumanMessage({ content })])
    expect(text).toContain('3×2 pixels')
  })

  test('reasoning is requested by its effort or by think, and kept beside the answer', async () => {
    const model = 'gpt-5.4'
    const byEffort = await connect({ model, reasoning: { effort: 'low' } }).invoke('Hi')
    expect(byEffort.additional_kwargs['reasoning_content']).toContain('“Hi”')
    expect(byEffort).toHaveProperty(
      'usage_metadata.output_token_details.reasoning',
      expect.toSatisfy(isPositive),
    )
    const byThink = await connect({ model, modelKwargs: { think: true } }).invoke('Hi')
    expect(byThink.additional_kwargs['reasoning_content']).toContain('“Hi”')
  })

  // For some of OpenAI's models, ChatOpenAI uses the Responses API instead of chat completions.
  test('the completions class reaches models that ChatOpenAI would call over another API', async () => {
    const model = new ChatOpenAICompletions({
      model: 'gpt-5.6',
      apiKey: gateway.key,
      configuration: { baseURL: `${gateway.baseUrl}/v1` },
    })
    expect((await model.invoke('[[sandbox:echo Hello]]')).text).toBe('Hello')
  })

  test('a legacy completion model continues a prompt', async () => {
    const model = new OpenAI({
      model: 'codestral-2508',
      apiKey: gateway.key,
      configuration: { baseURL: `${gateway.baseUrl}/v1` },
    })
    expect(await model.invoke('Once upon')).not.toBe('')
    expect((await collect(await model.stream('Once upon'))).join('')).not.toBe('')
  })
})

describe('tools of LangChain', () => {
  test('the model calls the tools bound to it and answers with their results', async () => {
    const model = connect().bindTools([weatherTool])
    const messages: BaseMessageLike[] = [['human', 'get_weather for Paris and London']]
    const calling = await model.invoke(messages)
    expect(calling.tool_calls).toMatchObject([
      { name: WEATHER_TOOL_NAME, args: { city: 'Paris' }, id: expect.any(String) },
      { name: WEATHER_TOOL_NAME, args: { city: 'London' }, id: expect.any(String) },
    ])
    messages.push(calling)
    for (const call of calling.tool_calls ?? []) {
      const result: unknown = await weatherTool.invoke({ ...call, type: 'tool_call' })
      if (!(result instanceof ToolMessage)) throw new Error('the tool gave no message')
      messages.push(result)
    }
    const answer = await model.invoke(messages)
    expect(answer.text).toContain('18 degrees in Paris')
    expect(answer.text).toContain('18 degrees in London')
  })

  test('streamed calls add up', async () => {
    const stream = await connect().bindTools([weatherTool]).stream('get_weather for Paris and London')
    const [first, ...others] = await collect(stream)
    const whole = others.reduce((sum, chunk) => sum?.concat(chunk), first)
    expect(whole?.tool_calls).toMatchObject([{ args: { city: 'Paris' } }, { args: { city: 'London' } }])
  })

  test('a forced tool is called', async () => {
    const model = connect().bindTools([weatherTool], { tool_choice: WEATHER_TOOL_NAME })
    expect((await model.invoke('Hello.')).tool_calls).toMatchObject([{ name: WEATHER_TOOL_NAME }])
  })
})

describe('structured output of LangChain', () => {
  test.each(['jsonSchema', 'functionCalling'] as const)(
    'structured output of LangChain by %s matches the schema',
    async (method) => {
      const film = await connect().withStructuredOutput(Film, { name: 'film', method }).invoke('Name a film.')
      expect(Film.parse(film)).toEqual(film)
    },
  )

  test('can be streamed', async () => {
    const films = await collect(
      await connect().withStructuredOutput(Film, { name: 'film' }).stream('Name one.'),
    )
    expect(Film.parse(films.at(-1))).toEqual(films.at(-1))
  })
})

describe('failures with LangChain', () => {
  test('an unknown model is not found, and not retried', async () => {
    const recording = createRecordingFetch()
    const model = connect({
      model: 'no-such-model',
      maxRetries: 3,
      configuration: { fetch: recording.fetch },
    })
    await expect(model.invoke('Hi')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
    expect(recording.statuses()).toEqual([404])
  })

  test('a 402 is not retried', async () => {
    const { key: apiKey } = await createAccountKey(gateway, { name: 'Penniless', credit_usd: 0 })
    const recording = createRecordingFetch()
    const model = connect({ apiKey, maxRetries: 3, configuration: { fetch: recording.fetch } })
    await expect(model.invoke('Hi')).rejects.toMatchObject({ status: 402, code: 'insufficient_balance' })
    expect(recording.statuses()).toEqual([402])
  })

  test('a 429 is retried until it succeeds', async () => {
    const apiKey = await createKey(gateway, { requests_per_minute: 60 })
    const statuses = (await firstLimitedCall(apiKey)).statuses()
    expect(statuses[0]).toBe(429)
    expect(statuses.at(-1)).toBe(200)
  })

  /** Sends calls until the rate limit of the key refuses one, and returns that call. */
  async function firstLimitedCall(apiKey: string) {
    for (let used = 0; used < 1000; used += 1) {
      const recording = createRecordingFetch()
      const model = connect({ apiKey, maxRetries: 6, configuration: { fetch: recording.fetch } })
      await model.invoke('[[sandbox:echo Hello]]')
      if (recording.statuses().includes(429)) return recording
    }
    throw new Error('no call was refused')
  }

  test('a stream that breaks in the middle throws the error', async () => {
    const reading = connect()
      .stream('[[sandbox:cut after=3]] Hi')
      .then((stream) => collect(stream))
    await expect(reading).rejects.toMatchObject({ code: 'provider_error' })
  })
})
