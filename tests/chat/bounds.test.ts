import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  chunksOf,
  completion,
  endlessStream,
  headersOnly,
  json,
  pacedStream,
  silence,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { eventually } from '../support/eventually.ts'
import { readEvents } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const MEBIBYTE = 1024 * 1024

let gateway: ChatGateway

/** Starts one gateway for all tests of a group. */
function useGateway(settings: Record<string, string> = {}, models: readonly object[] = []): void {
  beforeAll(async () => {
    gateway = await startChatGateway({ settings, models })
  })

  afterAll(() => gateway.close())

  beforeEach(async () => {
    // One good answer, so that no test inherits the failures that the circuit breaker has counted.
    gateway.upstream.respondWith(completion())
    await eventually(async () => expect((await ask()).status).toBe(200))
    gateway.upstream.requests.length = 0
  })
}

const IMPATIENT = {
  PARKWAY_UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '700',
  PARKWAY_UPSTREAM_IDLE_TIMEOUT_MS: '700',
  PARKWAY_STREAM_DURATION_MS_MAX: '2000',
}

const ask = (members: object = {}) => gateway.request('POST', CHAT, { body: chatBody(members) })
const open = () => gateway.fetch('POST', CHAT, { body: chatBody({ stream: true }) })
const [role = {}, hello = {}] = chunksOf('Hello')

describe('a slow upstream', () => {
  useGateway(IMPATIENT)

  test.each<[string, Reply, boolean]>([
    ['says nothing at all', silence, false],
    ['says nothing at all, to a stream', silence, true],
    ['falls silent after its headers', headersOnly('application/json'), false],
    ['falls silent after its headers, to a stream', headersOnly('text/event-stream'), true],
    [
      'falls silent in the middle of a document',
      { ...completion(), chunks: ['{"id":'], ending: 'hang' },
      false,
    ],
  ])('504: %s', async (_name, reply, isStream) => {
    gateway.upstream.respondWith(reply)
    const { status, body } = await ask({ stream: isStream })
    expect([status, body.error]).toEqual([
      504,
      expect.objectContaining({ type: 'api_error', code: 'timeout', param: null }),
    ])
    expect(gateway.upstream.requests).toHaveLength(1)
    await gateway.upstream.requests[0]?.abandoned
  })

  test('a stream that stops in the middle ends with one error frame', async () => {
    gateway.upstream.respondWith(stream([role, hello], { ending: 'hang' }))
    const { content, isDone, chunks } = await readEvents(await open())
    expect([content, isDone, chunks.at(-1).error.code]).toEqual(['Hello', false, 'timeout'])
    await gateway.upstream.requests[0]?.abandoned
  })
})

describe('an upstream that never ends', () => {
  useGateway(IMPATIENT)

  test('an endless stream ends with one error frame', async () => {
    const endless = endlessStream(chunk({ delta: { content: 'x' } }))
    gateway.upstream.respondWith(endless.reply)
    const { isDone, chunks } = await readEvents(await open())
    expect([isDone, chunks.at(-1).error.code]).toEqual([false, 'timeout'])
    await gateway.upstream.requests[0]?.abandoned
  })

  test.each([false, true])(
    'an upstream that only sends comments gives 504 (stream: %s)',
    async (isStream) => {
      const endless = endlessStream(isStream ? ': still thinking\n\n' : ' ', 10)
      gateway.upstream.respondWith({
        ...endless.reply,
        headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
      })
      const { status, body } = await ask({ stream: isStream })
      expect([status, body.error.code]).toEqual([504, 'timeout'])
      await gateway.upstream.requests[0]?.abandoned
    },
  )
})

describe('an upstream that sends comments instead of events', () => {
  const impatient = { first_byte_ms: 500, idle_ms: 500 }
  useGateway({}, [
    modelEntry('talker', [{ provider: 'openai', model: 'talker', timeouts: impatient }]),
    modelEntry('second-try', [
      { provider: 'openai', model: 'talker', timeouts: impatient },
      { provider: 'openai', model: 'worker' },
    ]),
  ])
  const PAUSE_MS = 10
  const comments = (entry: string, before: readonly (string | object)[] = []) => ({
    ...endlessStream(entry, PAUSE_MS).reply,
    chunks: stream(before, { ending: 'hang' }).chunks,
  })
  const openFrom = (model: string) => gateway.fetch('POST', CHAT, { body: chatBody({ model, stream: true }) })

  test.each([': still thinking\n\n', ':\n', '\n', 'event: ping\n\n'])(
    'is given up after the time for the first event: %j',
    async (entry) => {
      gateway.upstream.respondWith(comments(entry))
      const { status, body } = await ask({ model: 'talker', stream: true })
      expect([status, body.error.code]).toEqual([504, 'timeout'])
      await gateway.upstream.requests[0]?.abandoned
    },
  )

  test('is given up after the time between two events', async () => {
    gateway.upstream.respondWith(comments(': still thinking\n\n', [role, hello]))
    const { content, isDone, chunks } = await readEvents(await openFrom('talker'))
    expect([content, isDone, chunks.at(-1).error.code]).toEqual(['Hello', false, 'timeout'])
    await gateway.upstream.requests[0]?.abandoned
  })

  test('is replaced by the next route', async () => {
    gateway.upstream.respondWith(({ body }) =>
      Object(body).model === 'talker' ? comments(': still thinking\n\n') : stream(chunksOf('Hello')),
    )
    const { content, isDone } = await readEvents(await openFrom('second-try'))
    expect([content, isDone]).toEqual(['Hello', true])
  })

  test.each([': still thinking\n\n', ':\n', '\n', 'event: ping\n\n'])(
    'is given up at once if they are a flood: %j',
    async (entry) => {
      const flood = endlessStream(entry.repeat(50_000))
      gateway.upstream.respondWith(flood.reply)
      const { status } = await ask({ stream: true })
      expect(status).toBe(502)
      await gateway.upstream.requests[0]?.abandoned
      expect(flood.written.bytes).toBeLessThan(16 * MEBIBYTE)
    },
  )
})

