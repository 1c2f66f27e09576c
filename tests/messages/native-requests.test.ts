import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { anthropicError, anthropicMessage } from '../upstreams/anthropic-server.ts'
import type { RecordedRequest } from '../upstreams/scripted-server.ts'
import { MESSAGES, messagesBody } from './start-messages-gateway.ts'
import { ANTHROPIC_KEY, startNativeGateway, type NativeGateway } from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.anthropic.requests.length = 0
  gateway.upstream.requests.length = 0
  gateway.anthropic.respondWith(anthropicMessage({ content: [{ type: 'text', text: 'Hello there' }] }))
})

const send = (members: object = {}, headers: Record<string, string> = {}) =>
  gateway.request('POST', MESSAGES, { body: messagesBody({ model: 'claude', ...members }), headers })

const user = (content: readonly object[]) => ({ messages: [{ role: 'user', content }] })

async function sent(): Promise<RecordedRequest> {
  return gateway.anthropic.requestNumber(0)
}

describe('a request of Anthropic’s wire, for Anthropic', () => {
  test('is passed byte for byte except for the model', async () => {
    const text =
      '{ "model":"claude", "max_tokens":100,\n "future":{"a":[1.0, 2e3]}, "top_k":5,' +
      '"system":[{"type":"text","text":"Be brief","cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
      '"messages":[{"role":"user","content":[{"type":"hologram","depth":3},{"type":"text","text":"é"}]}]}'
    const { status } = await gateway.request('POST', MESSAGES, { body: text })
    expect(status).toBe(200)
    const { path, text: arrived } = await sent()
    expect(path).toBe('/v1/messages')
    expect(arrived).toBe(
      text.replace('"model":"claude", ', '"model":"claude-upstream",').replace('{ "', '{"'),
    )
  })

  test('has its own version and betas, and only the key of the operator', async () => {
    const beta = 'context-management-2025-06-27,  made-up-2031-01-01'
    await send({}, { 'anthropic-version': '2099-12-31', 'anthropic-beta': beta, 'x-api-key': gateway.key })
    const { headers } = await sent()
    expect(headers).toMatchObject({
      'anthropic-version': '2099-12-31',
      'anthropic-beta': beta,
      'x-api-key': ANTHROPIC_KEY,
    })
    expect(headers['authorization']).toBeUndefined()
  })

  test('has a version even if the client names none', async () => {
    await send()
    expect((await sent()).headers['anthropic-version']).toBe('2023-06-01')
  })

  test('keeps tools that a client runs, with their Anthropic-specific members', async () => {
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'computer_20251124', name: 'computer', display_width_px: 800, display_height_px: 600 },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { name: 'look', input_schema: { type: 'object' }, defer_loading: true },
    ]
    expect((await send({ tools })).status).toBe(200)
    expect((await sent()).body).toMatchObject({ tools })
  })

  test('removes unsigned reasoning, which Anthropic would refuse', async () => {
    const signed = { type: 'thinking', thinking: 'Mine', signature: 'sig' }
    await send({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Another’s', signature: '' }] },
        { role: 'assistant', content: [signed, { type: 'text', text: 'Yes' }] },
        { role: 'user', content: 'Go on' },
      ],
    })
    expect((await sent()).body).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [signed, { type: 'text', text: 'Yes' }] },
        { role: 'user', content: 'Go on' },
      ],
    })
  })
})

