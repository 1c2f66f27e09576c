import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { MESSAGES, messagesBody, startMessagesGateway } from './start-messages-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startMessagesGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const send = (members: object) => gateway.request('POST', MESSAGES, { body: messagesBody(members) })

/** Returns the body that the upstream received, without the model. */
async function asked(members: object) {
  const { status, body } = await send(members)
  expect([status, body.error]).toEqual([200, undefined])
  const { model, ...rest } = gateway.upstream.bodies().at(-1)
  expect(model).toBe('upstream-model')
  return rest
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='
const TOOL = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }
const FUNCTION = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
}
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })

describe('a request of Anthropic’s wire, for an upstream of OpenAI’s', () => {
  test.each<[string, object, object]>([
    ['plain', {}, { messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 100 }],
    [
      'with instructions',
      { system: 'Be brief.' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'with marked blocks of instructions, whose marks stay here',
      { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'with pictures',
      user([
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        { type: 'image', source: { type: 'url', url: 'https://pictures.example/cat.png' } },
      ]),
      user([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
        { type: 'image_url', image_url: { url: 'https://pictures.example/cat.png' } },
      ]),
    ],
    [
      'with documents',
      user([
        {
          type: 'document',
          title: 'Plan',
          source: { type: 'text', media_type: 'text/plain', data: 'Step one.' },
        },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Inner.' }] } },
      ]),
      user([
        { type: 'text', text: 'Plan' },
        { type: 'text', text: 'Step one.' },
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'document.pdf' },
        },
        { type: 'text', text: 'Inner.' },
      ]),
    ],
    [
      'with tools that were found by a search',
      {
        messages: [
          { role: 'user', content: 'Look.' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'search', input: {} }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't',
                content: [{ type: 'tool_reference', tool_name: 'look' }],
              },
            ],
          },
        ],
        tools: [{ ...TOOL, defer_loading: true }],
      },
      {
        messages: [
          { role: 'user', content: 'Look.' },
          { role: 'assistant', content: null },
          { role: 'tool', tool_call_id: 't', content: 'The tool look can be used now.' },
        ],
        tools: [FUNCTION],
      },
    ],
    [
      'with a call, its result and what was thought',
      {
        messages: [
          { role: 'user', content: 'Look.' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
              { type: 'redacted_thinking', data: 'secret' },
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
              { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'A cat.' }] },
              { type: 'tool_result', tool_use_id: 'toolu_2', content: 'Too dark.', is_error: true },
              { type: 'text', text: 'And now?' },
            ],
          },
        ],
        tools: [TOOL],
      },
      {
        messages: [
          { role: 'user', content: 'Look.' },
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [
              { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
              { id: 'toolu_2', type: 'function', function: { name: 'look', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'toolu_1', content: 'A cat.' },
          { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: Too dark.' },
          { role: 'user', content: 'And now?' },
        ],
        tools: [FUNCTION],
      },
    ],
    ['with any tool', { tools: [TOOL], tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
    ['with no tool', { tools: [TOOL], tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
    [
      'with one tool, once',
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true } },
      { tool_choice: { type: 'function', function: { name: 'look' } }, parallel_tool_calls: false },
    ],
    [
      'with settings of sampling',
      { temperature: 0.5, top_p: 0.9, top_k: 7, stop_sequences: ['END'], metadata: { user_id: 'u-1' } },
      { temperature: 0.5, top_p: 0.9, stop: ['END'], user: 'u-1' },
    ],
    ['with thoughts', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, { reasoning_effort: 'low' }],
    [
      'with adaptive thoughts',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { reasoning_effort: 'high' },
    ],
    [
      'with a schema of the answer',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {} } } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: { type: 'object', properties: {} }, strict: true },
        },
      },
    ],
  ])('%s', async (_name, members, expected) => {
    const sent = await asked(members)
    expect(sent).toMatchObject(expected)
    for (const member of ['top_k', 'thinking', 'think', 'system', 'metadata', 'stop_sequences', 'max_tokens'])
      expect(sent).not.toHaveProperty(member)
    expect(JSON.stringify(sent)).not.toMatch(/cache_control|reasoning_details|reasoning_content|signature/)
  })

  test('removes members that only Anthropic’s servers know', async () => {
    const sent = await asked({ context_management: { edits: [] }, service_tier: 'auto', mcp_servers: [] })
    expect(Object.keys(sent).toSorted()).toEqual(['max_completion_tokens', 'messages'])
  })

  test.each<[string, object, string, string]>([
    [
      'a tool of the vendor',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'unsupported_parameter',
      'tools.0.type',
    ],
    [
      'a file of the vendor',
      user([{ type: 'image', source: { type: 'file', file_id: 'f' } }]),
      'unsupported_parameter',
      'messages.0.content.0.source',
    ],
    [
      'a block of the vendor',
      user([{ type: 'container_upload', file_id: 'f' }]),
      'unsupported_parameter',
      'messages.0.content.0',
    ],
    ['a container', { container: 'c' }, 'unsupported_parameter', 'container'],
    [
      'a block without its text',
      user([{ type: 'text' }]),
      'missing_required_parameter',
      'messages.0.content.0.text',
    ],
    [
      'a picture without a source',
      user([{ type: 'image' }]),
      'missing_required_parameter',
      'messages.0.content.0.source',
    ],
    [
      'a tool without a schema',
      { tools: [{ name: 'look' }] },
      'missing_required_parameter',
      'tools.0.input_schema',
    ],
    ['no limit', { max_tokens: undefined }, 'missing_required_parameter', 'max_tokens'],
    [
      'a role that it does not know',
      { messages: [{ role: 'tool', content: '' }] },
      'invalid_value',
      'messages.0.role',
    ],
    ['no messages', { messages: [] }, 'invalid_value', 'messages'],
  ])(
    'is refused with %s, before an upstream is called or anything is charged',
    async (_name, members, code, param) => {
      const { status, body } = await send(members)
      expect([status, body]).toEqual([
        400,
        {
          type: 'error',
          error: { type: 'invalid_request_error', message: expect.any(String), code, param },
          request_id: expect.stringMatching(/^req_/),
        },
      ])
      expect(gateway.upstream.requests).toHaveLength(0)
    },
  )
})