describe('an upstream within its time limit', () => {
  const routeOf = (model: string, timeoutMs: number) =>
    modelEntry(model, [
      { provider: 'openai', model, timeouts: { first_byte_ms: timeoutMs, idle_ms: timeoutMs } },
    ])
  useGateway({}, [routeOf('patient', 600_000), routeOf('impatient', 300)])

  test.each([false, true])('is awaited although it is slow (stream: %s)', async (isStream) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const answer = isStream ? stream(chunksOf('Hello')) : completion()
    gateway.upstream.respondWith(({ body }) =>
      Object(body).model === 'patient' ? released.then(() => answer) : new Promise(() => {}),
    )
    const asking = gateway.fetch('POST', CHAT, { body: chatBody({ model: 'patient', stream: isStream }) })
    await gateway.upstream.requestNumber(0)
    // A later request to the model with the short timeout has timed out, so the first request has outlived that timeout.
    const { status } = await ask({ model: 'impatient', stream: isStream })
    expect(status).toBe(504)
    release()
    const response = await asking
    expect([response.status, (await response.text()).includes('Hello')]).toEqual([200, true])
    const asked = gateway.upstream.bodies().filter(({ model }) => model === 'patient')
    expect(asked).toHaveLength(1)
  })
})

describe('an upstream that sends too much', () => {
  useGateway()

  test.each([true, false])('a line of 10 MB gives 502 (with its end: %s)', async (hasEnd) => {
    const line = `data: ${'x'.repeat(10 * MEBIBYTE)}`
    gateway.upstream.respondWith(stream(hasEnd ? [`${line}\n\n`] : [line], { ending: 'hang' }))
    const { status, body } = await ask({ stream: true })
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    for (const request of gateway.upstream.requests) await request.abandoned
  })

  test('a line of 10 MB mid-stream gives one error frame', async () => {
    const line = chunk({ delta: { content: 'x'.repeat(10 * MEBIBYTE) } })
    gateway.upstream.respondWith(stream([role, hello, line]))
    const { content, isDone, chunks } = await readEvents(await open())
    expect([content, isDone, chunks.at(-1).error.code]).toEqual(['Hello', false, 'provider_error'])
  })

  test('an event with endless lines gives 502', async () => {
    const { written, reply } = endlessStream('data:\n'.repeat(10_000))
    gateway.upstream.respondWith(reply)
    const { status, body } = await ask({ stream: true })
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(written.bytes).toBeLessThan(30 * MEBIBYTE)
  })

  test('an endless document gives 502 and is read only up to its limit', async () => {
    const { written, reply } = endlessStream(' '.repeat(MEBIBYTE))
    gateway.upstream.respondWith({ ...reply, headers: { 'content-type': 'application/json' } })
    const { status, body } = await ask()
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(written.bytes).toBeLessThan(3 * 80 * MEBIBYTE)
  })

  test('an error page is read only as far as needed', async () => {
    const { written, reply } = endlessStream('<p>sorry</p>'.repeat(1000))
    gateway.upstream.respondWith({ ...reply, status: 400, headers: { 'content-type': 'text/html' } })
    const { status } = await ask()
    expect(status).toBe(400)
    await gateway.upstream.requests[0]?.abandoned
    expect(written.bytes).toBeLessThan(16 * MEBIBYTE)
  })

  test('a complete answer of many megabytes is passed on', async () => {
    const content = 'x'.repeat(8 * MEBIBYTE)
    gateway.upstream.respondWith(json({ choices: [{ message: { content } }], usage: null }))
    const { status, body } = await ask()
    expect([status, body.choices[0].message.content.length]).toEqual([200, content.length])
  })

  test('a stream is not buffered in memory', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const piece = 'a'.repeat(MEBIBYTE)
    const before = heapAfterCollection()
    paced.release(role)
    const response = await open()
    let received = 0
    const reader = response.body?.getReader()
    for (let count = 1; count <= 40; count += 1) {
      paced.release(chunk({ delta: { content: piece } }))
      while (received < count * MEBIBYTE) received += (await reader?.read())?.value?.length ?? Infinity
    }
    expect(heapAfterCollection() - before).toBeLessThan(20 * MEBIBYTE)
    paced.finish()
    while (!(await reader?.read())?.done);
  })
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapAfterCollection(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
