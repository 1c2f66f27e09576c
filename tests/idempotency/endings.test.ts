import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readEvents, readPieces } from '../chat/read-events.ts'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey, createKey } from '../clients/create-key.ts'
import {
  chunk,
  chunksOf,
  completion,
  failure,
  pacedStream,
  silence,
  stream,
} from '../upstreams/openai-server.ts'
import { eventually } from '../support/eventually.ts'

let gateway: ChatGateway
let database: Client

beforeAll(async () => {
  gateway = await startChatGateway({ settings: { PARKWAY_DRAINS_MAX: '0' } })
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
})

afterAll(async () => {
  await database.end()
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

afterEach(async () => {
  await database.query('DELETE FROM idempotency_keys')
})

const headers = { 'idempotency-key': 'order' }
const ask = (options: { key?: string; body?: object } = {}) =>
  gateway.request('POST', CHAT, { body: chatBody(), headers, ...options })
const isReplayed = (answer: { headers: Headers }) => answer.headers.get('idempotent-replayed') === 'true'
const countRows = async () => (await database.query('SELECT FROM idempotency_keys')).rows.length

describe('a refused request may succeed the next time', () => {
  test('402: there is no credit, until there is', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0 })
    const [first, again] = [await ask({ key }), await ask({ key })]
    expect([first.status, again.status, isReplayed(again)]).toEqual([402, 402, false])
    expect(await countRows()).toBe(0)
  })

  test('429: the key sent too much', async () => {
    const key = await createKey(gateway, { env: 'dev', requests_per_minute: 1 })
    await gateway.request('POST', CHAT, { body: chatBody(), key })
    expect((await ask({ key })).status).toBe(429)
    expect(await countRows()).toBe(0)
    expect((await ask()).status).toBe(200)
  })

  test.each([
    ['400', { messages: [] }],
    ['404', { model: 'no-such-model' }],
  ])('%s: the request was invalid, and another one may use its key', async (status, members) => {
    expect((await ask({ body: chatBody(members) })).status).toBe(Number(status))
    expect((await ask()).status).toBe(200)
  })

  test('400 of the upstream', async () => {
    gateway.upstream.respondWith(failure(400, { type: 'invalid_request_error' }), completion())
    expect([(await ask()).status, (await ask()).status]).toEqual([400, 200])
  })
})

describe('a failure', () => {
  test('is retried under the same request id, and only with the same body', async () => {
    gateway.upstream.respondWith(failure(401))
    const first = await ask()
    expect(first.status).toBeGreaterThanOrEqual(500)
    gateway.upstream.respondWith(completion())
    expect((await ask({ body: chatBody({ seed: 1 }) })).status).toBe(422)
    const again = await ask()
    expect([again.status, isReplayed(again)]).toEqual([200, false])
    expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'))
    expect(isReplayed(await ask())).toBe(true)
  })

  test('mid-stream is not stored, and the next try is a new request', async () => {
    const broken = stream([chunk({ delta: { role: 'assistant', content: 'He' } })], { ending: 'cut' })
    gateway.upstream.respondWith(broken, stream(chunksOf('Hello')))
    const send = () => gateway.fetch('POST', CHAT, { body: chatBody({ stream: true }), headers })
    const first = await send()
    expect((await readEvents(first)).isDone).toBe(false)
    const again = await send()
    expect(await readEvents(again)).toMatchObject({ isDone: true, content: 'Hello' })
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(isReplayed(await send())).toBe(true)
  })
})

describe('a client that disconnects', () => {
  test('before the answer releases its key', async () => {
    gateway.upstream.respondWith(silence)
    const client = new AbortController()
    const asking = gateway.fetch('POST', CHAT, { body: chatBody(), headers, signal: client.signal })
    const request = await gateway.upstream.requestNumber(0)
    expect(await countRows()).toBe(1)
    client.abort()
    await expect(asking).rejects.toThrow()
    await request.abandoned
    await eventually(async () => expect(await countRows()).toBe(0))
    gateway.upstream.respondWith(completion())
    const again = await ask()
    expect([again.status, isReplayed(again)]).toEqual([200, false])
  })

  test('mid-stream releases its key', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply, stream(chunksOf('whole')))
    const body = chatBody({ stream: true })
    const sending = gateway.fetch('POST', CHAT, { body, headers })
    const request = await gateway.upstream.requestNumber(0)
    paced.release(chunk({ delta: { role: 'assistant', content: 'half' } }))
    const pieces = readPieces(await sending)
    await pieces.until(/half/)
    await pieces.cancel()
    await request.abandoned
    await eventually(async () => expect(await countRows()).toBe(0))
    const again = await readEvents(await gateway.fetch('POST', CHAT, { body, headers }))
    expect([again.isDone, again.content]).toEqual([true, 'whole'])
  })

  test('during a change has it done once, and gets the answer later', async () => {
    const path = '/v1/admin/accounts'
    // Requests that create an account wait until this transaction ends.
    await database.query('BEGIN')
    await database.query('LOCK TABLE accounts IN EXCLUSIVE MODE')
    const client = new AbortController()
    const body = { name: 'left behind' }
    const asking = gateway.fetch('POST', path, { body, headers, signal: client.signal })
    const isWaiting = async () => {
      const { rows } = await database.query(`SELECT FROM pg_locks WHERE NOT granted`)
      expect(rows).not.toEqual([])
    }
    await eventually(isWaiting)
    client.abort()
    await expect(asking).rejects.toThrow()
    await database.query('COMMIT')
    const again = await eventually(async () => {
      const answer = await gateway.request('POST', path, { body, headers })
      expect(answer.status).toBe(201)
      return answer
    })
    expect([again.body.name, isReplayed(again)]).toEqual(['left behind', true])
  })
})

describe('an answer larger than 8 MiB', () => {
  test('is returned, not stored, and not done again', async () => {
    const content = 'x'.repeat(8 * 1024 * 1024)
    gateway.upstream.respondWith(completion({ message: { content } }))
    const first = await ask()
    expect(first.body.choices[0].message.content).toHaveLength(content.length)
    const again = await ask()
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
    expect(again.body.error.message).toContain(first.headers.get('x-request-id'))
    expect(again.headers.get('x-should-retry')).toBe('false')
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('is stored if it is just below', async () => {
    const content = 'ab'.repeat(4 * 1024 * 1024 - 1024)
    gateway.upstream.respondWith(completion({ message: { content } }))
    expect((await ask()).status).toBe(200)
    expect((await ask()).body.choices[0].message.content).toBe(content)
  })
})

test('after a day the key can be used again', async () => {
  await ask()
  await database.query("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'")
  const again = await ask({ body: chatBody({ seed: 1 }) })
  expect([again.status, isReplayed(again)]).toEqual([200, false])
})
