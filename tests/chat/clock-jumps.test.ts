import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'
import { readEvents } from './read-events.ts'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const HOUR_MS = 3_600_000

let gateway: ChatGateway
let startedMs: number

beforeEach(async () => {
  gateway = await startChatGateway()
  startedMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: startedMs })
})

afterEach(async () => {
  vi.useRealTimers()
  await gateway.close()
})

const ask = () => gateway.request('POST', CHAT, { body: chatBody() })

async function listRecords() {
  const from = new Date(Date.UTC(2000, 0)).toISOString()
  const to = new Date(Date.UTC(2100, 0)).toISOString()
  return (await gateway.request('GET', `/v1/usage/records?from=${from}&to=${to}`)).body.data
}

/** Changes the system clock while the upstream handles the request. */
function jumpDuring(jumpMs: number): void {
  gateway.upstream.respondWith(async ({ body }) => {
    vi.setSystemTime(Date.now() + jumpMs)
    const isStream = JSON.stringify(body).includes('"stream":true')
    return isStream ? stream(chunksOf('Hello')) : completion()
  })
}

test.each([
  ['two hours on', 2 * HOUR_MS],
  ['two hours back', -2 * HOUR_MS],
  ['forty days on', 40 * 24 * HOUR_MS],
  ['forty days back', -40 * 24 * HOUR_MS],
  ['by half a millisecond', 0.5],
])('a system clock that is set %s during requests loses no answer and no charge', async (_name, jumpMs) => {
  expect((await ask()).status).toBe(200)
  for (const sign of [1, -1, 1]) {
    jumpDuring(sign * jumpMs)
    expect((await ask()).status).toBe(200)
    const response = await gateway.fetch('POST', CHAT, { body: chatBody({ stream: true }) })
    expect(await readEvents(response)).toMatchObject({ content: 'Hello', isDone: true })
  }
  const records = await listRecords()
  expect(records).toHaveLength(7)
  for (const record of records) {
    expect(record.latency_ms).toBeGreaterThanOrEqual(0)
    expect(record.latency_ms).toBeLessThan(HOUR_MS)
  }
})

test('the rest period of an upstream does not become days if the clock is set back', async () => {
  gateway.upstream.respondWith(failure(500))
  for (let count = 0; count < 6; count += 1) expect((await ask()).status).toBe(502)
  vi.setSystemTime(Date.now() - 10 * 24 * HOUR_MS)
  gateway.upstream.respondWith(completion())
  expect((await ask()).status).toBe(200)
  expect((await ask()).status).toBe(200)
})
