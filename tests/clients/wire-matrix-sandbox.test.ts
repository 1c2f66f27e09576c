import { APICallError, generateText, isStepCount, Output, streamText, tool, type LanguageModel } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import {
  describeWeather,
  PNG_BASE64,
  WEATHER_TOOL_DESCRIPTION,
  WEATHER_TOOL_NAME,
  WeatherArguments,
} from './sample-inputs.ts'
import { WIRE_CLIENTS } from './wire-matrix.ts'

const MODEL = 'claude-sonnet-5'
/** A schema without bounds, because one of the clients does not send bounds. */
const Film = z.object({ title: z.string(), genre: z.enum(['drama', 'western']) })
const tools = {
  [WEATHER_TOOL_NAME]: tool({
    description: WEATHER_TOOL_DESCRIPTION,
    inputSchema: WeatherArguments,
    execute: async (input) => describeWeather(input),
  }),
}

describe.each(WIRE_CLIENTS)('$client, with the sandbox behind', ({ connect, operation }) => {
  let gateway: TestGateway
  let model: LanguageModel

  beforeAll(async () => {
    gateway = await startTestGateway({ mayAnswerAnything: true })
    model = connect(gateway, MODEL)
  })

  afterAll(() => gateway.close())

  const ask = (prompt: string) => ({ model, prompt, maxRetries: 0 })

  async function lastRecord(outcome: string) {
    return eventually(async () => {
      const { body } = await gateway.request('GET', '/v1/usage/records?limit=1')
      expect(body.data[0]).toMatchObject({ operation, outcome })
      return body.data[0]
    })
  }

  test('answers complete and streamed, charged by the reported usage', async () => {
    const whole = await generateText(ask('[[sandbox:echo one two three]]'))
    const stream = streamText(ask('[[sandbox:echo one two three]]'))
    expect([whole.text, whole.finishReason]).toEqual(['one two three', 'stop'])
    expect([await stream.text, await stream.finishReason]).toEqual(['one two three', 'stop'])
    const { inputTokens, outputTokens } = await stream.usage
    expect(whole.usage).toMatchObject({ inputTokens, outputTokens })
    const record = await lastRecord('completed')
    expect([record.prompt_tokens, record.completion_tokens]).toEqual([inputTokens, outputTokens])
    expect(record.cost_usd).toBeGreaterThan(0)
  })

  test('calls a tool and answers with its result, complete and streamed', async () => {
    const asked = { ...ask('How is the weather in Oslo?'), tools, stopWhen: isStepCount(2) }
    const whole = await generateText(asked)
    const stream = streamText(asked)
    await stream.text
    for (const steps of [whole.steps, await stream.steps]) {
      expect(steps[0]?.finishReason).toBe('tool-calls')
      expect(steps[0]?.toolCalls[0]).toMatchObject({ toolName: WEATHER_TOOL_NAME })
      expect(steps[1]?.finishReason).toBe('stop')
    }
  })

  test('calls parallel tools, and answers with all of their results, complete and streamed', async () => {
    const asked = { ...ask('How is the weather in Oslo and Rome?'), tools, stopWhen: isStepCount(2) }
    const whole = await generateText(asked)
    const stream = streamText(asked)
    await stream.text
    for (const steps of [whole.steps, await stream.steps]) {
      expect(steps[0]?.toolCalls.map(({ input }) => input)).toMatchObject([
        { city: 'Oslo' },
        { city: 'Rome' },
      ])
      expect(new Set(steps[0]?.toolCalls.map(({ toolCallId }) => toolCallId)).size).toBe(2)
      for (const city of ['Oslo', 'Rome']) expect(steps[1]?.text).toContain(describeWeather({ city }))
    }
  })

  test('reasons, sees an image and follows a schema', async () => {
    const providerOptions = {
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } },
      openai: { reasoningSummary: 'auto', reasoningEffort: 'high', forceReasoning: true },
    }
    const thoughtful = await generateText({ ...ask('Why?'), maxOutputTokens: 4_096, providerOptions })
    expect(thoughtful.finalStep.reasoningText).toMatch(/./)
    const { output } = await generateText({
      model,
      maxRetries: 0,
      output: Output.object({ schema: Film }),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which film?' },
            { type: 'file', data: Buffer.from(PNG_BASE64, 'base64'), mediaType: 'image/png' },
          ],
        },
      ],
    })
    expect(Film.safeParse(output).success).toBe(true)
  })

  test('respects a limit and, if the wire has them, stop sequences', async () => {
    const limited = { ...ask('[[sandbox:tokens n=200]]'), maxOutputTokens: 20 }
    const stream = streamText(limited)
    await stream.text
    for (const { finishReason, usage } of [
      await generateText(limited),
      { finishReason: await stream.finishReason, usage: await stream.usage },
    ])
      expect([finishReason, usage.outputTokens]).toEqual(['length', 20])
    if (operation === 'responses') return
    const stopped = { ...ask('[[sandbox:echo one two three]]'), stopSequences: ['two'] }
    const { text, finishReason } = await generateText(stopped)
    expect([text.trim(), finishReason]).toEqual(['one', 'stop'])
  })

  test('fails before it begins and mid-stream', async () => {
    const refused = await generateText(ask('[[sandbox:error status=400]]')).catch((error) => error)
    expect(APICallError.isInstance(refused) && refused.statusCode).toBe(400)
    let failure: unknown = null
    let text = ''
    const stream = streamText({
      ...ask('[[sandbox:tokens n=50]] [[sandbox:cut after=5]]'),
      onError: () => {},
    })
    for await (const part of stream.fullStream) {
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'error') failure = part.error
    }
    expect([text === '', failure === null]).toEqual([false, false])
    expect((await lastRecord('failed')).cost_usd).toBeGreaterThan(0)
  })

  test('is stopped when the client disconnects mid-stream', async () => {
    const leaving = new AbortController()
    const asked = ask('[[sandbox:tokens n=500]] [[sandbox:pace tps=20]]')
    const stream = streamText({ ...asked, abortSignal: leaving.signal, onError: () => {} })
    for await (const part of stream.fullStream) if (part.type === 'text-delta') leaving.abort()
    const record = await lastRecord('disconnected')
    expect(record.cost_usd).toBeGreaterThan(0)
    expect(record.completion_tokens).toBeLessThan(500)
  })
})
