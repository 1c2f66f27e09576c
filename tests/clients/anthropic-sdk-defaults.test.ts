import Anthropic, { betaRefusalFallbackMiddleware } from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startNativeGateway, type NativeGateway } from '../messages/start-native-gateway.ts'
import {
  anthropicBlock,
  anthropicMessage,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
  anthropicTextEvents,
} from '../upstreams/anthropic-server.ts'
import { completion } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'

let gateway: NativeGateway
let client: Anthropic

beforeAll(async () => {
  gateway = await startNativeGateway()
  client = clientWith()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.anthropic.requests.length = 0
})

const clientWith = (middleware: Anthropic['middleware'] = []): Anthropic =>
  new Anthropic({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0, middleware })

const asked = { max_tokens: 1_000, messages: [{ role: 'user' as const, content: 'Weather in Paris?' }] }

function weatherTool(calls: unknown[]) {
  return betaTool({
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: (input) => {
      calls.push(input)
      return 'Sunny, 21 degrees'
    },
  })
}

const TEXT = 'It is sunny.'
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } }

function callReply(stream: boolean): ScriptedReply {
  if (!stream) return anthropicMessage({ content: [CALL], stop_reason: 'tool_use' })
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(CALL.input) }
  const block = anthropicBlock(0, { ...CALL, input: {} }, [delta])
  return anthropicStream([anthropicMessageStart(), ...block, ...anthropicMessageEnd('tool_use')])
}

const textReply = (stream: boolean): ScriptedReply =>
  stream
    ? anthropicStream(anthropicTextEvents(TEXT))
    : anthropicMessage({ content: [{ type: 'text', text: TEXT }] })

describe('a tool runner of Anthropic’s SDK, which asks for a thread by default,', () => {
  test.each([
    ['whole answers', false],
    ['streams', true],
  ])('goes on without one and runs the tools: %s', async (_name, stream) => {
    const calls: unknown[] = []
    gateway.anthropic.respondWith(callReply(stream), textReply(stream))
    const runner = client.beta.messages.toolRunner({
      ...asked,
      model: 'claude',
      tools: [weatherTool(calls)],
      stream,
    })
    const final = await runner
    expect(calls).toEqual([{ city: 'Paris' }])
    expect(final).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: TEXT }] })
    // The whole conversation is sent, and no thread reaches the vendor.
    expect(gateway.anthropic.requests).toHaveLength(2)
    for (const { body } of gateway.anthropic.requests) expect(body).not.toHaveProperty('thread')
    expect(gateway.anthropic.requests[1]?.body).toMatchObject({ messages: [{}, {}, { role: 'user' }] })
  })

  test('runs the tools of a translated model', async () => {
    const calls: unknown[] = []
    const tool_calls = [
      { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
    ]
    gateway.upstream.respondWith(
      completion({ message: { content: null, tool_calls } }),
      completion({ message: { content: TEXT } }),
    )
    const runner = client.beta.messages.toolRunner({
      ...asked,
      model: 'gpt-4o-mini',
      tools: [weatherTool(calls)],
    })
    expect(await runner).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: TEXT }] })
    expect(calls).toEqual([{ city: 'Rome' }])
  })
})

test('a thread that an application asks for itself is refused with the SDK’s own error', async () => {
  const thread = client.beta.messages.thread({ model: 'claude', max_tokens: 100 })
  const error = await thread.send({ role: 'user', content: 'Hi' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError)
  expect(error).toMatchObject({
    status: 400,
    errorCode: 'thread_unsupported_request',
    details: { unsupported: ['thread'] },
  })
  expect(gateway.anthropic.requests).toHaveLength(0)
})

test('a refusal goes to the fallback model of the SDK’s middleware, and no credit is redeemed', async () => {
  const refused = anthropicMessage({
    content: [],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: 'cyber', fallback_credit_token: 'credit_1' },
  })
  gateway.anthropic.respondWith(refused, textReply(false))
  const message = await clientWith([
    betaRefusalFallbackMiddleware([{ model: 'either' }]),
  ]).beta.messages.create({
    ...asked,
    model: 'claude',
  })
  expect(message.content.at(-1)).toMatchObject({ type: 'text', text: TEXT })
  expect(gateway.anthropic.requests).toHaveLength(2)
  expect(gateway.anthropic.requests[1]?.body).not.toHaveProperty('fallback_credit_token')
})
