import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { readCharges } from '../ledger/start-fleet.ts'
import { eventually } from '../support/eventually.ts'
import {
  chunk,
  completion,
  endlessStream,
  failure,
  heldBack,
  pacedStream,
  silence,
  textCompletion,
  USAGE,
} from '../upstreams/openai-server.ts'
import { readPieces } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const PLAIN = { capabilities: ['chat'] }
const MODELS = [
  modelEntry('thinker', [{ provider: 'openai', model: 'thinker' }]),
  modelEntry('talker', [{ provider: 'openai', model: 'talker' }], PLAIN),
  modelEntry('unstoppable', [{ provider: 'groq', model: 'unstoppable' }], PLAIN),
]
const priceOf = (prompt: number, output: number) => (prompt * 1 + output * 10) / 1e6
const THOUGHT = {
  prompt_tokens: 11,
  completion_tokens: 5_000,
  total_tokens: 5_011,
  completion_tokens_details: { reasoning_tokens: 4_990 },
}

let gateway: ChatGateway

const start = (settings: Record<string, string> = {}) =>
  startChatGateway({ models: MODELS, providers: ['groq'], settings })

const records = async () => (await gateway.request('GET', '/v1/usage/records')).body.data
const heldUsd = async () => (await gateway.request('GET', '/v1/usage/budget')).body.held_usd
const onlyRecord = () =>
  eventually(async () => {
    const found = await records()
    expect(found).toHaveLength(1)
    return found[0]
  })

/** Sends a request without streaming and disconnects when the upstream has received it. */
async function leaveWhole(body: object = chatBody({ model: 'thinker' }), path = CHAT, headers = {}) {
  const client = new AbortController()
  const asking = gateway.fetch('POST', path, { body, headers, signal: client.signal })
  const request = await gateway.upstream.requestNumber(gateway.upstream.requests.length)
  client.abort()
  await expect(asking).rejects.toThrow()
  return request
}

async function metric(name: string): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics', { key: null })
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(body)?.[1] ?? 0)
}

/** Waits until the gateway has noticed the disconnect. */
const untilDraining = () => eventually(async () => expect(await metric('parkway_drains_running')).toBe(1))

/** Reads the first word of a stream and disconnects. */
async function leaveStream(model: string) {
  const paced = pacedStream()
  gateway.upstream.respondWith(paced.reply)
  paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
  const client = new AbortController()
  const response = await gateway.fetch('POST', CHAT, {
    body: chatBody({ model, stream: true }),
    signal: client.signal,
  })
  await readPieces(response).until(/Hello/)
  client.abort()
  return { paced, request: await gateway.upstream.requestNumber(0) }
}

