import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPieces, type EventReader } from '../chat/read-events.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccount } from '../payments/accounts.ts'
import { createKey, OWN_PAGE, signIn } from '../sessions/sign-in.ts'
import { chunk, chunksOf, pacedStream } from '../upstreams/openai-server.ts'
import { speakers, startCompareGateway, startFrontGateway } from './start-compare-gateway.ts'
import { RUNS } from './wait-for-run.ts'

let gateway: ChatGateway
/** Another process on the same database, which has the followed streams. */
let front: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
  front = await startFrontGateway(gateway, ['red', 'blue'])
})

afterAll(async () => {
  await front.close()
  await gateway.close()
})

/** Starts a run that ends when `finish` is called. */
async function begin(key = gateway.key) {
  const [red, blue] = [pacedStream(), pacedStream()]
  gateway.upstream.respondWith(speakers({ red: red.reply, blue: blue.reply }))
  const { body: run } = await gateway.request('POST', RUNS, {
    key,
    body: { models: ['red', 'blue'], prompt: 'Hi' },
  })
  const say = (content: string) => red.release(chunk({ delta: { role: 'assistant', content } }))
  say('Hello')
  const finish = (): void => {
    for (const lane of [red, blue]) {
      for (const entry of chunksOf(' and the end')) lane.release(entry)
      lane.finish()
    }
  }
  return { id: run.id, say, finish }
}

/** Follows a run in the other process. The stream is open and has the first text. */
async function follow(
  runId: string,
  as: { key: string | null; headers?: Record<string, string> },
): Promise<EventReader> {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await front.fetch('GET', `${RUNS}/${runId}/stream`, { ...as, signal: leave.signal })
  expect(response.status).toBe(200)
  const reader = readPieces(response)
  await reader.until(/Hello/)
  return reader
}

async function expectRefused(reader: EventReader, code: string): Promise<void> {
  const text = await reader.until(/"error":/)
  expect(text).toContain(`"code":"${code}"`)
  expect(text).not.toContain('"type":"end"')
  // The end marker would tell a client that the stream is complete.
  await expect(reader.until(/\[DONE\]/)).rejects.toThrow('the stream ended')
}

describe('the stream of a run ends with an error frame, and other streams of the run go on', () => {
  test('when its key is revoked', async () => {
    const { id, say, finish } = await begin()
    const { id: keyId, key } = await createKey(gateway)
    const [refused, kept] = await Promise.all([follow(id, { key }), follow(id, { key: gateway.key })])
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${keyId}`)
    await expectRefused(refused, 'invalid_api_key')
    say(' again')
    await kept.until(/ again/)
    finish()
    expect(await kept.until(/\[DONE\]/)).toContain('"status":"completed"')
  })

  test('when its key expires', async () => {
    const { id, finish } = await begin()
    const { id: keyId, key } = await createKey(gateway)
    const [refused, kept] = await Promise.all([follow(id, { key }), follow(id, { key: gateway.key })])
    await gateway.request('PATCH', `/v1/tenants/me/api-keys/${keyId}`, {
      body: { expires_at: new Date(Date.now() + 1_000).toISOString() },
    })
    await expectRefused(refused, 'invalid_api_key')
    finish()
    expect(await kept.until(/\[DONE\]/)).toContain('"status":"completed"')
  })

  test('when its session is ended', async () => {
    const { id, finish } = await begin()
    const [left, stayed] = await Promise.all([signIn(gateway), signIn(gateway)])
    const as = ({ cookie }: { cookie: string }) => ({ key: null, headers: { ...OWN_PAGE, cookie } })
    const [refused, kept] = await Promise.all([follow(id, as(left)), follow(id, as(stayed))])
    await gateway.request('DELETE', `/v1/sessions/${left.id}`)
    await expectRefused(refused, 'invalid_session')
    finish()
    expect(await kept.until(/\[DONE\]/)).toContain('"status":"completed"')
  })
})

test('the stream of a run ends with an error frame when its account is suspended', async () => {
  // Enough for both lanes at once: with less, a lane may wait for the credit that the other holds.
  const { accountId, key } = await createAccount(gateway, { creditUsd: 10 })
  const { id, finish } = await begin(key)
  const refused = await follow(id, { key })
  await gateway.request('POST', `/v1/admin/accounts/${accountId}/suspend`)
  await expectRefused(refused, 'account_suspended')
  finish()
})
