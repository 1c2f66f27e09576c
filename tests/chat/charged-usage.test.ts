import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunk, completion, stream, textCompletion, USAGE, type Reply } from '../upstreams/openai-server.ts'
import {
  CHAT,
  chatBody,
  COMPLETIONS,
  modelEntry,
  startChatGateway,
  type ChatGateway,
} from './start-chat-gateway.ts'
import { readEvents } from './read-events.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [modelEntry('native', [{ provider: 'vllm', model: 'native' }])],
    providers: ['vllm'],
  })
})

afterAll(() => gateway.close())

/** The cost of `USAGE` with gpt-4o-mini, and with the catalog model of this test. */
const PRICE = (11 * 0.15 + 7 * 0.6) / 1e6
const NATIVE_PRICE = (11 * 1 + 7 * 10) / 1e6

const lastRecord = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body.data[0]

async function costOfWhole(reply: Reply, body: object = chatBody(), path = CHAT): Promise<number> {
  gateway.upstream.respondWith(reply)
  const answer = await gateway.request('POST', path, { body })
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  expect((await lastRecord()).cost_usd).toBe(answer.body.usage.cost_usd)
  return answer.body.usage.cost_usd
}

async function usageOfStream(chunks: readonly object[]) {
  gateway.upstream.respondWith(stream(chunks))
  const response = await gateway.fetch('POST', CHAT, {
    body: chatBody({ stream: true, stream_options: { include_usage: true } }),
  })
  const { chunks: read } = await readEvents(response)
  const { usage } = read.at(-1)
  expect((await lastRecord()).cost_usd).toBe(usage.cost_usd)
  return usage
}

const SILENT = { content: null }
const CONTENTS: readonly [string, Record<string, unknown>][] = [
  ['a legacy function call', { ...SILENT, function_call: { name: 'find', arguments: '{"q":"x"}' } }],
  ['sound', { ...SILENT, audio: { id: 'a', data: 'AAAA'.repeat(1000), transcript: 'Good morning' } }],
  [
    'pictures',
    { ...SILENT, images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] },
  ],
  ['a list of parts', { content: [{ type: 'text', text: 'Hello there' }] }],
  ['thoughts in parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm, well' }] }] }],
  ['a refusal', { ...SILENT, refusal: 'I would rather not.' }],
  ['reasoning', { ...SILENT, reasoning: 'First, I look at it.' }],
  [
    'a call of a custom tool',
    { ...SILENT, tool_calls: [{ id: 'c', custom: { name: 'run', input: 'ls -l' } }] },
  ],
]

describe('reported usage is charged, whatever the answer contains', () => {
  test.each([...CONTENTS, ['nothing at all', SILENT] as const])(
    'in a complete answer with %s',
    async (_name, message) => {
      expect(await costOfWhole(completion({ message }))).toBeCloseTo(PRICE, 12)
    },
  )

  test.each([...CONTENTS, ['nothing at all', {}] as const])('in a stream with %s', async (_name, delta) => {
    const chunks = [
      chunk({ delta: { role: 'assistant', ...delta } }),
      chunk({ finish_reason: 'stop' }),
      chunk({ choices: [], usage: USAGE }),
    ]
    expect((await usageOfStream(chunks)).cost_usd).toBeCloseTo(PRICE, 12)
  })

  test('in a text completion without text', async () => {
    const choices = [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }]
    const body = { model: 'native', prompt: 'x' }
    expect(await costOfWhole(textCompletion({ choices }), body, COMPLETIONS)).toBeCloseTo(NATIVE_PRICE, 12)
  })
})

describe('without reported usage', () => {
  test.each(CONTENTS)('%s is counted', async (_name, message) => {
    expect(await costOfWhole(completion({ message, usage: undefined }))).toBeGreaterThan(0)
  })

  test.each(CONTENTS)('%s is counted in a stream', async (_name, delta) => {
    const chunks = [chunk({ delta: { role: 'assistant', ...delta } }), chunk({ finish_reason: 'stop' })]
    expect((await usageOfStream(chunks)).cost_usd).toBeGreaterThan(0)
  })

  test('an answer without content is free', async () => {
    expect(await costOfWhole(completion({ message: SILENT, usage: undefined }))).toBe(0)
    const chunks = [chunk({ delta: { role: 'assistant' } }), chunk({ finish_reason: 'stop' })]
    expect((await usageOfStream(chunks)).cost_usd).toBe(0)
  })
})

describe('with several usage reports in one stream', () => {
  const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const half = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 }
  const said = chunk({ delta: { role: 'assistant', content: 'Hello' } })
  const end = chunk({ finish_reason: 'stop' })
  const report = (usage: unknown) => chunk({ choices: [], usage })

  test.each<[string, readonly object[]]>([
    ['the same twice counts once', [said, end, report(USAGE), report(USAGE)]],
    ['zeros at the end take nothing back', [said, end, report(USAGE), report(ZERO)]],
    ['a shorter one takes nothing back', [said, end, report(USAGE), report(half)]],
    ['one without counts takes nothing back', [said, end, report(USAGE), report({})]],
    [
      'one that nobody believes is left out',
      [said, report(USAGE), end, report({ ...USAGE, prompt_tokens: 1e15 })],
    ],
    [
      'a running one counts at its largest',
      [report(ZERO), { ...said, usage: half }, { ...end, usage: USAGE }],
    ],
    [
      'each count is the largest one',
      [said, end, report({ ...USAGE, completion_tokens: 0 }), report({ ...ZERO, completion_tokens: 7 })],
    ],
  ])('%s', async (_name, chunks) => {
    expect(await usageOfStream(chunks)).toMatchObject({ ...USAGE, cost_usd: PRICE })
  })

  test('reports of only zeros make the answer free', async () => {
    expect(await usageOfStream([said, end, report(ZERO)])).toMatchObject({ ...ZERO, cost_usd: 0 })
  })

  test('each prompt of a list is counted by its largest report', async () => {
    const answer = (usages: readonly unknown[]) => stream([said, end, ...usages.map(report)])
    gateway.upstream.respondWith(answer([USAGE, ZERO]), answer([USAGE, half]))
    const response = await gateway.fetch('POST', COMPLETIONS, {
      body: {
        model: 'gpt-4o-mini',
        prompt: ['a', 'b'],
        stream: true,
        stream_options: { include_usage: true },
      },
    })
    const { chunks } = await readEvents(response)
    expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 22, completion_tokens: 14 })
  })
})
