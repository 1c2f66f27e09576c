import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, isStepCount, Output, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { collect } from './collect.ts'
import { createAccountKey, createKey } from './create-key.ts'
import { createRecordingFetch } from './recording-fetch.ts'
import {
  describeWeather,
  Film,
  PNG_BASE64,
  WEATHER_TOOL_DESCRIPTION,
  WeatherArguments,
} from './sample-inputs.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

function connect(settings: { apiKey?: string; fetch?: typeof fetch } = {}) {
  return createOpenAICompatible({
    name: 'parkway',
    baseURL: `${gateway.baseUrl}/v1`,
    apiKey: gateway.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...settings,
  })
}

const chatModel = () => connect()('gpt-4o-mini')
const reasoningModel = () => connect()('gpt-5.6')

const tools = {
  get_weather: tool({
    description: WEATHER_TOOL_DESCRIPTION,
    inputSchema: WeatherArguments,
    execute: async (input) => describeWeather(input),
  }),
}

describe('text with the AI SDK', () => {
  test('generateText returns the answer, its finish reason and its usage', async () => {
    const result = await generateText({
      model: chatModel(),
      system: 'Be brief.',
      prompt: '[[sandbox:echo Hello, Ada.]]',
      temperature: 0.5,
      maxOutputTokens: 100,
      seed: 7,
    })
    expect(result.text).toBe('Hello, Ada.')
    expect(result.finishReason).toBe('stop')
    expect(result.response.modelId).toBe('gpt-4o-mini')
    expect(result.response.headers).toMatchObject({ 'x-gateway-provider': 'sandbox' })
    expect(result.usage.inputTokens).toBeGreaterThan(0)
    expect(result.usage.outputTokens).toBeGreaterThan(0)
    expect(result.warnings ?? []).toEqual([])
    expect(result.usage.raw).toHaveProperty('cost_usd', expect.any(Number))
  })

  test('streamText yields the text in pieces and then the usage', async () => {
    const result = streamText({ model: chatModel(), prompt: '[[sandbox:echo one two three]]' })
    const pieces = await collect(result.textStream)
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe('one two three')
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).outputTokens).toBeGreaterThan(0)
    expect((await result.usage).inputTokens).toBeGreaterThan(0)
  })

  test('an answer cut by its limit says so', async () => {
    const { finishReason } = await generateText({ model: chatModel(), prompt: 'Hi', maxOutputTokens: 2 })
    expect(finishReason).toBe('length')
  })

  test('the legacy completion model continues a prompt', async () => {
    const model = connect().completionModel('gpt-4o-mini')
    expect((await generateText({ model, prompt: 'Once upon' })).text).not.toBe('')
    expect(await streamText({ model, prompt: 'Once upon' }).text).not.toBe('')
  })

  test('an image part reaches the model', async () => {
    const image = { type: 'file' as const, mediaType: 'image/png', data: Buffer.from(PNG_BASE64, 'base64') }
    const { text } = await generateText({
      model: chatModel(),
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }],
    })
    expect(text).toContain('3×2 pixels')
  })
})

describe('reasoning with the AI SDK', () => {
  test.each([
    ['think', { think: true }],
    ['reasoningEffort', { reasoningEffort: 'low' }],
  ])('is requested by the provider option %s, complete and streamed', async (_name, options) => {
    const request = { model: reasoningModel(), prompt: 'Hi', providerOptions: { parkway: options } }
    const result = await generateText(request)
    expect(result.reasoningText).toContain('“Hi”')
    expect(result.usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(0)
    const streamed = streamText(request)
    expect(await streamed.reasoningText).toContain('“Hi”')
    expect(await streamed.text).toBe(result.text)
  })
})

describe('tools with the AI SDK', () => {
  test.each([
    ['generateText', generateText],
    ['streamText', streamText],
  ])('%s runs parallel calls and answers in a second step', async (_name, run) => {
    const result = await run({
      model: chatModel(),
      prompt: 'get_weather for Paris and London',
      tools,
      stopWhen: isStepCount(5),
    })
    const text = await result.text
    expect(text).toContain('18 degrees in Paris')
    expect(text).toContain('18 degrees in London')
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]?.toolCalls).toMatchObject([
      { toolName: 'get_weather', input: { city: 'Paris' } },
      { toolName: 'get_weather', input: { city: 'London' } },
    ])
  })

  test('a forced tool is called', async () => {
    const { toolCalls } = await generateText({
      model: chatModel(),
      prompt: 'Hello.',
      tools,
      toolChoice: { type: 'tool', toolName: 'get_weather' },
    })
    expect(toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: expect.any(String) } }])
  })
})

