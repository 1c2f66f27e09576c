import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { readPieces } from '../chat/read-events.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { chunk, chunksOf, pacedStream, type PacedStream } from '../upstreams/openai-server.ts'

/** The duration of a turn of the event loop in which nothing keeps up. */
const SLOW_MS = 500
/** More than what requests of earlier tests count for. */
const LONG_MS = 10_000
const STREAMS = 12

let gateway: ChatGateway
let busy: TestAccount
let noteTurn: (turnMs: number, nowMs: number) => void
let nowMs = 0

beforeAll(async () => {
  gateway = await startChatGateway({
    overload: {
      unitsMin: 4,
      measureTurns: (note) => {
        noteTurn = note
        return () => {}
      },
    },
  })
})

afterAll(() => gateway.close())

function turn(turnMs: number, turns: number): void {
  for (let count = 0; count < turns; count += 1) {
    nowMs += 100
    noteTurn(turnMs, nowMs)
  }
}

function recover(): void {
  nowMs += LONG_MS
  turn(1, 30)
}

beforeEach(async () => {
  recover()
  busy = await createAccount(gateway, { creditUsd: 10 })
})

/** Opens streams that run until the test ends them, then reports that the process cannot keep up. */
async function overload(): Promise<{ streams: PacedStream[]; readers: ReturnType<typeof readPieces>[] }> {
  const streams: PacedStream[] = []
  const readers: ReturnType<typeof readPieces>[] = []
  for (let count = 0; count < STREAMS; count += 1) {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const [role, word] = chunksOf('Hello')
    paced.release(role ?? {})
    paced.release(word ?? {})
    const response = await gateway.fetch('POST', CHAT, { key: busy.key, body: chatBody({ stream: true }) })
    const reader = readPieces(response)
    await reader.until(/Hello/)
    streams.push(paced)
    readers.push(reader)
  }
  onTestFinished(() => streams.forEach(finish))
  gateway.upstream.respondWith()
  turn(SLOW_MS, 10)
  return { streams, readers }
}

function finish(paced: PacedStream): void {
  paced.release(chunk({ finish_reason: 'stop' }))
  paced.finish()
}

const ask = (key: string, path = CHAT, body: object = chatBody()) =>
  gateway.request('POST', path, { key, body })

describe('while a process has more than it can do', () => {
  test('the account with most is refused before any work, and told when to come again', async () => {
    await overload()
    const asked = gateway.upstream.requests.length
    const refused = await ask(busy.key)
    expect(refused.status).toBe(503)
    expect(refused.body.error).toMatchObject({ type: 'api_error', code: 'service_unavailable' })
    expect(refused.body.error.request_id).toBe(refused.headers.get('x-request-id'))
    expect(refused.headers.get('retry-after')).toMatch(/^[1-4]$/)
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
    // Not even the body is looked at.
    const unread = await gateway.request('POST', CHAT, { key: busy.key, body: 'no JSON' })
    expect(unread.status).toBe(503)
    const multiple = await Promise.all(Array.from({ length: 20 }, () => ask(busy.key)))
    expect(new Set(multiple.map(({ status }) => status))).toEqual(new Set([503]))
    expect(gateway.upstream.requests).toHaveLength(asked)
  })

  test('an account without requests is answered', async () => {
    const quiet = await createAccount(gateway, { creditUsd: 1 })
    await overload()
    expect((await ask(quiet.key)).status).toBe(200)
    expect((await ask(busy.key)).status).toBe(503)
  })

  test('clients of Messages get the error of their wire', async () => {
    await overload()
    const body = { model: 'gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    const refused = await ask(busy.key, '/v1/messages', body)
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ type: 'error', error: { code: 'service_unavailable' } })
    expect(refused.headers.get('request-id')).toBe(refused.body.request_id)
  })

  test('other routes refuse the account too, and serve operators', async () => {
    await overload()
    const own = await gateway.request('GET', '/v1/usage/records', { key: busy.key })
    expect(own.status).toBe(503)
    expect(own.headers.get('retry-after')).toMatch(/^[1-4]$/)
    const path = `/v1/admin/accounts/${busy.accountId}`
    expect((await gateway.request('GET', path)).status).toBe(200)
    expect((await gateway.request('GET', '/v1/usage/records')).status).toBe(200)
    expect((await gateway.request('GET', '/readyz')).status).toBe(200)
  })

  test('streams in progress come to their end and are charged once', async () => {
    const { streams, readers } = await overload()
    turn(SLOW_MS, 50)
    streams.forEach(finish)
    for (const reader of readers) expect(await reader.until(/\[DONE\]/)).not.toContain('"error"')
    recover()
    await expect.poll(() => chargesOf(busy)).toBe(STREAMS)
  })

  test('a refused request costs nothing', async () => {
    const { streams, readers } = await overload()
    for (let count = 0; count < 5; count += 1) expect((await ask(busy.key)).status).toBe(503)
    streams.forEach(finish)
    for (const reader of readers) await reader.until(/\[DONE\]/)
    recover()
    await expect.poll(() => chargesOf(busy)).toBe(STREAMS)
  })

  test('an unknown key gets the same answer as ever', async () => {
    await overload()
    expect((await ask('pk-dev-UnknownUnknownUnknownUnknownUnknownUnknown')).status).toBe(401)
  })

  test('metrics count the refusals', async () => {
    await overload()
    const before = await readMetric('parkway_limit_refusals_total{layer="overload"}')
    await ask(busy.key)
    expect(await readMetric('parkway_limit_refusals_total{layer="overload"}')).toBe(before + 1)
    expect(await readMetric('parkway_overloaded')).toBe(1)
    turn(1, 30)
    expect(await readMetric('parkway_overloaded')).toBe(0)
  })
})

test('everybody is answered again when turns are short', async () => {
  await overload()
  expect((await ask(busy.key)).status).toBe(503)
  recover()
  expect((await ask(busy.key)).status).toBe(200)
})

async function chargesOf({ key }: TestAccount): Promise<number> {
  const { body } = await gateway.request('GET', `/v1/usage/records?limit=100`, { key })
  return body.data.length
}

async function readMetric(name: string): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics')
  const line = String(body)
    .split('\n')
    .find((text) => text.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? 0)
}
