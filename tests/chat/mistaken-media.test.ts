import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sampleFile } from '../../src/modules/media/testing/sample-files.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import { startGoogleServer } from '../upstreams/google-server.ts'
import { startResponsesServer } from '../upstreams/openai-responses-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { createAccount } from '../payments/accounts.ts'
import { modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway
let vendors: Record<'anthropic' | 'google' | 'openai', ScriptedServer>

beforeAll(async () => {
  vendors = {
    anthropic: await startAnthropicServer(),
    google: await startGoogleServer(),
    openai: await startResponsesServer(),
  }
  gateway = await startChatGateway({
    models: ['anthropic', 'google', 'openai', 'groq'].map((provider) =>
      modelEntry(`of-${provider}`, [{ provider, model: 'upstream-model' }]),
    ),
    providers: ['groq'],
    settings: {
      ANTHROPIC_API_KEY: 'sk-ant',
      ANTHROPIC_BASE_URL: vendors.anthropic.baseUrl,
      GOOGLE_API_KEY: 'sk-google',
      GOOGLE_BASE_URL: vendors.google.baseUrl,
      OPENAI_BASE_URL: vendors.openai.baseUrl,
      OPENAI_WIRES: '',
    },
  })
})

afterAll(async () => {
  await gateway.close()
  for (const vendor of Object.values(vendors)) await vendor.close()
})

const servers = () => [...Object.values(vendors), gateway.upstream]
const asked = () => servers().flatMap(({ requests }) => requests)

beforeEach(() => {
  for (const server of servers()) server.requests.length = 0
})

const PDF = Buffer.from('%PDF-1.7\n')
const base64 = (bytes: Buffer) => bytes.toString('base64')
const uri = (type: string, bytes: Buffer) => `data:${type};base64,${base64(bytes)}`

/** What is no picture, as it is in a data URI or at an address. */
const NO_PICTURES: readonly (readonly [string, string])[] = [
  ['a document that says so', uri('application/pdf', PDF)],
  ['a document that says it is a picture', uri('image/png', PDF)],
  ['a text', uri('text/plain', Buffer.from('word '.repeat(1000)))],
  ['a video', uri('video/mp4', sampleFile('mp4'))],
  ['a video that says it is a picture', uri('image/png', sampleFile('mp4'))],
  ['a document at an address', 'https://example.com/report.pdf'],
  ['a video at an address', 'https://www.youtube.com/watch?v=dQw4w9WgXcQ'],
  ['a file of the server', 'file:///etc/passwd'],
]

const user = (content: unknown) => [{ role: 'user', content }]
const TOOL_USE = { type: 'tool_use', id: 'c1', name: 'look', input: {} }
const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }

/** Where a picture can be, in each wire. */
const PLACES: readonly (readonly [string, string, (url: string) => object])[] = [
  [
    'a message of chat',
    '/v1/chat/completions',
    (url) => ({ messages: user([{ type: 'image_url', image_url: { url } }]) }),
  ],
  [
    'a result of chat',
    '/v1/chat/completions',
    (url) => ({
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: null, tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'image_url', image_url: { url } }] },
      ],
    }),
  ],
  [
    'a message of Anthropic',
    '/v1/messages',
    (url) => ({ max_tokens: 10, messages: user([imageBlock(url)]) }),
  ],
  [
    'a result of Anthropic',
    '/v1/messages',
    (url) => ({
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: [TOOL_USE] },
        ...user([{ type: 'tool_result', tool_use_id: 'c1', content: [imageBlock(url)] }]),
      ],
    }),
  ],
  [
    'a document of Anthropic',
    '/v1/messages',
    (url) => ({
      max_tokens: 10,
      messages: user([{ type: 'document', source: { type: 'content', content: [imageBlock(url)] } }]),
    }),
  ],
  [
    'a message of Responses',
    '/v1/responses',
    (url) => ({ input: user([{ type: 'input_image', image_url: url }]) }),
  ],
  [
    'a result of Responses',
    '/v1/responses',
    (url) => ({
      input: [
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_image', image_url: url }] },
      ],
    }),
  ],
]

function imageBlock(url: string): object {
  const inline = /^data:([^;]+);base64,(.*)$/.exec(url)
  const source = inline ? { type: 'base64', media_type: inline[1], data: inline[2] } : { type: 'url', url }
  return { type: 'image', source }
}

const MODELS = ['of-anthropic', 'of-google', 'of-openai', 'of-groq']

