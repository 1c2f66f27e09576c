import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import {
  collect,
  complete,
  createCall,
  deltasOf,
  failureOf,
  openStream,
} from '../../../../tests/upstreams/call-provider.ts'
import {
  googleBlockedPrompt,
  googleBody,
  googleChunk,
  googleContent,
  googleStream,
  startGoogleServer,
} from '../../../../tests/upstreams/google-server.ts'
import type { ScriptedServer } from '../../../../tests/upstreams/scripted-server.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { InferenceCall, Provider } from '../../provider.ts'
import { createGoogleProvider } from './google-provider.ts'

let server: ScriptedServer
let provider: Provider

beforeAll(async () => {
  server = await startGoogleServer()
})

beforeEach(() => {
  server.requests.length = 0
  server.respondWith(googleContent([{ text: 'Hello there' }]))
  provider = createGoogleProvider({ apiKeys: ['AIza-1'], baseUrl: server.baseUrl })
})

afterAll(async () => {
  await server.close()
})

function callGemini(body: Partial<ChatRequest>, upstreamModel = 'gemini-3.6-flash'): InferenceCall {
  return createCall(body, { upstreamModel })
}

const sentBody = () => server.requests.at(-1)?.body

const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

describe('tool use with Google', () => {
  const calls = [
    {
      functionCall: { id: 'fc-1', name: 'get_weather', args: { city: 'Oslo' } },
      thoughtSignature: 'CrsBAdHt',
    },
    { functionCall: { id: 'fc-2', name: 'get_weather', args: { city: 'Rome' } } },
  ]

  test('returns parallel calls with the signature of their reasoning', async () => {
    server.respondWith(googleContent(calls))
    const first = await complete(provider, callGemini({ tools: [weatherTool] }))
    const message = first.choices[0]?.message
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    expect(message?.tool_calls).toEqual([
      {
        id: 'fc-1',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
        extra_content: { google: { thought_signature: 'CrsBAdHt' } },
      },
      { id: 'fc-2', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
    ])
    const messages = [
      { role: 'user' as const, content: 'Weather?' },
      message,
      { role: 'tool' as const, tool_call_id: 'fc-1', content: '4 °C' },
      { role: 'tool' as const, tool_call_id: 'fc-2', content: '18 °C' },
    ]
    await complete(provider, callGemini({ messages: messages as never, tools: [weatherTool] }))
    expect(sentBody()).toMatchObject({
      contents: [
        { role: 'user' },
        { role: 'model', parts: calls },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'fc-1', name: 'get_weather', response: { content: '4 °C' } } },
            { functionResponse: { id: 'fc-2', name: 'get_weather', response: { content: '18 °C' } } },
          ],
        },
      ],
    })
  })

  test('streams calls in fragments and keeps the signature', async () => {
    server.respondWith(
      googleStream([
        googleChunk([{ text: 'Looking it up.', thought: true }], { finishReason: undefined }),
        googleChunk(calls, { finishReason: undefined }),
        googleChunk([{ text: '' }], {
          usageMetadata: {
            promptTokenCount: 30,
            cachedContentTokenCount: 10,
            candidatesTokenCount: 8,
            thoughtsTokenCount: 12,
            totalTokenCount: 50,
          },
        }),
      ]),
    )
    const { chunks, error } = await collect(
      await openStream(provider, callGemini({ tools: [weatherTool], think: true })),
    )
    expect(error).toBeUndefined()
    expect(server.requests[0]?.path).toBe('/v1beta/models/gemini-3.6-flash:streamGenerateContent?alt=sse')
    expect(deltasOf(chunks)).toEqual([
      { reasoning_content: 'Looking it up.' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'fc-1',
            type: 'function',
            function: { name: 'get_weather', arguments: '' },
            extra_content: { google: { thought_signature: 'CrsBAdHt' } },
          },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }] },
      {
        tool_calls: [
          { index: 1, id: 'fc-2', type: 'function', function: { name: 'get_weather', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 1, function: { arguments: '{"city":"Rome"}' } }] },
    ])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 30,
      completion_tokens: 20,
      total_tokens: 50,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 12 },
    })
  })
})

describe('an answer of Google', () => {
  test('separates reasoning from text, keeps the text signature, and counts cached and reasoning tokens', async () => {
    server.respondWith(
      googleContent(
        [
          { text: 'Two and two.', thought: true },
          { text: 'Four.', thoughtSignature: 'Ck4B' },
        ],
        {
          usageMetadata: {
            promptTokenCount: 30,
            cachedContentTokenCount: 10,
            candidatesTokenCount: 8,
            thoughtsTokenCount: 12,
            totalTokenCount: 50,
          },
        },
      ),
    )
    const answer = await complete(provider, callGemini({ think: true }))
    expect(answer.choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'Four.',
      refusal: null,
      reasoning_content: 'Two and two.',
      extra_content: { google: { thought_signature: 'Ck4B' } },
    })
    expect(answer.usage).toMatchObject({
      prompt_tokens: 30,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 12 },
    })
    const messages = [
      { role: 'user' as const, content: 'Hi' },
      answer.choices[0]?.message,
      { role: 'user', content: 'More' },
    ]
    await complete(provider, callGemini({ messages: messages as never }))
    expect(sentBody()).toMatchObject({
      contents: [{}, { parts: [{ thought: true }, { text: 'Four.', thoughtSignature: 'Ck4B' }] }, {}],
    })
  })

  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['OTHER', 'stop'],
  ])(
    'an answer of Google that ended with %s has finish reason %s, streamed or not',
    async (googleReason, finishReason) => {
      server.respondWith(googleContent([{ text: 'x' }], { finishReason: googleReason }))
      const answer = await complete(provider, callGemini({}))
      expect(answer.choices[0]?.finish_reason).toBe(finishReason)
      server.respondWith(googleStream([googleChunk([{ text: 'x' }], { finishReason: googleReason })]))
      const { chunks } = await collect(await openStream(provider, callGemini({})))
      expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe(finishReason)
    },
  )

  test('an answer of Google that was a blocked prompt is a refusal of the request, streamed or not', async () => {
    const expected = {
      failure: 'status',
      status: 400,
      upstreamCode: 'prompt_blocked',
      upstreamMessage: expect.stringContaining('PROHIBITED_CONTENT'),
      isRetryable: false,
    }
    server.respondWith(googleBody(googleBlockedPrompt('PROHIBITED_CONTENT')))
    expect(await failureOf(complete(provider, callGemini({})))).toMatchObject(expected)
    server.respondWith(googleStream([googleBlockedPrompt('PROHIBITED_CONTENT')]))
    expect(await failureOf(openStream(provider, callGemini({})))).toMatchObject(expected)
  })

  test('with a malformed function call or without content is an invalid answer that may be retried', async () => {
    server.respondWith(googleContent([], { finishReason: 'MALFORMED_FUNCTION_CALL' }))
    expect(await failureOf(complete(provider, callGemini({})))).toMatchObject({
      failure: 'invalid_answer',
      upstreamCode: 'MALFORMED_FUNCTION_CALL',
      isRetryable: true,
    })
    server.respondWith(googleBody({}))
    expect(await failureOf(complete(provider, callGemini({})))).toMatchObject({ failure: 'invalid_answer' })
  })
})