describe('structured output with the AI SDK', () => {
  const output = Output.object({ schema: Film })

  test('generateText returns the object of the schema', async () => {
    const recording = createRecordingFetch()
    const model = connect({ fetch: recording.fetch })('gpt-4o-mini')
    const result = await generateText({ model, prompt: 'Name a film.', output })
    expect(Film.parse(result.output)).toEqual(result.output)
    expect(recording.exchanges[0]?.body.response_format.type).toBe('json_schema')
  })

  test('streamText builds it up', async () => {
    const result = streamText({ model: chatModel(), prompt: 'Name a film.', output })
    const partials = await collect(result.partialOutputStream)
    expect(partials.length).toBeGreaterThan(1)
    expect(partials.at(-1)).toEqual(Film.parse(await result.output))
  })
})

describe('failures with the AI SDK', () => {
  const failing = async (call: PromiseLike<unknown>): Promise<unknown> =>
    call.then(
      () => {
        throw new Error('expected the call to fail')
      },
      (error: unknown) => error,
    )

  test('an unknown model is an APICallError that is not retried', async () => {
    const recording = createRecordingFetch()
    const model = connect({ fetch: recording.fetch })('no-such-model')
    const error = await failing(generateText({ model, prompt: 'Hi', maxRetries: 3 }))
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({
      statusCode: 404,
      isRetryable: false,
      message: expect.stringContaining('no-such-model'),
      data: { error: { code: 'model_not_found', param: 'model' } },
    })
    expect(recording.statuses()).toEqual([404])
  })

  test('a 402 is not retried', async () => {
    const { key: apiKey } = await createAccountKey(gateway, { name: 'Penniless', credit_usd: 0 })
    const recording = createRecordingFetch()
    const model = connect({ apiKey, fetch: recording.fetch })('gpt-4o-mini')
    const error = await failing(generateText({ model, prompt: 'Hi', maxRetries: 3 }))
    expect(error).toMatchObject({ statusCode: 402, isRetryable: false })
    expect(recording.statuses()).toEqual([402])
  })

  test('a 429 is retried after its retry-after, and then succeeds', async () => {
    const apiKey = await createKey(gateway, { requests_per_minute: 60 })
    const { exchanges } = await firstLimitedCall(apiKey)
    expect(exchanges.map(({ status }) => status)).toEqual([429, 200])
    const retryAfterMs = Number(exchanges[0]?.headers.get('retry-after')) * 1000
    expect(Number(exchanges[1]?.sentMs) - Number(exchanges[0]?.sentMs)).toBeGreaterThanOrEqual(retryAfterMs)
  })

  /** Sends calls until the rate limit of the key refuses one, and returns that call. */
  async function firstLimitedCall(apiKey: string) {
    for (let used = 0; used < 1000; used += 1) {
      const recording = createRecordingFetch()
      const model = connect({ apiKey, fetch: recording.fetch })('gpt-4o-mini')
      await generateText({ model, prompt: '[[sandbox:echo Hello]]' })
      if (recording.statuses().includes(429)) return recording
    }
    throw new Error('no call was refused')
  }

  test('a stream that breaks in the middle ends with an error part', async () => {
    const result = streamText({
      model: chatModel(),
      prompt: '[[sandbox:cut after=3]] Hi',
      onError: () => {},
    })
    const parts = await collect(result.stream)
    expect(parts.filter(({ type }) => type === 'text-delta')).not.toEqual([])
    expect(parts.filter(({ type }) => type === 'error')).toHaveLength(1)
  })

  test("the caller's signal stops a stream", async () => {
    const controller = new AbortController()
    const result = streamText({
      model: chatModel(),
      prompt: '[[sandbox:endless]] Hi',
      abortSignal: controller.signal,
    })
    const types: string[] = []
    for await (const { type } of result.stream) {
      types.push(type)
      if (type === 'text-delta') controller.abort()
    }
    expect(types.at(-1)).toBe('abort')
  })
})
