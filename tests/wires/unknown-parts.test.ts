import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MESSAGES, messagesBody, parseNamedEvents } from '../messages/start-messages-gateway.ts'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import {
  anthropicBlock,
  anthropicMessage,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
  startAnthropicServer,
} from '../upstreams/anthropic-server.ts'
import { googleChunk, googleContent, googleStream, startGoogleServer } from '../upstreams/google-server.ts'
import { chunk, completion, stream } from '../upstreams/openai-server.ts'
import type { Reply, ScriptedServer } from '../upstreams/scripted-server.ts'

let gateway: ChatGateway
let anthropic: ScriptedServer
let google: ScriptedServer
let client: OpenAI

beforeAll(async () => {
  anthropic = await startAnthropicServer()
  google = await startGoogleServer()
  gateway = await startChatGateway({
    models: [
      modelEntry('of-anthropic', [{ provider: 'anthropic', model: 'claude-upstream' }]),
      modelEntry('of-google', [{ provider: 'google', model: 'gemini-upstream' }]),
      modelEntry('of-openai', [{ provider: 'openai', model: 'upstream-model' }]),
    ],
    settings: {
      ANTHROPIC_API_KEY: 'sk-ant-of-the-operator',
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
      GOOGLE_API_KEY: 'google-of-the-operator',
      GOOGLE_BASE_URL: google.baseUrl,
    },
  })
  client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
  await anthropic.close()
  await google.close()
})

const TEXT = 'Hello there'
const HOLOGRAM = { type: 'hologram', depth: 3, parts: [{ kind: 'beam' }] }
const CITATION = { type: 'hologram_location', cited_text: 'x', angle: 3 }
const USAGE = { input_tokens: 12, output_tokens: 6 }

/** An answer with a part of each kind that nobody knows yet, and the text of the model. */
const ANTHROPIC_WHOLE = anthropicMessage({
  content: [
    HOLOGRAM,
    { type: 'text', text: TEXT, citations: [CITATION], mood: 'good' },
    { type: 'server_hologram_result', content: [HOLOGRAM] },
  ],
  usage: { ...USAGE, iterations: [{ type: 'hologram', ...USAGE }] },
})

const ANTHROPIC_STREAM = anthropicStream([
  anthropicMessageStart(),
  { type: 'hologram_started', at: 1 },
  ...anthropicBlock(0, HOLOGRAM, [{ type: 'hologram_delta', beam: 'x' }]),
  ...anthropicBlock(1, { type: 'text', text: '', citations: [CITATION] }, [
    { type: 'text_delta', text: 'Hello ' },
    { type: 'citations_delta', citation: CITATION },
    { type: 'hologram_delta', beam: 'x' },
    { type: 'text_delta', text: 'there' },
  ]),
  { type: 'hologram_ended' },
  ...anthropicMessageEnd('end_turn', { ...USAGE, iterations: [{ type: 'hologram', ...USAGE }] }),
])

const UNKNOWN_PART = { hologram: { depth: 3 } }
const OPENAI_STREAM = stream([
  { type: 'vendor.ping' },
  chunk({ delta: { role: 'assistant', content: '' } }),
  { object: 'hologram.started', id: 'h1' },
  chunk({ delta: { content: 'Hello ', hologram: { depth: 3 } } }),
  chunk({ delta: { tool_calls: [{ index: 0, id: 'h', type: 'hologram', hologram: { depth: 3 } }] } }),
  { event: 'hologram', data: {} },
  chunk({ delta: { content: 'there' } }),
  chunk({ finish_reason: 'stop' }),
  chunk({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 } }),
])
const OPENAI_WHOLE = completion({
  message: { content: TEXT, tool_calls: [{ id: 'h', type: 'hologram', hologram: { depth: 3 } }] },
})

interface Answers {
  readonly vendor: string
  readonly whole: Reply
  readonly streamed: Reply
  readonly server: () => ScriptedServer
}

const VENDORS: readonly Answers[] = [
  {
    vendor: 'anthropic',
    whole: ANTHROPIC_WHOLE,
    streamed: ANTHROPIC_STREAM,
    server: () => anthropic,
  },
  {
    vendor: 'google',
    whole: googleContent([UNKNOWN_PART, { text: TEXT, ...UNKNOWN_PART }]),
    streamed: googleStream([
      googleChunk([UNKNOWN_PART], { finishReason: undefined }),
      { hologramMetadata: { depth: 3 } },
      googleChunk([{ text: 'Hello ' }], { finishReason: undefined }),
      googleChunk([{ text: 'there' }, UNKNOWN_PART]),
    ]),
    server: () => google,
  },
  { vendor: 'openai', whole: OPENAI_WHOLE, streamed: OPENAI_STREAM, server: () => gateway.upstream },
]

