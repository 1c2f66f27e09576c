import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectEnvelope } from './expect-envelope.ts'

const CHAT = '/v1/chat/completions'
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

const manyNames = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 'x']))

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('fields', () => {
  const message = (members: object) => ({ ...BODY, messages: [{ role: 'user', ...members }] })
  test.each<[object, string, string]>([
    [{}, 'missing_required_parameter', 'model'],
    [{ model: 'gpt-4o-mini' }, 'missing_required_parameter', 'messages'],
    [{ ...BODY, model: 5 }, 'invalid_value', 'model'],
    [{ ...BODY, model: '' }, 'invalid_value', 'model'],
    [{ ...BODY, messages: [] }, 'invalid_value', 'messages'],
    [{ ...BODY, messages: [{ content: 'x' }] }, 'missing_required_parameter', 'messages.0.role'],
    [
      { ...BODY, messages: [BODY.messages[0], { role: 'robot', content: 'x' }] },
      'invalid_value',
      'messages.1.role',
    ],
    [message({}), 'missing_required_parameter', 'messages.0.content'],
    [message({ content: null }), 'missing_required_parameter', 'messages.0.content'],
    [message({ content: 5 }), 'invalid_value', 'messages.0.content'],
    [
      message({ content: [{ type: 'image_url' }] }),
      'missing_required_parameter',
      'messages.0.content.0.image_url',
    ],
    [
      message({
        content: [
          { type: 'text', text: 'x' },
          { type: 'image_url', image_url: {} },
        ],
      }),
      'missing_required_parameter',
      'messages.0.content.1.image_url.url',
    ],
    [
      { ...BODY, messages: [{ role: 'tool', content: 'x' }] },
      'missing_required_parameter',
      'messages.0.tool_call_id',
    ],
    [
      { ...BODY, tools: [{ type: 'function', function: {} }] },
      'missing_required_parameter',
      'tools.0.function.name',
    ],
    [{ ...BODY, temperature: 3 }, 'invalid_value', 'temperature'],
    [{ ...BODY, temperature: 'hot' }, 'invalid_value', 'temperature'],
    [{ ...BODY, stream: 'yes' }, 'invalid_value', 'stream'],
    [{ ...BODY, n: 0 }, 'invalid_value', 'n'],
    [{ ...BODY, stop: [1] }, 'invalid_value', 'stop.0'],
    [{ ...BODY, stream_options: { include_usage: 'yes' } }, 'invalid_value', 'stream_options.include_usage'],
    [{ ...BODY, response_format: { type: 'xml' } }, 'invalid_value', 'response_format'],
    [
      { ...BODY, response_format: { type: 'json_schema' } },
      'missing_required_parameter',
      'response_format.json_schema',
    ],
    [{ ...BODY, metadata: { a: 1 } }, 'invalid_value', 'metadata.a'],
    [{ ...BODY, metadata: { 'a\n': 1 } }, 'invalid_value', 'metadata.a\n'],
    [{ ...BODY, metadata: { ['n'.repeat(65)]: 'x' } }, 'invalid_value', 'metadata'],
    [{ ...BODY, metadata: { a: 'x'.repeat(513) } }, 'invalid_value', 'metadata.a'],
    [{ ...BODY, metadata: manyNames(17) }, 'invalid_value', 'metadata'],
    [{ ...BODY, logit_bias: manyNames(1_025) }, 'invalid_value', 'logit_bias'],
    [{ ...BODY, logit_bias: { ['1'.repeat(65)]: 1 } }, 'invalid_value', 'logit_bias'],
  ])('400: %j', async (body, code, param) => {
    expectEnvelope(await gateway.request('POST', CHAT, { body }), 400, { code, param })
  })

  test('null means the same as absent for every optional field', async () => {
    const names = [
      'temperature',
      'top_p',
      'n',
      'stop',
      'stream',
      'tools',
      'seed',
      'user',
      'max_tokens',
      'think',
    ]
    const body = { ...BODY, ...Object.fromEntries(names.map((name) => [name, null])) }
    expect((await gateway.request('POST', CHAT, { body })).status).toBe(200)
  })
})
