import OpenAI from 'openai'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readEvents, readPieces } from '../chat/read-events.ts'
import {
  CHAT,
  chatBody,
  startChatGateway,
  UPSTREAM_KEY,
  type ChatGateway,
} from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunk, chunksOf, completion, heldBack, pacedStream, stream } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
/** A second gateway on the same database with the same upstream. */
let second: TestGateway
let keysUsed = 0

beforeAll(async () => {
  gateway = await startChatGateway()
  second = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: { OPENAI_API_KEY: UPSTREAM_KEY, OPENAI_BASE_URL: gateway.upstream.apiUrl },
  })
})

afterAll(async () => {
  await second.close()
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
  keysUsed += 1
})

const keyHeader = () => ({ 'idempotency-key': `order-${keysUsed}` })
const ask = (place: TestGateway, members: object = {}) =>
  place.request('POST', CHAT, { body: chatBody(members), headers: keyHeader() })

describe('while the first request runs', () => {
  test.each(['the same gateway', 'another gateway'])('a second one at %s has to wait', async (place) => {
    const held = heldBack(completion())
    gateway.upstream.respondWith(held.reply)
    const first = ask(gateway)
    await gateway.upstream.requestNumber(0)
    const waiting = await ask(place === 'another gateway' ? second : gateway)
    expect([waiting.status, waiting.body.error.code]).toEqual([409, 'idempotency_in_progress'])
    expect(waiting.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    held.release()
    const answer = await first
    const again = await ask(second)
    expect([again.status, again.body]).toEqual([200, answer.body])
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('a running stream counts as running until its end', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const body = chatBody({ stream: true })
    const response = await Promise.all([
      gateway.fetch('POST', CHAT, { body, headers: keyHeader() }),
      gateway.upstream.requestNumber(0).then(() => paced.release(chunk({ delta: { content: 'one' } }))),
    ]).then(([begun]) => begun)
    const pieces = readPieces(response)
    await pieces.until(/one/)
    expect((await ask(second, { stream: true })).body.error.code).toBe('idempotency_in_progress')
    paced.release(chunk({ delta: { content: ' two' }, finish_reason: 'stop' }))
    paced.finish()
    const text = await pieces.until(/\[DONE\]\n\n/)
    const again = await readEvents(await second.fetch('POST', CHAT, { body, headers: keyHeader() }))
    expect(again.text).toBe(text)
  })

  test('an official client waits automatically and gets the one answer', async () => {
    const held = heldBack(completion())
    gateway.upstream.respondWith(held.reply)
    const first = ask(gateway)
    await gateway.upstream.requestNumber(0)
    const statuses: number[] = []
    const client = new OpenAI({
      apiKey: second.key,
      baseURL: `${second.baseUrl}/v1`,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        statuses.push(response.status)
        held.release()
        return response
      },
    })
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hi' }] }
    const again = await client.chat.completions.create(body, { headers: keyHeader() })
    expect(again.id).toBe((await first).body.id)
    expect(statuses).toEqual([409, 200])
  })

  test('while the first request runs of 40 at once, over two gateways, one reaches the upstream', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? gateway : second)),
    )
    expect(gateway.upstream.requests).toHaveLength(1)
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id))
    expect(ids.size).toBe(1)
    expect(answers.filter(({ status }) => ![200, 409].includes(status))).toEqual([])
  })
})

test('the last byte is sent when the answer is stored, so it can be replayed at once', async () => {
  for (let round = 0; round < 20; round += 1) {
    keysUsed += 1
    gateway.upstream.respondWith(stream(chunksOf('a', 'b')))
    const body = chatBody({ stream: true })
    const first = await gateway.fetch('POST', CHAT, { body, headers: keyHeader() }).then(readEvents)
    const again = await second.fetch('POST', CHAT, { body, headers: keyHeader() }).then(readEvents)
    expect(again.text).toBe(first.text)
  }
  expect(gateway.upstream.requests).toHaveLength(20)
})

test('a request that was declared dead but ran on does not replace the answer of its successor', async () => {
  const database = new Client({ connectionString: gateway.connectionString })
  await database.connect()
  const held = heldBack(completion({ message: { content: 'late' } }))
  gateway.upstream.respondWith(held.reply, completion({ message: { content: 'taken over' } }))
  const slow = ask(gateway)
  await gateway.upstream.requestNumber(0)
  await database.query("UPDATE parkway.idempotency_keys SET lease_until = now() - interval '1 second'")
  await database.end()
  const taken = await ask(second)
  expect(taken.body.choices[0].message.content).toBe('taken over')
  held.release()
  expect((await slow).headers.get('x-request-id')).toBe(taken.headers.get('x-request-id'))
  expect((await ask(gateway)).body).toEqual(taken.body)
})