describe.each(VENDORS)('blocks and events that nobody knows, sent by $vendor,', (answers) => {
  const model = `of-${answers.vendor}`
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  beforeEach(() => {
    gateway.upstream.requests.length = 0
  })

  test('do not end an answer of chat', async () => {
    answers.server().respondWith(answers.whole)
    const whole = await client.chat.completions.create({ model, messages })
    expect(whole.choices[0]?.message.content).toBe(TEXT)
    expect(whole.usage?.completion_tokens).toBeGreaterThan(0)
  })

  test('do not end a stream of chat', async () => {
    answers.server().respondWith(answers.streamed)
    const events = await client.chat.completions.create({ model, messages, stream: true })
    let text = ''
    let reason: string | null = null
    for await (const { choices } of events) {
      text += choices[0]?.delta.content ?? ''
      reason ??= choices[0]?.finish_reason ?? null
    }
    expect([text, reason]).toEqual([TEXT, 'stop'])
  })

  test('do not end a response', async () => {
    answers.server().respondWith(answers.whole)
    const whole = await client.responses.create({ model, input: 'Hi' })
    expect([whole.status, whole.output_text]).toEqual(['completed', TEXT])
    expect(whole.output.map(({ type }) => type)).toEqual(['message'])
  })

  test('do not end a stream of a response', async () => {
    answers.server().respondWith(answers.streamed)
    const final = await client.responses.stream({ model, input: 'Hi' }).finalResponse()
    expect([final.status, final.output_text]).toEqual(['completed', TEXT])
    expect(final.output.map(({ type }) => type)).toEqual(['message'])
  })

  test('do not end a message or its stream', async () => {
    answers.server().respondWith(answers.whole)
    const whole = await gateway.request('POST', MESSAGES, { body: messagesBody({ model }) })
    expect(whole.status).toBe(200)
    expect(whole.body.content).toContainEqual(expect.objectContaining({ type: 'text', text: TEXT }))
    answers.server().respondWith(answers.streamed)
    const response = await gateway.fetch('POST', MESSAGES, { body: messagesBody({ model, stream: true }) })
    const events = parseNamedEvents(await response.text())
    expect(
      events.filter(({ data }) => data.delta?.type === 'text_delta').map(({ data }) => data.delta.text),
    ).toEqual(['Hello ', 'there'])
    expect(events.at(-1)?.name).toBe('message_stop')
    const [start] = events
    expect(start?.data.message.id).toMatch(/^msg_.{8}/)
  })
})

test('an answer that holds only what nobody knows is an empty answer that is charged', async () => {
  anthropic.respondWith(anthropicMessage({ content: [HOLOGRAM] }))
  const { status, body } = await gateway.request('POST', '/v1/chat/completions', {
    body: { model: 'of-anthropic', messages: [{ role: 'user', content: 'Hi' }] },
  })
  expect([status, body.choices[0].message.content]).toEqual([200, ''])
  expect(body.usage.cost_usd).toBeGreaterThan(0)
})

test('a list of parts as the content of a chat answer is text and reasoning on the other wires', async () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    HOLOGRAM,
    { type: 'text', text: TEXT },
  ]
  gateway.upstream.respondWith(completion({ message: { content } }))
  const { body } = await gateway.request('POST', MESSAGES, { body: messagesBody({ model: 'of-openai' }) })
  expect(body.content).toMatchObject([
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: TEXT },
  ])
  const response = await client.responses.create({ model: 'of-openai', input: 'Hi' })
  expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
  expect(response.output_text).toBe(TEXT)
})

test('the stop sequence at which Anthropic stopped is told on chat', async () => {
  anthropic.respondWith(
    anthropicMessage({
      content: [{ type: 'text', text: TEXT }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    }),
  )
  const body = { model: 'of-anthropic', messages: [{ role: 'user', content: 'Hi' }], stop: ['END'] }
  const whole = await gateway.request('POST', '/v1/chat/completions', { body })
  expect(whole.body.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: 'END' })
})
