import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'
import {
  CHAT,
  chatBody,
  modelEntry,
  startChatGateway,
  UPSTREAM_KEY,
  type ChatGateway,
} from './start-chat-gateway.ts'

const PROVIDERS =
  'openai groq deepseek mistral xai dashscope moonshot zai minimax together fireworks openrouter cerebras vllm llamacpp ollama lmstudio tgi'.split(
    ' ',
  )

const PRICE = { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10, audio_input_usd_per_1m: 40 }

let gateway: ChatGateway

beforeAll(async () => {
  const models = PROVIDERS.flatMap((provider) => [
    modelEntry(`via-${provider}`, [{ provider, model: 'up/stream' }], { price: PRICE }),
    modelEntry(`plain-${provider}`, [{ provider, model: 'up/stream' }], { capabilities: ['chat'] }),
  ])
  gateway = await startChatGateway({ models, providers: PROVIDERS })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

/** Sends the body and returns the request that the upstream received. */
async function forward(body: object | string) {
  const { status, body: answer } = await gateway.request('POST', CHAT, { body })
  expect([status, answer]).toEqual([200, expect.anything()])
  const request = await gateway.upstream.requestNumber(0)
  return { ...request, body: request.body as Record<string, unknown> }
}

describe('the request to an upstream', () => {
  test('has the client’s bytes except for the model name', async () => {
    const body =
      '{ "messages" : [ {"content":"caf\u00e9 \\u00e9 \\/ 1e2", "role":"user"} ],\n "temperature": 0.10, "model":"via-openai",\t"x_vendor": {"b":1, "a":[1.0]}, "seed": 9007199254740991 }'
    const { text } = await forward(body)
    expect(text).toBe(
      body
        .replace('{ "messages"', '{"messages"')
        .replace('"via-openai",\t', '"up/stream",')
        .replace(', "model"', ',"model"')
        .replace(' }', '}')
        .replace('9007199254740991 }', '9007199254740991}'),
    )
  })

  test('has every field of the wire and unknown fields', async () => {
    const body = {
      model: 'via-openai',
      messages: [
        { role: 'system', content: 'Be brief', name: 'boss' },
        { role: 'developer', content: 'Really' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
            { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
      stop: ['a', 'b'],
      n: 2,
      logprobs: true,
      top_logprobs: 3,
      logit_bias: { '5': -100 },
      presence_penalty: 1,
      frequency_penalty: -1,
      seed: 7,
      user: 'u',
      max_completion_tokens: 5,
      reasoning_effort: 'low',
      temperature: null,
      some_vendor_field: { deep: [true] },
    }
    expect((await forward(body)).body).toEqual({ ...body, model: 'up/stream' })
  })

  test('has our credential instead of the client’s, and the request id', async () => {
    const { body: tenant } = await gateway.request('GET', '/v1/tenants/me')
    const answer = await gateway.request('POST', CHAT, {
      body: chatBody({ model: 'via-openai' }),
      headers: { cookie: 'secret=1', 'x-forwarded-for': '10.0.0.1', 'openai-organization': tenant.id },
    })
    const { headers, path, method } = await gateway.upstream.requestNumber(0)
    expect([method, path]).toEqual(['POST', '/openai/v1/chat/completions'])
    expect(headers).toMatchObject({
      authorization: `Bearer ${UPSTREAM_KEY}`,
      'content-type': 'application/json',
      'x-request-id': answer.headers.get('x-request-id'),
    })
    expect(JSON.stringify(headers)).not.toContain(gateway.key)
    expect(headers).not.toHaveProperty('cookie')
    expect(headers).not.toHaveProperty('openai-organization')
  })

  test('asks for the usage of a stream even if the client did not, and keeps its other options', async () => {
    gateway.upstream.respondWith(stream(chunksOf('x')))
    const plain = await forward(chatBody({ model: 'via-vllm', stream: true }))
    expect(plain.body['stream_options']).toEqual({ include_usage: true })
    gateway.upstream.requests.length = 0
    const options = { include_usage: false, include_obfuscation: false }
    const refused = await forward(chatBody({ model: 'via-vllm', stream: true, stream_options: options }))
    expect(refused.body['stream_options']).toEqual({ include_usage: true, include_obfuscation: false })
  })

  test('has no stream options without a stream, because upstreams refuse them', async () => {
    const { body } = await forward(
      chatBody({ model: 'via-vllm', stream: false, stream_options: { include_usage: true } }),
    )
    expect(body).not.toHaveProperty('stream_options')
  })

  test.each([
    '{"model":"plain-openai","model":"via-vllm","messages":[{"role":"user","content":"Hi"}]}',
    '{"model":"plain-openai","mod\\u0065l":"via-vllm","messages":[{"role":"user","content":"Hi"}]}',
    '{"messages":[{"role":"user","content":"Hi"}],"model":"via-vllm","m\\u006fdel":"via-vllm"}',
    '{"stream":true,"stream":false,"model":"via-vllm","messages":[{"role":"user","content":"Hi"}]}',
  ])('is not sent if it has a member twice: %s', async (body) => {
    gateway.upstream.requests.length = 0
    const { status, body: answer } = await gateway.request('POST', CHAT, { body })
    expect([status, answer.error.code]).toEqual([400, 'invalid_json'])
    expect(gateway.upstream.requests).toEqual([])
  })
})

describe('the output limit', () => {
  test.each([
    ['openai', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['openai', { max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
    ['openai', { max_tokens: 9, max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
    ['openai', { max_tokens: 9, max_completion_tokens: null }, { max_completion_tokens: 9 }],
    ['cerebras', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['groq', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['vllm', { max_completion_tokens: 5 }, { max_tokens: 5 }],
    ['mistral', { max_completion_tokens: 5 }, { max_tokens: 5 }],
    ['deepseek', { max_tokens: 5 }, { max_tokens: 5 }],
  ])('%s: %j is sent as %j', async (provider, given, expected) => {
    const model = `via-${provider}`
    const { body } = await forward(chatBody({ model, ...given }))
    expect(body).toEqual(chatBody({ model: 'up/stream', ...expected }))
  })
})

describe('think', () => {
  const thinking = { thinking: { type: 'enabled' } }
  const template = { chat_template_kwargs: { enable_thinking: true } }
  test.each([
    ['openai', { reasoning_effort: 'medium' }],
    ['groq', { include_reasoning: true }],
    ['deepseek', thinking],
    ['mistral', { reasoning_effort: 'high' }],
    ['xai', {}],
    ['dashscope', { enable_thinking: true }],
    ['moonshot', thinking],
    ['zai', thinking],
    ['minimax', { reasoning_split: true }],
    ['together', template],
    ['fireworks', { reasoning_effort: 'medium' }],
    ['openrouter', { reasoning: { enabled: true } }],
    ['cerebras', { reasoning_effort: 'medium' }],
    ['vllm', template],
    ['llamacpp', template],
    ['ollama', { reasoning_effort: 'medium' }],
    ['lmstudio', { reasoning_effort: 'medium' }],
    ['tgi', {}],
  ])('%s gets its own parameter: %j', async (provider, members) => {
    const { body } = await forward(chatBody({ model: `via-${provider}`, think: true }))
    expect(body).toEqual(chatBody({ model: 'up/stream', ...members }))
  })

  test('keeps the requested effort', async () => {
    const { body } = await forward(chatBody({ model: 'via-openai', think: true, reasoning_effort: 'high' }))
    expect(body).toEqual(chatBody({ model: 'up/stream', reasoning_effort: 'high' }))
  })

  test.each([
    ['plain-openai', true],
    ['via-openai', false],
    ['via-openai', null],
  ])('is ignored on %s if it is %s', async (model, think) => {
    const { body } = await forward(chatBody({ model, think }))
    expect(body).toEqual(chatBody({ model: 'up/stream' }))
  })
})

describe('if an upstream departs from the wire', () => {
  const messages = [
    { role: 'developer', content: 'Be brief' },
    { role: 'user', content: 'Hi' },
  ]

  test.each(['deepseek', 'mistral', 'dashscope', 'moonshot', 'zai', 'tgi'])(
    '%s gets the system role instead of the developer role',
    async (provider) => {
      const { body } = await forward(chatBody({ model: `via-${provider}`, messages }))
      expect(body['messages']).toEqual([{ role: 'system', content: 'Be brief' }, messages[1]])
    },
  )

  test('the developer role is kept if the upstream knows it', async () => {
    const { body } = await forward(chatBody({ model: 'via-openai', messages }))
    expect(body['messages']).toEqual(messages)
  })

  test('Mistral gets its own name for the seed and no members that it refuses', async () => {
    gateway.upstream.respondWith(stream(chunksOf('x')))
    const refused = { user: 'u', logit_bias: { '1': 1 }, logprobs: true, top_logprobs: 2 }
    const { body } = await forward(
      chatBody({
        model: 'via-mistral',
        seed: 7,
        stream: true,
        stream_options: { include_usage: true },
        ...refused,
      }),
    )
    expect(body).toEqual(chatBody({ model: 'up/stream', random_seed: 7, stream: true }))
  })
})
