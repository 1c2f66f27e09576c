import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createKey, createStranger, failureOf, OWN_PAGE, signIn } from '../sessions/sign-in.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { heldBack, completion } from '../upstreams/openai-server.ts'
import { followLive as openLive, type LiveEvent, type LiveStream } from './follow-live.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway()
})
afterAll(() => gateway.close())

const opened: LiveStream[] = []
// A failed test must not leave its streams to the next one.
afterEach(() => {
  for (const { leave } of opened.splice(0)) leave()
})
const followLive: typeof openLive = async (...given) => {
  const stream = await openLive(...given)
  opened.push(stream)
  return stream
}

/** Reads events until one passes the check. */
async function until(stream: LiveStream, check: (event: LiveEvent) => boolean): Promise<LiveEvent> {
  for (let count = 0; count < 30; count += 1) {
    const event = await stream.next()
    if (event === null) throw new Error('the stream ended')
    if (check(event)) return event
  }
  throw new Error('no event passed the check')
}

describe('the live figures', () => {
  test('show requests, latency, tokens and spend as they happen', async () => {
    const stream = await followLive(gateway)
    // A loaded machine may take a while to start the worker and to answer the first queries.
    const first = await until(
      stream,
      ({ workers, database }) =>
        workers.running === 1 && database.latency_ms !== null && database.pool.waiting === 0,
    )
    expect(first).toMatchObject({
      object: 'overview',
      processes: 1,
      tasks: { pending: 0, processing: 0 },
      workers: { running: 1, stopped: 0 },
      database: { latency_ms: expect.any(Number), pool: { size: 4, waiting: 0 } },
      disk: { free_bytes: expect.any(Number), total_bytes: expect.any(Number) },
    })
    for (let count = 0; count < 5; count += 1) await gateway.request('POST', CHAT, { body: chatBody() })
    const seen = await until(
      stream,
      ({ requests, spend_usd_per_second: spend }) => requests.per_second > 0 && spend > 0,
    )
    expect(seen.requests.latency_ms.p95).toBeGreaterThan(0)
    expect(seen.tokens_per_second.prompt).toBeGreaterThan(0)
    expect(seen.tokens_per_second.completion).toBeGreaterThan(0)
    expect(seen.providers).toEqual([expect.objectContaining({ name: 'openai', requests: 5, errors: 0 })])
    stream.leave()
  })

  test('count a request while it runs', async () => {
    const held = heldBack(completion())
    gateway.upstream.respondWith(held.reply)
    const running = gateway.request('POST', CHAT, { body: chatBody() })
    const stream = await followLive(gateway)
    await until(stream, ({ requests }) => requests.running === 1)
    held.release()
    await running
    await until(stream, ({ requests }) => requests.running === 0)
    stream.leave()
    gateway.upstream.respondWith(completion())
  })

  test('cover the processes of another machine, and forget one that has ended', async () => {
    const second = await startTestGateway({ connectionString: gateway.connectionString })
    const stream = await followLive(gateway)
    await until(stream, ({ processes, workers }) => processes === 2 && workers.running === 2)
    await second.close()
    await until(stream, ({ processes }) => processes === 1)
    stream.leave()
  })

  test('are for operators only', async () => {
    const key = await createStranger(gateway)
    expect(failureOf(await gateway.request('GET', '/v1/admin/live', { key }))).toEqual([403, 'forbidden'])
    const none = await gateway.request('GET', '/v1/admin/live', { key: null })
    expect(failureOf(none)).toEqual([401, 'invalid_api_key'])
  })

  test('are sent to twenty streams at most, and a client that leaves makes room', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => followLive(gateway)))
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    const refused = await gateway.request('GET', '/v1/admin/live')
    expect(failureOf(refused)).toEqual([429, 'concurrency_limit_reached'])
    for (const { leave } of streams) leave()
    await expect
      .poll(async () => {
        const stream = await followLive(gateway)
        stream.leave()
        return stream.status
      })
      .toBe(200)
  })

  test('end when the key is revoked', async () => {
    const { id, key } = await createKey(gateway, { scopes: ['inference', 'manage', 'admin'] })
    const stream = await followLive(gateway, { key })
    expect((await stream.next()).object).toBe('overview')
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${id}`)
    const end = await until(stream, ({ error }) => error !== undefined)
    expect(end.error.code).toBe('invalid_api_key')
    expect(await stream.next()).toBeNull()
  })

  test('end when the session ends, and do not keep it alive', async () => {
    const { id, cookie } = await signIn(gateway)
    const stream = await followLive(gateway, { key: null, headers: { ...OWN_PAGE, cookie } })
    expect((await stream.next()).object).toBe('overview')
    await gateway.request('DELETE', `/v1/sessions/${id}`)
    const end = await until(stream, ({ error }) => error !== undefined)
    expect(end.error.code).toBe('invalid_session')
  })

  test('end when the gateway shuts down, within the grace period', async () => {
    const other = await startTestGateway({ settings: { PARKWAY_SHUTDOWN_GRACE_MS: '20000' } })
    const stream = await followLive(other)
    expect((await stream.next()).object).toBe('overview')
    const closed = other.close()
    while ((await stream.next()) !== null);
    await closed
  })
})
