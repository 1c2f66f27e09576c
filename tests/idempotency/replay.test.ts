import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readEvents } from '../chat/read-events.ts'
import {
  CHAT,
  chatBody,
  COMPLETIONS,
  startChatGateway,
  type ChatGateway,
} from '../chat/start-chat-gateway.ts'
import { collect } from '../clients/collect.ts'
import { createAccountKey, createKey } from '../clients/create-key.ts'
import type { TestAnswer } from '../support/start-test-gateway.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
let keysUsed = 0

beforeAll(async () => {
  gateway = await startChatGateway()
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
  keysUsed += 1
})

const keyHeader = (key = `order-${keysUsed}`) => ({ 'idempotency-key': key })

function post(path: string, body: unknown, options: { key?: string; headers?: Record<string, string> } = {}) {
  return gateway.fetch('POST', path, { body, headers: keyHeader(), ...options })
}

const refusalOf = ({ status, body }: TestAnswer) => [status, body.error.code, body.error.param]

describe('a repeated request', () => {
  test('gets the first answer, byte for byte, and is not done again', async () => {
    const first = await post(CHAT, chatBody())
    const firstText = await first.text()
    const again = await post(CHAT, chatBody())
    expect([again.status, await again.text()]).toEqual([200, firstText])
    expect(gateway.upstream.requests).toHaveLength(1)
    expect(JSON.parse(firstText).choices[0].message.content).toBe('Hello there')
  })

  test('is marked as a replay, is free, and has its own request id', async () => {
    const first = await post(CHAT, chatBody())
    const again = await post(CHAT, chatBody())
    expect(Number(first.headers.get('x-gateway-cost-usd'))).toBeGreaterThan(0)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('x-gateway-cost-usd')).toBe('0')
    expect(again.headers.get('x-gateway-provider')).toBe('openai')
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(again.headers.get('x-gateway-balance-usd')).toBeNull()
    expect(again.headers.get('original-request')).toBe(first.headers.get('x-request-id'))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  test('gets a stream as the same stream', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hel', 'lo', ' wörld')))
    const body = chatBody({ stream: true, stream_options: { include_usage: true } })
    const first = await readEvents(await post(CHAT, body))
    const response = await post(CHAT, body)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('transfer-encoding')).toBe('chunked')
    const again = await readEvents(response)
    expect(again.text).toBe(first.text)
    expect([again.isDone, again.content]).toEqual([true, 'Hello wörld'])
    expect(again.chunks.at(-1).usage.cost_usd).toBeGreaterThan(0)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('gets a legacy completion again too', async () => {
    const body = { model: 'gpt-4o-mini', prompt: 'Once' }
    const first = await post(COMPLETIONS, body)
    const again = await post(COMPLETIONS, body)
    expect([first.status, await again.text()]).toEqual([200, await first.text()])
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('may come from another key of the account', async () => {
    const key = await createKey(gateway, { env: 'dev' })
    const first = await post(CHAT, chatBody())
    const again = await post(CHAT, chatBody(), { key })
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual([
      'true',
      await first.text(),
    ])
  })

  test('does not count against the rates of its key', async () => {
    const key = await createKey(gateway, { env: 'dev', requests_per_minute: 1 })
    for (let count = 0; count < 3; count += 1) {
      expect((await post(CHAT, chatBody(), { key })).status).toBe(200)
    }
    expect((await post(CHAT, chatBody(), { key, headers: keyHeader('another') })).status).toBe(429)
  })

  test('must still be allowed', async () => {
    await post(CHAT, chatBody())
    const manager = await createKey(gateway, { env: 'dev', scopes: ['manage'] })
    expect((await post(CHAT, chatBody(), { key: manager })).status).toBe(403)
    expect((await post(CHAT, chatBody(), { key: 'pk-dev-nobody' })).status).toBe(401)
  })

  test('works with the OpenAI SDK, complete and streamed', async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1` })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const ask = () =>
      client.chat.completions.create({ model: 'gpt-4o-mini', messages }, { headers: keyHeader() })
    expect(await ask()).toEqual(await ask())
    gateway.upstream.respondWith(stream(chunksOf('a', 'b')))
    const askStream = async () =>
      collect(
        await client.chat.completions.create(
          { model: 'gpt-4o-mini', messages, stream: true },
          { headers: keyHeader(`stream-${keysUsed}`) },
        ),
      )
    expect(await askStream()).toEqual(await askStream())
    expect(gateway.upstream.requests).toHaveLength(2)
  })
})

describe('a key', () => {
  test.each([
    ['with another body', CHAT, chatBody({ seed: 1 })],
    ['with the same body written otherwise', CHAT, JSON.stringify(chatBody(), null, 2)],
    ['with a stream where a whole answer was asked for', CHAT, chatBody({ stream: true })],
    ['on another route', COMPLETIONS, { model: 'gpt-4o-mini', prompt: 'Hi' }],
  ])('%s is refused', async (_name, path, body) => {
    await post(CHAT, chatBody())
    const answer = await gateway.request('POST', path, { body, headers: keyHeader() })
    expect(refusalOf(answer)).toEqual([422, 'idempotency_key_reused', 'Idempotency-Key'])
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('a key of another account is another key', async () => {
    const { key } = await createAccountKey(gateway, { name: 'other', credit_usd: 1 })
    gateway.upstream.respondWith(
      completion({ message: { content: 'mine' } }),
      completion({ message: { content: 'theirs' } }),
    )
    const mine = await gateway.request('POST', CHAT, { body: chatBody(), headers: keyHeader() })
    const theirs = await gateway.request('POST', CHAT, { body: chatBody(), headers: keyHeader(), key })
    expect([mine, theirs].map(({ body }) => body.choices[0].message.content)).toEqual(['mine', 'theirs'])
    const other = await gateway.request('POST', CHAT, {
      body: chatBody({ seed: 2 }),
      headers: keyHeader(),
      key,
    })
    expect(other.status).toBe(422)
  })

  test.each([
    ['empty', ''],
    ['longer than 255 characters', 'k'.repeat(256)],
    ['not ASCII', 'clé'],
    ['with a tab', 'a\tb'],
  ])('a key that is %s is refused', async (_name, key) => {
    const answer = await gateway.request('POST', CHAT, { body: chatBody(), headers: keyHeader(key) })
    expect(refusalOf(answer)).toEqual([400, 'invalid_value', 'Idempotency-Key'])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('a key of 255 printable characters is accepted', async () => {
    const headers = keyHeader(`"${'~ '.repeat(126)}"~`)
    expect(headers['idempotency-key']).toHaveLength(255)
    const answers = [await post(CHAT, chatBody(), { headers }), await post(CHAT, chatBody(), { headers })]
    expect(answers.map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true'])
  })

  test('is ignored on methods other than POST', async () => {
    const read = () => gateway.request('GET', '/v1/models', { headers: keyHeader() })
    expect([(await read()).status, (await read()).headers.get('idempotent-replayed')]).toEqual([200, null])
  })
})
