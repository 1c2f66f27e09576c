import OpenAI, { BadRequestError } from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import { WEATHER_TOOL } from './sample-inputs.ts'

const MODEL = 'gpt-4o-mini'
const SHELL: ChatCompletionTool = {
  type: 'custom',
  custom: { name: 'run_shell', description: 'Runs a command.', format: { type: 'text' } },
}
const ask = (content: string) => ({ role: 'user' as const, content })

describe('custom tools with the OpenAI SDK', () => {
  let gateway: TestGateway
  let client: OpenAI

  beforeAll(async () => {
    gateway = await startTestGateway({
      settings: { ANTHROPIC_API_KEY: 'sk-ant', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
    })
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  })
  afterAll(async () => {
    await gateway.close()
  })

  test('the model calls one with text, and its result is used in the answer', async () => {
    const messages: ChatCompletionMessageParam[] = [ask('run_shell "ls -la" please')]
    const calling = await client.chat.completions.create({ model: MODEL, messages, tools: [SHELL] })
    const [choice] = calling.choices
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'custom', custom: { name: 'run_shell', input: 'ls -la' } }] },
    })
    if (!choice) throw new Error('no choice came')
    messages.push(choice.message)
    messages.push({
      role: 'tool',
      tool_call_id: choice.message.tool_calls?.[0]?.id ?? '',
      content: 'README.md',
    })
    const answer = await client.chat.completions.create({ model: MODEL, messages, tools: [SHELL] })
    expect(answer.choices[0]?.message.content).toContain('README.md')
  })

  test('allowed_tools restricts the model to them', async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages: [ask('What is the weather in Paris?')],
      tools: [WEATHER_TOOL, SHELL],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'run_shell' } }] },
      },
    })
    expect(choices[0]?.message.tool_calls).toMatchObject([{ type: 'custom' }])
  })

  test('a vendor without them is not called, and the error names the tool', async () => {
    const { data } = await client.models.list()
    const claude = data.find(({ id }) => id.includes('claude'))?.id ?? ''
    const asked = client.chat.completions.create({
      model: claude,
      messages: [ask('Hi')],
      tools: [WEATHER_TOOL, SHELL],
    })
    const error = await asked.then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'tools.1' })
  })
})

describe('the newer and the legacy forms of the wire', () => {
  let gateway: ChatGateway

  beforeAll(async () => {
    gateway = await startChatGateway()
  })
  beforeEach(() => {
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(completion())
  })
  afterAll(async () => {
    await gateway.close()
  })

  const message = (members: object) => ({ messages: [{ role: 'user', content: 'Hi', ...members }] })
  const calling = (...tool_calls: object[]) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [], tool_calls },
    ],
  })

  test.each<[string, object]>([
    ['a custom tool', { tools: [SHELL] }],
    [
      'a custom tool with a grammar',
      {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'c',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
            },
          },
        ],
      },
    ],
    [
      'the choice of a custom tool',
      { tools: [SHELL], tool_choice: { type: 'custom', custom: { name: 'run_shell' } } },
    ],
    [
      'allowed tools',
      {
        tools: [SHELL],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'custom', custom: { name: 'run_shell' } }] },
        },
      },
    ],
    [
      'a custom call and no content',
      calling({ id: 'c', type: 'custom', custom: { name: 'n', input: 'ls' } }),
    ],
    [
      'a function call and no content',
      calling({ id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } }),
    ],
    [
      'nulls in a tool',
      {
        tools: [
          { type: 'function', function: { name: 'f', description: null, parameters: null, strict: null } },
        ],
      },
    ],
    [
      'nulls in a format',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 's', description: null, schema: null, strict: null },
        },
      },
    ],
    [
      'nulls in a message',
      message({ name: null, tool_call_id: null, tool_calls: null, refusal: null, reasoning_content: null }),
    ],
    [
      'nulls in parts',
      message({
        content: [
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: null } },
          {
            type: 'file',
            file: { file_id: null, file_data: 'data:application/pdf;base64,JVBERg==', filename: null },
          },
        ],
      }),
    ],
    [
      'functions and function_call',
      { functions: [{ name: 'f', parameters: { type: 'object' } }], function_call: { name: 'f' } },
    ],
    [
      'an old function call and its result',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'f', content: 'ok' },
        ],
      },
    ],
  ])('reach an upstream of the wire unchanged: %s', async (_name, members) => {
    const body = { model: MODEL, ...message({}), ...members }
    const { status, body: answer } = await gateway.request('POST', '/v1/chat/completions', { body })
    expect([status, answer.error]).toEqual([200, undefined])
    const { body: sent } = await gateway.upstream.requestNumber(0)
    expect(sent).toEqual({ ...body, model: expect.any(String) })
  })

  test.each<[string, object, string]>([
    ['a user message without parts', message({ content: [] }), 'messages.0.content'],
    [
      'a custom tool without a name',
      { ...message({}), tools: [{ type: 'custom', custom: {} }] },
      'tools.0.custom.name',
    ],
    [
      'a custom call without its input',
      calling({ id: 'c', type: 'custom', custom: { name: 'n' } }),
      'messages.1.tool_calls.0.custom.input',
    ],
    [
      'a mode that does not exist',
      { ...message({}), tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'some', tools: [] } } },
      'tool_choice.allowed_tools.mode',
    ],
  ])('are still validated: %s', async (_name, members, param) => {
    const answer = await gateway.request('POST', '/v1/chat/completions', {
      body: { model: MODEL, ...members },
    })
    expect([answer.status, answer.body.error?.param]).toEqual([400, param])
  })
})
