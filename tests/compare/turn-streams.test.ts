import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readEvents, readPieces } from '../chat/read-events.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { limitEverybody } from '../limits/gateways.ts'
import { chunk, chunksOf, pacedStream, stream } from '../upstreams/openai-server.ts'
import { speakers, startCompareGateway } from './start-compare-gateway.ts'
import { eventually } from '../support/eventually.ts'

const CONVERSATIONS = '/v1/compare/conversations'

let gateway: ChatGateway

beforeAll(async () => {
  const narrow = limitEverybody({ concurrent_requests: 3, requests_per_minute: 1_000 })
  gateway = await startCompareGateway(['red', 'blue', 'broken'], { ...narrow, PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const begin = async (...models: string[]) =>
  (await gateway.request('POST', CONVERSATIONS, { body: { models } })).body
const open = (id: string, signal?: AbortSignal) =>
  gateway.fetch('POST', `${CONVERSATIONS}/${id}/turns`, {
    body: { content: 'Hi', stream: true },
    ...(signal && { signal }),
  })
const read = async (id: string) => (await gateway.request('GET', `${CONVERSATIONS}/${id}`)).body
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd

describe('a streamed turn', () => {
  test('has chunks of both lanes as they arrive, a usage for each, the complete turn, and an end', async () => {
    const { id, lanes } = await begin('red', 'blue')
    const [slow, fast] = [pacedStream(), pacedStream()]
    gateway.upstream.respondWith(speakers({ red: slow.reply, blue: fast.reply }))
    const opening = open(id)
    for (const entry of chunksOf('quick')) fast.release(entry)
    fast.finish()
    const response = await opening
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    const reader = readPieces(response)
    // The fast lane finishes before the slow one sends its first token.
    expect(await reader.until(/cost_usd/)).not.toContain(lanes[0].id)
    for (const entry of chunksOf('late')) slow.release(entry)
    slow.finish()
    const text = await reader.until(/\[DONE\]/)
    const frames = text
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)))
    const turn = frames.pop()
    for (const [lane, words] of [
      [lanes[0], 'late'],
      [lanes[1], 'quick'],
    ]) {
      const own = frames.filter((frame) => frame.lane_id === lane.id)
      expect(own.every(({ object }) => object === 'chat.completion.chunk')).toBe(true)
      expect(own.flatMap(({ choices }) => choices).map(({ delta }) => delta.content ?? '')).toContain(words)
      expect(own.at(-1).usage.cost_usd).toBeGreaterThan(0)
    }
    expect(turn).toMatchObject({
      object: 'compare.turn',
      replies: [
        { output: 'late', finish_reason: 'stop' },
        { output: 'quick', finish_reason: 'stop' },
      ],
    })
    expect((await read(id)).turns).toMatchObject([{ replies: [{ output: 'late' }, { output: 'quick' }] }])
  })

  test('continues if one lane fails before its first chunk, or mid-stream', async () => {
    const { id, lanes } = await begin('red', 'broken', 'blue')
    const cut = stream([chunk({ delta: { role: 'assistant', content: 'half' } })], { ending: 'cut' })
    gateway.upstream.respondWith(speakers({ red: () => 'whole', blue: cut }))
    const { chunks, isDone } = await readEvents(await open(id))
    expect(isDone).toBe(true)
    const errors = chunks.filter(({ error }) => error)
    expect(new Set(errors.map((frame) => frame.lane_id))).toEqual(new Set([lanes[1].id, lanes[2].id]))
    for (const { error } of errors)
      expect(error).toMatchObject({ type: 'upstream_error', request_id: expect.stringMatching(/^req_/) })
    expect(chunks.at(-1)).toMatchObject({
      replies: [
        { status: 'completed', output: 'whole' },
        { status: 'failed', output: '', cost_usd: 0 },
        { status: 'failed', output: 'half' },
      ],
    })
    expect(chunks.at(-1).replies[2].cost_usd).toBeGreaterThan(0)
  })

  test('a streamed turn whose client disconnects cancels all calls if draining is off, charges them, and lets the next turn begin', async () => {
    const { id } = await begin('red', 'blue')
    const before = await balance()
    const [one, other] = [pacedStream(), pacedStream()]
    gateway.upstream.respondWith(speakers({ red: one.reply, blue: other.reply }))
    one.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
    const client = new AbortController()
    const reader = readPieces(await open(id, client.signal))
    await reader.until(/Hello/)
    const calls = [await gateway.upstream.requestNumber(0), await gateway.upstream.requestNumber(1)]
    client.abort()
    await Promise.all(calls.map(({ abandoned }) => abandoned))
    await eventually(async () => expect((await read(id)).status).toBe('idle'))
    const { turns, cost_usd: cost } = await read(id)
    expect(turns[0].replies).toMatchObject([
      { status: 'failed', output: 'Hello', error: { code: 'interrupted' } },
      { status: 'failed', output: '', error: { code: 'interrupted' } },
    ])
    // The lane without any output is charged too, because the vendor bills it.
    for (const reply of turns[0].replies) expect(reply.cost_usd).toBeGreaterThan(0)
    expect(cost).toBeGreaterThan(0)
    expect(await balance()).toBeCloseTo(before - cost, 9)
    gateway.upstream.respondWith(speakers({ red: () => 'r', blue: () => 'b' }))
    const { isDone } = await readEvents(await open(id))
    expect(isDone).toBe(true)
    expect(gateway.upstream.bodies().at(-1).messages.at(-1)).toEqual({ role: 'user', content: 'Hi' })
  })

  test("with more lanes than the account's concurrency answers all of them, one after the other", async () => {
    const { id } = await begin(...Array.from({ length: 10 }, () => 'red'))
    gateway.upstream.respondWith(speakers({ red: () => 'r' }))
    const { chunks } = await readEvents(await open(id))
    expect(chunks.at(-1).replies.map(({ output }: { output: string }) => output)).toEqual(
      Array.from({ length: 10 }, () => 'r'),
    )
  })
})