describe('a picture that is none', () => {
  test.each(PLACES)('in %s is refused before any vendor is called', async (_name, path, bodyOf) => {
    for (const model of MODELS)
      for (const [name, url] of NO_PICTURES) {
        const { status, body } = await gateway.request('POST', path, { body: { model, ...bodyOf(url) } })
        expect([name, model, status, body.error.message]).toEqual([name, model, 400, expect.any(String)])
      }
    expect(asked()).toEqual([])
  })

  test('names the place and what was found there', async () => {
    const body = {
      model: 'of-groq',
      messages: user([{ type: 'image_url', image_url: { url: uri('image/png', PDF) } }]),
    }
    const { body: answer } = await gateway.request('POST', '/v1/chat/completions', { body })
    expect(answer.error).toMatchObject({ code: 'invalid_value', param: 'messages.0.content.0.image_url.url' })
    expect(answer.error.message).toContain('application/pdf')
  })
})

describe('a picture', () => {
  test('leaves as a picture for every vendor, also from an address that does not say what it is', async () => {
    const send = (model: string, url: string) =>
      gateway.request('POST', '/v1/chat/completions', {
        body: { model, messages: user([{ type: 'image_url', image_url: { url } }]) },
      })
    for (const url of ['https://example.com/download?id=7', uri('image/png', sampleFile('png'))])
      for (const model of ['of-anthropic', 'of-google']) expect((await send(model, url)).status).toBe(200)
    const source = (members: object) => expect.objectContaining(members)
    expect(vendors.anthropic.requests.map(({ body }) => body)).toMatchObject([
      { messages: [{ content: [{ type: 'image', source: source({ type: 'url' }) }] }] },
      { messages: [{ content: [{ type: 'image', source: source({ media_type: 'image/png' }) }] }] },
    ])
    expect(vendors.google.requests.map(({ body }) => body)).toMatchObject([
      { contents: [{ parts: [{ fileData: { mimeType: expect.stringMatching(/^image\//) } }] }] },
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png' } }] }] },
    ])
  })
})

describe('content that the gateway cannot measure', () => {
  const unread = {
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'web_fetch_result',
      url: 'https://example.com/a.pdf',
      content: {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64(PDF) },
      },
    },
  }
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch', input: {} }

  test.each<[string, string, object, number]>([
    [
      'a short document',
      '/v1/chat/completions',
      {
        model: 'of-anthropic',
        messages: user([{ type: 'file', file: { file_data: uri('application/pdf', PDF) } }]),
      },
      402,
    ],
    [
      'a document of a tool on a server',
      '/v1/messages',
      {
        model: 'of-anthropic',
        messages: [
          { role: 'user', content: 'Go' },
          { role: 'assistant', content: [use, unread] },
          { role: 'user', content: 'On' },
        ],
      },
      402,
    ],
    [
      'an item of an unknown type',
      '/v1/responses',
      { model: 'of-openai', input: [{ type: 'hologram', source: 'https://example.com/a' }, ...user('Hi')] },
      402,
    ],
    [
      'a file at an address',
      '/v1/responses',
      { model: 'of-openai', input: user([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }]) },
      402,
    ],
    [
      'an item that is text',
      '/v1/responses',
      {
        model: 'of-openai',
        input: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }, ...user('Hi')],
      },
      200,
    ],
    [
      'a picture at an address',
      '/v1/messages',
      {
        model: 'of-anthropic',
        messages: user([{ type: 'image', source: { type: 'url', url: 'https://example.com/a' } }]),
      },
      200,
    ],
    [
      'a picture of the screen',
      '/v1/responses',
      {
        model: 'of-openai',
        input: [
          {
            type: 'computer_call_output',
            call_id: 'c1',
            output: { type: 'computer_screenshot', image_url: uri('image/png', sampleFile('png')) },
          },
          ...user('Hi'),
        ],
      },
      200,
    ],
  ])('is held as the longest prompt: %s', async (_name, path, members, status) => {
    // The longest prompt costs $0.10, and twenty output tokens $0.0002.
    const { key } = await createAccount(gateway, { creditUsd: 0.05 })
    const limit = path === '/v1/responses' ? { max_output_tokens: 20 } : { max_tokens: 20 }
    const answer = await gateway.request('POST', path, { key, body: { ...members, ...limit } })
    expect([answer.status, answer.body.error?.code]).toEqual(
      status === 402 ? [402, expect.anything()] : [200, undefined],
    )
  })
})
