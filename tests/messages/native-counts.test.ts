import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { anthropicError } from '../upstreams/anthropic-server.ts'
import { startNativeGateway, type NativeGateway } from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.anthropic.requests.length = 0
})

describe('a count of tokens', () => {
  const count = (members: object = {}, headers: Record<string, string> = {}) =>
    gateway.request('POST', '/v1/messages/count_tokens', {
      body: { model: 'claude', messages: [{ role: 'user', content: 'Hi' }], ...members },
      headers,
    })

  const told = (body: object) => ({
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  })

  test('is the vendor’s if it has one', async () => {
    gateway.anthropic.respondWith(
      told({ input_tokens: 4711, context_management: { original_input_tokens: 5000 } }),
    )
    const { status, body } = await count({}, { 'anthropic-beta': 'a-beta' })
    expect([status, body]).toEqual([
      200,
      { input_tokens: 4711, context_management: { original_input_tokens: 5000 } },
    ])
    const { path, headers, body: asked } = await gateway.anthropic.requestNumber(0)
    expect([path, headers['anthropic-beta'], asked]).toEqual([
      '/v1/messages/count_tokens',
      'a-beta',
      { model: 'claude-upstream', messages: [{ role: 'user', content: 'Hi' }] },
    ])
  })

  test.each([
    ['is out of order', anthropicError(500, 'api_error', 'down')],
    ['is throttled', anthropicError(429, 'rate_limit_error', 'slow', { 'retry-after': '60' })],
    ['tells nonsense', told({ input_tokens: -1 })],
  ])('is made by the gateway if the vendor %s', async (_name, reply) => {
    gateway.anthropic.respondWith(reply)
    const { status, body } = await count()
    expect([status, Object.keys(body), body.input_tokens > 0]).toEqual([200, ['input_tokens'], true])
  })

  test('a count of tokens of a request that the vendor refuses is refused', async () => {
    gateway.anthropic.respondWith(anthropicError(400, 'invalid_request_error', 'tools.0: no'))
    const { status, body } = await count()
    expect([status, body.error.message]).toEqual([400, 'tools.0: no'])
  })

  test('does not send files of the operator’s account or servers to call', async () => {
    const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } }
    expect((await count({ messages: [{ role: 'user', content: [file] }] })).status).toBe(400)
    expect(
      (await count({ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] })).status,
    ).toBe(400)
    expect(gateway.anthropic.requests).toHaveLength(0)
  })
})
