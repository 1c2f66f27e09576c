import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { until } from '../app/call.ts'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'
import { createCaller } from './spending-client.ts'
import { chatOf, MODEL, readCharges, type ChargeRow } from './start-fleet.ts'

const WORDS = ['One', ' two', ' three', ' four']
const EVENTS = [
  ...WORDS.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
].map((event) => `data: ${JSON.stringify(event)}\n\n`)
const STREAM = EVENTS.join('')
const AT_ONCE = 25

let gateway: ChatGateway
let payer: TestAccount
const database = () =>
  connectDatabase({ connectionString: gateway.connectionString, poolSize: 1, statementTimeoutMs: 10_000 })

beforeAll(async () => {
  // vLLM stops generating after a disconnect, so the relayed tokens are the only known usage.
  gateway = await startChatGateway({
    models: [modelEntry(MODEL, [{ provider: 'vllm', model: MODEL }])],
    providers: ['vllm'],
  })
  payer = await createAccount(gateway, { creditUsd: 1 })
})
afterAll(() => gateway.close())

describe('a client that disconnects at any byte of a stream', () => {
  const cut: { relayed: number; charge: ChargeRow | undefined }[] = []
  let whole: bigint

  beforeAll(async () => {
    gateway.upstream.respondWith(playUpTo)
    const requestIds: string[] = []
    for (let position = 0; position < STREAM.length; position += AT_ONCE) {
      const positions = Array.from(
        { length: Math.min(AT_ONCE, STREAM.length - position) },
        (_, at) => position + at,
      )
      requestIds.push(...(await Promise.all(positions.map(leaveAt))))
    }
    const wholeId = await readWhole()
    const reader = database()
    const charges = await until(async () => {
      const found = await readCharges(reader, payer.accountId)
      // A request whose client received no token is not charged and has no row.
      return found.length >= requestIds.filter((_, position) => relayedBy(position) > 0).length + 1 && found
    })
    await reader.close()
    const byId = new Map(charges.map((charge) => [charge.requestId, charge]))
    whole = byId.get(wholeId)?.costNanoUsd ?? 0n
    for (const [position, id] of requestIds.entries()) {
      cut.push({ relayed: relayedBy(position), charge: byId.get(id) })
    }
  })

  test('pays for what was sent, never more than the whole answer, and more for more', () => {
    expect(whole).toBeGreaterThan(0n)
    const costs = cut.map(({ charge }) => charge?.costNanoUsd ?? 0n)
    expect(costs.filter((cost) => cost > whole)).toEqual([])
    expect(costs).toEqual(costs.toSorted((a, b) => Number(a - b)))
    const byRelayed = Map.groupBy(cut, ({ relayed }) => relayed)
    for (const [relayed, group] of byRelayed) {
      const prices = new Set(group.map(({ charge }) => charge?.costNanoUsd))
      expect([relayed, prices.size]).toEqual([relayed, 1])
    }
    const pricesOfWords = WORDS.map((_, index) => byRelayed.get(index + 1)?.[0]?.charge?.costNanoUsd ?? 0n)
    expect(new Set(pricesOfWords).size).toBe(WORDS.length)
    expect(byRelayed.get(0)?.[0]?.charge).toBeUndefined()
  })

  test('is recorded as disconnected', () => {
    const outcomes = cut.flatMap(({ charge }) => charge?.outcome ?? [])
    expect(new Set(outcomes)).toEqual(new Set(['disconnected']))
  })

  test('leaves no hold: a later request can use all remaining credit', async () => {
    const { body } = await gateway.request('GET', '/v1/tenants/me', { key: payer.key })
    const balanceNanoUsd = BigInt(Math.round(body.balance_usd * 1e9))
    // The whole balance minus the maximum cost of the prompt.
    const tokens = Number((balanceNanoUsd - 2_000_000n) / 10_000n)
    gateway.upstream.respondWith({ headers: STREAM_HEADERS, chunks: [STREAM, 'data: [DONE]\n\n'] })
    const caller = createCaller()
    const call = await caller.call(
      gateway.baseUrl,
      payer.key,
      chatOf('all', { max_tokens: tokens, stream: true }),
    )
    caller.close()
    expect([call.status, call.message]).toEqual([200, ''])
    expect(gateway.upstream.bodies().at(-1)?.max_tokens).toBe(tokens)
  })
})

const STREAM_HEADERS = { 'content-type': 'text/event-stream' }

/** Sends the stream up to the byte that the request names, and then nothing more. */
function playUpTo({ body }: { body: unknown }): ScriptedReply {
  const text = JSON.stringify(body)
  const position = Number(/leave at (\d+)/.exec(text)?.[1] ?? STREAM.length)
  const isWhole = position === STREAM.length
  const chunks = isWhole
    ? [STREAM, 'data: [DONE]\n\n']
    : [STREAM.slice(0, position)].filter((chunk) => chunk !== '')
  return { headers: STREAM_HEADERS, chunks, ending: isWhole ? 'end' : 'hang' }
}

/** Returns a prompt that has the same number of tokens for every position. */
function promptOf(position: number): string {
  return `leave at ${String(position).padStart(3, '0')}.`
}

/** Returns how many words are complete at this byte. */
function relayedBy(position: number): number {
  return Math.min(WORDS.length, STREAM.slice(0, position).split('\n\n').length - 1)
}

/** Disconnects at this byte of the stream and returns the request's id. */
async function leaveAt(position: number): Promise<string> {
  const content = promptOf(position)
  const client = new AbortController()
  const asking = gateway.fetch('POST', '/v1/chat/completions', {
    key: payer.key,
    body: chatOf(content, { stream: true, max_tokens: 100 }),
    signal: client.signal,
  })
  asking.catch(() => {})
  const request = await until(() =>
    gateway.upstream.requests.find(({ text }) => text.includes(JSON.stringify(content))),
  )
  const expected = STREAM.slice(0, position).split('\n\n').length - 1
  if (expected > 0) await readEvents(await asking, expected)
  client.abort()
  await request.abandoned
  return String(request.headers['x-request-id'])
}

async function readEvents(response: Response, count: number): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.split('\n\n').length - 1 < count) text += (await reader?.read())?.value ?? ''
}

async function readWhole(): Promise<string> {
  const response = await gateway.fetch('POST', '/v1/chat/completions', {
    key: payer.key,
    body: chatOf(promptOf(STREAM.length), { stream: true, max_tokens: 100 }),
  })
  expect(await response.text()).toContain('[DONE]')
  return String(response.headers.get('x-request-id'))
}