describe('a client that disconnects from a vendor that bills to the end', () => {
  beforeEach(async () => {
    gateway = await start()
  })
  afterEach(() => gateway.close())

  test('pays for a complete answer, which is read to its end', async () => {
    const answer = heldBack(completion())
    gateway.upstream.respondWith(answer.reply)
    await leaveWhole()
    await untilDraining()
    expect(await heldUsd()).toBeGreaterThan(0)
    expect(await records()).toEqual([])
    answer.release()
    expect(await onlyRecord()).toMatchObject({
      outcome: 'disconnected',
      provider: 'openai',
      prompt_tokens: 11,
      completion_tokens: 7,
      cost_usd: priceOf(11, 7),
    })
    await eventually(async () => expect(await heldUsd()).toBe(0))
    await eventually(async () => expect(await metric('parkway_client_disconnects_total')).toBe(1))
    expect(await metric('parkway_drains_running')).toBe(0)
  })

  test('pays for reasoning that it was not shown', async () => {
    const { paced } = await leaveStream('thinker')
    await untilDraining()
    paced.release(chunk({ finish_reason: 'stop' }))
    paced.release(chunk({ choices: [], usage: THOUGHT }))
    paced.finish()
    expect(await onlyRecord()).toMatchObject({
      outcome: 'disconnected',
      reasoning_tokens: 4_990,
      cost_usd: priceOf(11, 5_000),
    })
    await eventually(async () => expect(await heldUsd()).toBe(0))
  })

  test('pays for the rest of a stream that cannot be stopped', async () => {
    const { paced } = await leaveStream('unstoppable')
    await untilDraining()
    paced.release(chunk({ finish_reason: 'stop', usage: USAGE }))
    paced.finish()
    expect(await onlyRecord()).toMatchObject({ outcome: 'disconnected', cost_usd: priceOf(11, 7) })
  })

  test('pays nothing if the vendor then fails, and no other route is tried', async () => {
    const answer = heldBack(failure(500))
    gateway.upstream.respondWith(answer.reply)
    await leaveWhole()
    await untilDraining()
    answer.release()
    await eventually(async () => expect(await heldUsd()).toBe(0))
    expect(await records()).toEqual([])
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('gets its answer under its idempotency key, and pays once', async () => {
    const answer = heldBack(completion())
    gateway.upstream.respondWith(answer.reply)
    const headers = { 'idempotency-key': 'asked-once' }
    const body = chatBody({ model: 'thinker' })
    await leaveWhole(body, CHAT, headers)
    await untilDraining()
    answer.release()
    const again = await eventually(async () => {
      const answered = await gateway.request('POST', CHAT, { body, headers })
      expect(answered.status).toBe(200)
      return answered
    })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body.choices[0].message.content).toBe('Hello there')
    expect(await onlyRecord()).toMatchObject({ cost_usd: priceOf(11, 7) })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('pays for embeddings that it did not wait for', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    const usage = { prompt_tokens: 9, total_tokens: 9 }
    const answer = heldBack(textCompletion({ object: 'list', data, usage }))
    gateway.upstream.respondWith(answer.reply)
    await leaveWhole({ model: 'text-embedding-3-small', input: 'x' }, '/v1/embeddings')
    await untilDraining()
    answer.release()
    expect(await onlyRecord()).toMatchObject({ outcome: 'disconnected', prompt_tokens: 9 })
    expect((await onlyRecord()).cost_usd).toBeGreaterThan(0)
  })
})

describe('a client that disconnects from a vendor that stops with its stream', () => {
  beforeAll(async () => {
    gateway = await start()
  })
  afterAll(() => gateway.close())

  test('stops it if nothing is hidden, and pays for what was delivered', async () => {
    const { request } = await leaveStream('talker')
    await request.abandoned
    const record = await onlyRecord()
    expect(record).toMatchObject({ outcome: 'disconnected', completion_tokens: 1, reasoning_tokens: 0 })
    expect(record.cost_usd).toBeCloseTo(priceOf(record.prompt_tokens, 1), 12)
  })
})

describe('an answer that is not read to its end', () => {
  afterEach(() => gateway.close())

  test('is estimated when the time limit is reached, and never above the hold', async () => {
    gateway = await start({ PARKWAY_DRAIN_MS_MAX: '1' })
    gateway.upstream.respondWith(silence)
    const request = await leaveWhole(chatBody({ model: 'thinker', max_tokens: 3 }))
    await request.abandoned
    const record = await onlyRecord()
    expect(record).toMatchObject({ outcome: 'disconnected', provider: 'openai', completion_tokens: 3 })
    expect(record.prompt_tokens).toBeGreaterThan(0)
    expect(record.cost_usd).toBeCloseTo(priceOf(record.prompt_tokens, 3), 12)
    await eventually(async () => expect(await heldUsd()).toBe(0))
  })

  test('is estimated at once if too many are being read already', async () => {
    gateway = await start({ PARKWAY_DRAINS_PER_ACCOUNT_MAX: '0' })
    gateway.upstream.respondWith(silence)
    const request = await leaveWhole()
    await request.abandoned
    expect((await onlyRecord()).cost_usd).toBeGreaterThan(0)
    expect(await metric('parkway_abandoned_answers_total')).toBe(1)
  })

  test('is estimated when the byte limit is reached', async () => {
    gateway = await start({ PARKWAY_DRAIN_BYTES_MAX: '100000' })
    const endless = endlessStream()
    gateway.upstream.respondWith(endless.reply)
    const client = new AbortController()
    const body = chatBody({ model: 'thinker', stream: true })
    const response = await gateway.fetch('POST', CHAT, { body, signal: client.signal })
    await readPieces(response).until(/xxx/)
    client.abort()
    await (
      await gateway.upstream.requestNumber(0)
    ).abandoned
    expect((await onlyRecord()).completion_tokens).toBeGreaterThan(0)
  })
})

test('a gateway that shuts down waits for its grace period and then charges an estimate', async () => {
  const own = await createTestDatabase()
  const { connectionString } = own
  const stopping = await startChatGateway({
    models: MODELS,
    connectionString,
    settings: { PARKWAY_SHUTDOWN_GRACE_MS: '100' },
  })
  gateway = stopping
  stopping.upstream.respondWith(silence)
  const { body: me } = await stopping.request('GET', '/v1/tenants/me')
  await leaveWhole()
  await stopping.close()
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  const charges = await readCharges(database, me.id)
  await database.close()
  await own.drop()
  expect(charges).toMatchObject([{ outcome: 'disconnected' }])
  expect(charges[0]?.costNanoUsd).toBeGreaterThan(0n)
})

test('a client that disconnects before its request reached the vendor pays nothing', async () => {
  const sockets: Socket[] = []
  const { promise: connected, resolve: onConnected } = Promise.withResolvers<Socket>()
  // Accepts connections but never answers the TLS handshake, so that no request is sent.
  const mute = createServer((socket) => {
    sockets.push(socket.on('error', () => {}).resume())
    onConnected(socket)
  })
  await new Promise<void>((resolve) => {
    mute.listen(0, '127.0.0.1', resolve)
  })
  const { port } = mute.address() as AddressInfo
  gateway = await start({ OPENAI_BASE_URL: `https://127.0.0.1:${port}/v1` })
  try {
    const client = new AbortController()
    const asking = gateway.fetch('POST', CHAT, {
      body: chatBody({ model: 'thinker' }),
      signal: client.signal,
    })
    const socket = await connected
    expect(await heldUsd()).toBeGreaterThan(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    await eventually(() => expect(socket.closed).toBe(true))
    await eventually(async () => expect(await heldUsd()).toBe(0))
    expect(await records()).toEqual([])
  } finally {
    await gateway.close()
    for (const socket of sockets) socket.destroy()
    mute.close()
  }
})
