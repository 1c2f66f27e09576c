import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { complete, createCall } from '../../../../tests/upstreams/call-provider.ts'
import { googleContent, startGoogleServer } from '../../../../tests/upstreams/google-server.ts'
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

describe('a request to Google', () => {
  test('has the key, and the model in its path', async () => {
    await complete(provider, callGemini({}))
    expect(server.requests[0]).toMatchObject({
      path: '/v1beta/models/gemini-3.6-flash:generateContent',
      headers: { 'x-goog-api-key': 'AIza-1' },
      body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    })
  })

  test('has instructions, turns, images, audio, video and files', async () => {
    await complete(
      provider,
      callGemini({
        messages: [
          { role: 'user', content: 'Look' },
          { role: 'assistant', content: 'At what?', reasoning_content: 'Nothing here.' },
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/4AA=' } },
              { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
              { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
              { type: 'video_url', video_url: { url: 'https://youtu.be/abc' } },
              { type: 'file', file: { filename: 'paper.pdf', file_data: 'JVBERi0=' } },
            ],
          },
        ],
      }),
    )
    expect(sentBody()).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: [{ text: 'Nothing here.', thought: true }, { text: 'At what?' }] },
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'image/jpeg', data: '/9j/4AA=' } },
            { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/cat.png' } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/abc' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
          ],
        },
      ],
    })
  })

  test('has sampling, at most five stop sequences and a seed that fits', async () => {
    await complete(
      provider,
      callGemini({
        max_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        presence_penalty: 0.5,
        frequency_penalty: 0.25,
        seed: 2 ** 31 + 5,
        stop: ['1', '2', '3', '4', '5', '6'],
        logprobs: true,
        user: 'user-1',
      }),
    )
    expect(sentBody()).toMatchObject({
      generationConfig: {
        maxOutputTokens: 50,
        temperature: 0.5,
        topP: 0.9,
        presencePenalty: 0.5,
        frequencyPenalty: 0.25,
        seed: 5,
        stopSequences: ['1', '2', '3', '4', '5'],
      },
    })
    await complete(provider, callGemini({ stop: 'END' }))
    expect(sentBody()).toMatchObject({ generationConfig: { stopSequences: ['END'] } })
  })

  test.each([
    ['none', { mode: 'NONE' }],
    ['auto', { mode: 'AUTO' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function' as const, function: { name: 'get_weather' } },
      { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
    ],
  ] as const)('translates tools and the tool choice %j', async (toolChoice, expected) => {
    await complete(provider, callGemini({ tools: [weatherTool], tool_choice: toolChoice }))
    expect(sentBody()).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            {
              name: 'get_weather',
              description: 'The weather in a city.',
              parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: expected },
    })
  })

  test('asks for JSON by schema, by type, and in words if there are tools', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } }
    await complete(
      provider,
      callGemini({ response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
    )
    expect(sentBody()).toMatchObject({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    })
    await complete(provider, callGemini({ response_format: { type: 'json_object' } }))
    expect(sentBody()).toMatchObject({ generationConfig: { responseMimeType: 'application/json' } })
    await complete(provider, callGemini({ response_format: { type: 'json_object' }, tools: [weatherTool] }))
    expect(sentBody()).toMatchObject({
      systemInstruction: { parts: [{ text: expect.stringContaining('JSON object') }] },
      generationConfig: expect.not.objectContaining({ responseMimeType: expect.anything() }),
    })
  })

  test('asks for reasoning by level or by budget, as the model supports', async () => {
    await complete(provider, callGemini({ reasoning_effort: 'low' }))
    expect(sentBody()).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' } },
    })
    await complete(provider, callGemini({ think: true }, 'gemini-2.5-pro'))
    expect(sentBody()).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: expect.any(Number) } },
    })
    await complete(provider, callGemini({ think: false }, 'gemini-2.5-flash'))
    expect(sentBody()).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } })
    await complete(
      provider,
      createCall({ think: true }, { upstreamModel: 'gemini-2.5-pro', canReason: false }),
    )
    expect(sentBody()).not.toHaveProperty('generationConfig.thinkingConfig')
  })
})