describe('what is billed besides the tokens, or is stored in the operator’s account,', () => {
  const tool = (type: string) => ({ tools: [{ type, name: 'it' }] })
  test.each([
    ['a search of the web', tool('web_search_20250305'), 'tools.0.type'],
    ['a fetch from the web', tool('web_fetch_20260318'), 'tools.0.type'],
    ['code that runs there', tool('code_execution_20260521'), 'tools.0.type'],
    ['a tool that nobody knows yet', tool('teleport_20310101'), 'tools.0.type'],
    ['an adviser', tool('advisor_20260301'), 'tools.0.type'],
    ['MCP servers', { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }, 'mcp_servers'],
    ['a container', { container: 'container_01' }, 'container'],
    ['a faster answer', { speed: 'fast' }, 'speed'],
    ['a region', { inference_geo: 'us' }, 'inference_geo'],
    ['another model to fall back on', { fallbacks: [{ model: 'claude-opus' }] }, 'fallbacks'],
    ['another tier', { service_tier: 'priority' }, 'service_tier'],
    [
      'a file',
      user([{ type: 'image', source: { type: 'file', file_id: 'file_01' } }]),
      'messages.0.content.0.source',
    ],
    [
      'a file in a result',
      user([
        {
          type: 'tool_result',
          tool_use_id: 't',
          content: [{ type: 'document', source: { type: 'file', file_id: 'file_01' } }],
        },
      ]),
      'messages.0.content.0.content.0.source',
    ],
    [
      'a mark of another vendor’s cache',
      user([{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }]),
      'messages.0.content.0.prompt_cache_breakpoint',
    ],
    [
      'a file of unknown use',
      user([{ type: 'container_upload', file_id: 'file_01' }]),
      'messages.0.content.0',
    ],
  ])('is refused: %s', async (_name, members, param) => {
    const { status, body } = await send(members)
    expect([status, body.error]).toEqual([
      400,
      { type: 'invalid_request_error', code: 'unsupported_parameter', param, message: expect.any(String) },
    ])
    expect(gateway.anthropic.requests).toHaveLength(0)
  })

  test('is not confused with the input of a tool', async () => {
    const call = { type: 'tool_use', id: 't', name: 'read', input: { file_id: 'mine' } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'done' }] },
    ]
    expect((await send({ messages })).status).toBe(200)
  })

  test('is passed with its usual value', async () => {
    expect((await send({ speed: 'standard', inference_geo: 'global', service_tier: 'auto' })).status).toBe(
      200,
    )
  })
})

describe('errors of Anthropic', () => {
  test.each([
    [400, 'invalid_request_error', 400, 'invalid_request_error', 'invalid_request'],
    [401, 'authentication_error', 502, 'api_error', 'provider_error'],
    [413, 'request_too_large', 413, 'request_too_large', 'request_too_large'],
    [429, 'rate_limit_error', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [529, 'overloaded_error', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [500, 'api_error', 502, 'api_error', 'provider_error'],
  ])('%i %s becomes %i %s', async (status, type, ownStatus, ownType, code) => {
    gateway.anthropic.respondWith(
      anthropicError(status, type, `for ${ANTHROPIC_KEY} it is wrong`, { 'retry-after': '7' }),
    )
    const answer = await send()
    expect([answer.status, answer.body.error.type, answer.body.error.code]).toEqual([
      ownStatus,
      ownType,
      code,
    ])
    expect(JSON.stringify(answer.body)).not.toContain(ANTHROPIC_KEY)
    if (ownStatus === 429) expect(answer.headers.get('retry-after')).toBe('7')
    const { body: records } = await gateway.request('GET', '/v1/usage/records?limit=1')
    expect(records.data[0]?.request_id).not.toBe(answer.headers.get('x-request-id'))
  })

  test('a request that another provider can serve is sent there, translated', async () => {
    gateway.anthropic.respondWith(anthropicError(503, 'api_error', 'down'))
    const { status, headers, body } = await send({ model: 'either' })
    expect([status, headers.get('x-gateway-provider'), body.type]).toEqual([200, 'openai', 'message'])
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('a request that only Anthropic can serve is not', async () => {
    gateway.anthropic.respondWith(anthropicError(503, 'api_error', 'down'))
    const { status } = await send({ model: 'either', ...user([{ type: 'hologram' }]) })
    expect([status, gateway.upstream.requests.length]).toEqual([502, 0])
  })
})
