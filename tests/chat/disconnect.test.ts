import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadTokenEncoding } from '../../src/kernel/tokens/token-encoding.ts'
import {
  chunk,
  chunksOf,
  endlessStream,
  headersOnly,
  pacedStream,
  silence,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { readPieces } from './read-events.ts'
import {
  CHAT,
  chatBody,
  COMPLETIONS,
  modelEntry,
  startChatGateway,
  type ChatGateway,
} from './start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'

const MEBIBYTE = 1024 * 1024

let gateway: ChatGateway

beforeAll(async () => {
  // The first token count takes 0.2 s to load the encoding, which must not affect these tests.
  loadTokenEncoding()
  gateway = await startChatGateway({
    models: [
      modelEntry('native', [{ provider: 'vllm', model: 'native' }]),
      modelEntry('through-chat', [{ provider: 'tgi', model: 'through-chat' }]),
      modelEntry('uncounted', [{ provider: 'tgi', model: 'uncounted' }]),
    ],
    providers: ['vllm', 'tgi'],
  })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

async function metric(pattern: RegExp): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics', { key: null })
  return Number(pattern.exec(body)?.[1] ?? 0)
}

const DISCONNECTS = /parkway_client_disconnects_total\{route="\/v1\/chat\/completions",model="native"\} (\d+)/
const COMPLETION_TOKENS =
  /parkway_tokens_total\{model="native",provider="vllm",direction="completion"\} (\d+)/
/** A model without a vendor bill, whose disconnects and upstream calls the tests count. */
const LOCAL = { model: 'native' }
/** The same for tests that end before the gateway has counted them. */
const UNCOUNTED = { model: 'uncounted' }
const ABORTED = /parkway_upstream_attempts_total\{provider="vllm",outcome="aborted"\} (\d+)/
const IN_FLIGHT = /parkway_requests_in_flight\{route="\/v1\/chat\/completions"\} (\d+)/

describe('a client that disconnects from the operator’s own server', () => {
  test.each<[string, Reply, boolean]>([
    ['before the upstream has said anything', silence, false],
    ['before the upstream has said anything to a stream', silence, true],
    ['while the upstream is between headers and body', headersOnly('application/json'), false],
    ['while the upstream is between headers and events', headersOnly('text/event-stream'), true],
  ])('%s cancels the upstream call', async (_name, reply, isStream) => {
    const [disconnects, aborted] = [await metric(DISCONNECTS), await metric(ABORTED)]
    gateway.upstream.respondWith(reply)
    const client = new AbortController()
    const asking = gateway.fetch('POST', CHAT, {
      body: chatBody({ ...LOCAL, stream: isStream }),
      signal: client.signal,
    })
    const request = await gateway.upstream.requestNumber(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    await request.abandoned
    await eventually(async () => expect(await metric(DISCONNECTS)).toBe(disconnects + 1))
    await eventually(async () => expect(await metric(ABORTED)).toBe(aborted + 1))
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('mid-stream cancels the upstream call, and what was delivered is metered', async () => {
    const [disconnects, tokens] = [await metric(DISCONNECTS), await metric(COMPLETION_TOKENS)]
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
    const client = new AbortController()
    const response = await gateway.fetch('POST', CHAT, {
      body: chatBody({ ...LOCAL, stream: true }),
      signal: client.signal,
    })
    const reader = readPieces(response)
    await reader.until(/Hello/)
    const request = await gateway.upstream.requestNumber(0)
    client.abort()
    await request.abandoned
    await eventually(async () => expect(await metric(DISCONNECTS)).toBe(disconnects + 1))
    expect(await metric(COMPLETION_TOKENS)).toBe(tokens + 1)
    expect(await metric(/parkway_requests_total\{[^}]*status="499"\} (\d+)/)).toBeGreaterThan(0)
  })

  test('cancels every call of a list of prompts', async () => {
    gateway.upstream.respondWith(silence)
    const client = new AbortController()
    const asking = gateway.fetch('POST', COMPLETIONS, {
      body: { model: 'through-chat', prompt: ['a', 'b', 'c'] },
      signal: client.signal,
    })
    await gateway.upstream.requestNumber(2)
    client.abort()
    await expect(asking).rejects.toThrow()
    await Promise.all(gateway.upstream.requests.map(({ abandoned }) => abandoned))
  })

  test('does not affect the next request', async () => {
    gateway.upstream.respondWith(silence, stream(chunksOf('Hello')))
    const client = new AbortController()
    const asking = gateway.fetch('POST', CHAT, { body: chatBody(UNCOUNTED), signal: client.signal })
    await gateway.upstream.requestNumber(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    const response = await gateway.fetch('POST', CHAT, { body: chatBody({ ...UNCOUNTED, stream: true }) })
    expect(await response.text()).toContain('Hello')
  })

  test('leaves no request in flight', async () => {
    gateway.upstream.respondWith(silence)
    const client = new AbortController()
    const asking = gateway.fetch('POST', CHAT, { body: chatBody(UNCOUNTED), signal: client.signal })
    await gateway.upstream.requestNumber(0)
    expect(await metric(IN_FLIGHT)).toBeGreaterThan(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    await eventually(async () => expect(await metric(IN_FLIGHT)).toBe(0))
  })
})

describe('a client that reads slowly', () => {
  test('slows the upstream down instead of filling memory, and gets everything when it continues', async () => {
    const endless = endlessStream()
    gateway.upstream.respondWith(endless.reply)
    const response = await openUnread(chatBody({ ...UNCOUNTED, stream: true }))
    expect(response.statusCode).toBe(200)
    const stalledBytes = await untilStalled(() => endless.written.bytes)
    // The kernel buffers of two connections, plus a quarter of a megabyte in the gateway.
    expect(stalledBytes).toBeLessThan(24 * MEBIBYTE)

    let readBytes = 0
    response.on('data', (bytes: Buffer) => {
      readBytes += bytes.length
    })
    await vi.waitFor(() => expect(readBytes).toBeGreaterThan(stalledBytes + MEBIBYTE), { timeout: 20_000 })
    const request = await gateway.upstream.requestNumber(0)
    response.destroy()
    await request.abandoned
  })

  test('can disconnect while it is not reading', async () => {
    const endless = endlessStream()
    gateway.upstream.respondWith(endless.reply)
    const response = await openUnread(chatBody({ ...UNCOUNTED, stream: true }))
    await untilStalled(() => endless.written.bytes)
    response.destroy()
    const request = await gateway.upstream.requestNumber(0)
    await request.abandoned
  })
})

/** Opens a stream without reading its body, for an account that can pay for what fills all buffers. */
async function openUnread(body: object): Promise<IncomingMessage> {
  const { key } = await createAccountKey(gateway, { name: 'slow reader', credit_usd: 1_000 })
  const request = httpRequest(gateway.baseUrl + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  request.on('error', () => {})
  request.end(JSON.stringify(body))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return response
}

/** Waits until a count stops growing. */
async function untilStalled(count: () => number): Promise<number> {
  let last = -1
  let isStill = 0
  await vi.waitFor(
    () => {
      isStill = count() === last ? isStill + 1 : 0
      last = count()
      expect(isStill).toBeGreaterThan(10)
    },
    { timeout: 120_000, interval: 30 },
  )
  return last
}
