import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { parseNamedEvents } from '../messages/start-messages-gateway.ts'
import { parseNumberedEvents } from '../responses/start-native-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'
import { anthropicStream, anthropicTextEvents, startAnthropicServer } from '../upstreams/anthropic-server.ts'
import { chunksOf, stream } from '../upstreams/openai-server.ts'
import {
  responseStream,
  responseTextEvents,
  startResponsesServer,
} from '../upstreams/openai-responses-server.ts'
import type { RecordedRequest, ScriptedReply, ScriptedServer } from '../upstreams/scripted-server.ts'

let gateway: ChatGateway
let anthropic: ScriptedServer
let openai: ScriptedServer

beforeAll(async () => {
  anthropic = await startAnthropicServer()
  openai = await startResponsesServer()
  gateway = await startChatGateway({
    models: [
      modelEntry('claude', [{ provider: 'anthropic', model: 'm' }]),
      modelEntry('gpt', [{ provider: 'openai', model: 'm' }]),
      modelEntry('scripted', [{ provider: 'groq', model: 'm' }]),
    ],
    providers: ['groq'],
    settings: {
      ANTHROPIC_API_KEY: 'sk-ant-1',
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
      OPENAI_BASE_URL: openai.baseUrl,
      OPENAI_WIRES: '',
    },
  })
  anthropic.respondWith(cutAsTold(anthropicStream(anthropicTextEvents(TEXT))))
  openai.respondWith(cutAsTold(responseStream(responseTextEvents(TEXT))))
  gateway.upstream.respondWith(cutAsTold(stream(chunksOf(...TEXT.split(/(?<= )/)))))
})

afterAll(async () => {
  await gateway.close()
  await anthropic.close()
  await openai.close()
})

const TEXT = 'Hé ho'
const BATCH = 48
/** How many of the bytes are tried, apart from the last ones. */
const SHARE = longOr(1, 0.2)
const LAST_BYTES = 24

/** Cuts a stream at the byte that the prompt names. */
function cutAsTold({ headers = {}, chunks }: ScriptedReply) {
  const whole = Buffer.from(chunks.join(''))
  return ({ text }: RecordedRequest): ScriptedReply => {
    const at = Number(/Cut at (\d+)/.exec(text)?.[1])
    return { headers, chunks: [whole.subarray(0, at)], ending: at > whole.length ? 'end' : 'cut' }
  }
}

interface Told {
  readonly isWhole: boolean
  readonly text: string
}

/** Reads a Messages stream. Fails unless it has one start, correctly opened and closed blocks, and one end. */
function readMessages(body: string): Told {
  const events = parseNamedEvents(body).filter(({ name }) => name !== 'ping')
  const names = events.map(({ name }) => name)
  expect(names.join(' ')).toMatch(
    /^message_start( content_block_start( content_block_delta)* content_block_stop)*( message_delta message_stop|( content_block_start( content_block_delta)*)? error)$/,
  )
  const text = events.map(({ data }) => data.delta?.text ?? '').join('')
  if (names.at(-1) === 'error') expect(events.at(-1)?.data.error).toMatchObject({ type: 'api_error' })
  return { isWhole: names.at(-1) === 'message_stop', text }
}

/** Reads a Responses stream. Fails unless it has numbered events, one id and one end. */
function readResponses(body: string): Told {
  const events = parseNumberedEvents(body)
  const names = events.map(({ name }) => name)
  const isEnd = (name: string) => /^(response\.(completed|incomplete|failed)|error)$/.test(name)
  expect([names[0], names.findIndex(isEnd)]).toEqual(['response.created', names.length - 1])
  expect(names.at(-1)).toMatch(/^response\.(completed|failed)$|^error$/)
  expect(new Set(events.flatMap(({ data }) => data.response?.id ?? [])).size).toBe(1)
  const deltas = events.filter(({ name }) => name === 'response.output_text.delta')
  const text = deltas.map(({ data }) => data.delta).join('')
  return { isWhole: names.at(-1) === 'response.completed', text }
}

const MESSAGES = {
  path: '/v1/messages',
  bodyOf: (model: string, content: string) => ({
    model,
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content }],
  }),
  read: readMessages,
}
const RESPONSES = {
  path: '/v1/responses',
  bodyOf: (model: string, input: string) => ({
    model,
    input,
    max_output_tokens: 100,
    stream: true,
    store: false,
  }),
  read: readResponses,
}

async function costsOf(count: number): Promise<Map<string, number>> {
  return eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/usage/records?limit=${count}`)
    return new Map(
      body.data.map((record: { request_id: string; cost_usd: number }) => [
        record.request_id,
        record.cost_usd,
      ]),
    )
  })
}

describe.each([
  ['Messages, native', MESSAGES, 'claude', anthropicStream(anthropicTextEvents(TEXT)), 72],
  ['Messages, translated', MESSAGES, 'scripted', stream(chunksOf(...TEXT.split(/(?<= )/))), 81],
  ['Responses, native', RESPONSES, 'gpt', responseStream(responseTextEvents(TEXT)), 72],
  ['Responses, translated', RESPONSES, 'scripted', stream(chunksOf(...TEXT.split(/(?<= )/))), 81],
] as const)('%s', (_name, { path, bodyOf, read }, model, reply, microUsd) => {
  test(
    'a stream that is cut at any byte is well formed, has an error, and is charged for what was delivered',
    { timeout: 120_000 },
    async () => {
      const bytes = Buffer.byteLength(reply.chunks.join(''))
      let lastCost = 0
      let whole = 0
      let cut = 0
      const cuts = Array.from({ length: bytes + 2 }, (_, at) => at).filter(
        (at) => at > bytes - LAST_BYTES || randomShare() < SHARE,
      )
      for (let from = 0; from < cuts.length; from += BATCH) {
        const places = cuts.slice(from, from + BATCH)
        const answers = await Promise.all(
          places.map(async (at) => {
            const response = await gateway.fetch('POST', path, { body: bodyOf(model, `Cut at ${at}`) })
            return { at, response, body: await response.text() }
          }),
        )
        const costs = await costsOf(100)
        for (const { at, response, body } of answers) {
          const cost = costs.get(response.headers.get('x-request-id') ?? '') ?? 0
          if (response.status !== 200) {
            expect([at, response.status, JSON.parse(body).error, cost]).toMatchObject([at, 502, {}, 0])
            continue
          }
          const told = read(body)
          if (told.isWhole) expect([at, told.text]).toEqual([at, TEXT])
          else expect(TEXT.startsWith(told.text)).toBe(true)
          expect([at, told.text === '' || cost > 0]).toEqual([at, true])
          // A later cut delivers more text, so the cost never decreases.
          expect([at, cost >= lastCost]).toEqual([at, true])
          lastCost = cost
          if (told.isWhole) whole += 1
          else cut += 1
        }
      }
      // The last stream is not cut and costs what the upstream reports.
      expect(lastCost).toBe(microUsd / 1e6)
      expect(cut).toBeGreaterThan(10)
      expect(whole).toBeGreaterThan(0)
    },
  )
})
