import { afterEach, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { readCharges } from '../ledger/start-fleet.ts'
import { eventually } from '../support/eventually.ts'
import { failure, heldBack, json, silence } from '../upstreams/openai-server.ts'
import { wavOf } from './audio-files.ts'
import { TRANSCRIPT } from './audio-upstream.ts'

/** Requests without a stream, which the vendor bills even if the client has disconnected. */
const WORKS = [
  {
    name: 'speech',
    path: '/v1/audio/speech',
    body: { model: 'tts-1', input: 'Hello', voice: 'alloy' },
    costUsd: 0.000075,
    reply: { headers: { 'content-type': 'audio/mpeg' }, chunks: ['ID3 sound'] },
  },
  {
    name: 'a transcription',
    path: '/v1/audio/transcriptions',
    body: { model: 'whisper-1', file: wavOf(2).toString('base64') },
    costUsd: 0.0002,
    reply: json(TRANSCRIPT),
  },
  {
    name: 'an image',
    path: '/v1/images/generations',
    body: { model: 'gpt-image-1.5', prompt: 'A cube' },
    costUsd: 0.04,
    reply: json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] }),
  },
] as const

let gateway: ChatGateway

const records = async () => (await gateway.request('GET', '/v1/usage/records')).body.data
const heldUsd = async () => (await gateway.request('GET', '/v1/usage/budget')).body.held_usd
const untilCharged = (count: number) =>
  eventually(async () => {
    const found = await records()
    expect(found).toHaveLength(count)
    return found[0]
  })

async function metric(name: string): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics', { key: null })
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(body)?.[1] ?? 0)
}
const untilDraining = (count: number) =>
  eventually(async () => expect(await metric('parkway_drains_running')).toBe(count))

/** Sends a request and disconnects when the upstream has received it. */
async function leave({ path, body }: (typeof WORKS)[number]) {
  const client = new AbortController()
  const asking = gateway.fetch('POST', path, { body, signal: client.signal })
  const request = await gateway.upstream.requestNumber(gateway.upstream.requests.length)
  client.abort()
  await expect(asking).rejects.toThrow()
  return request
}

describe.each(WORKS)('$name whose client disconnects', (work) => {
  afterEach(() => gateway.close())

  test('continues within the limits, and costs what was made or nothing if it fails', async () => {
    gateway = await startChatGateway()
    const made = heldBack(work.reply)
    gateway.upstream.respondWith(made.reply)
    await leave(work)
    await untilDraining(1)
    expect([await heldUsd(), await records()]).toEqual([work.costUsd, []])
    made.release()
    expect(await untilCharged(1)).toMatchObject({ outcome: 'disconnected', cost_usd: work.costUsd })
    await untilDraining(0)
    const failed = heldBack(failure(500))
    gateway.upstream.respondWith(failed.reply)
    await leave(work)
    await untilDraining(1)
    failed.release()
    await eventually(async () => expect(await heldUsd()).toBe(0))
    await untilDraining(0)
    expect(await records()).toHaveLength(1)
  })

  test('costs what was requested if its account has too many, and is not awaited', async () => {
    gateway = await startChatGateway({ settings: { PARKWAY_DRAINS_PER_ACCOUNT_MAX: '1' } })
    gateway.upstream.respondWith(silence)
    await leave(work)
    await untilDraining(1)
    const request = await leave(work)
    await request.abandoned
    expect(await untilCharged(1)).toMatchObject({ outcome: 'disconnected', cost_usd: work.costUsd })
    expect(await metric('parkway_abandoned_answers_total')).toBe(1)
    expect([await metric('parkway_drains_running'), await heldUsd()]).toEqual([1, work.costUsd])
  })

  test('costs what was requested if it takes too long', async () => {
    gateway = await startChatGateway({ settings: { PARKWAY_DRAIN_MS_MAX: '1' } })
    gateway.upstream.respondWith(silence)
    const request = await leave(work)
    await request.abandoned
    expect(await untilCharged(1)).toMatchObject({ outcome: 'disconnected', cost_usd: work.costUsd })
    await eventually(async () => expect(await heldUsd()).toBe(0))
  })
})

describe.each(WORKS)('$name whose client disconnected from a gateway that shuts down', (work) => {
  const nanoUsd = BigInt(Math.round(work.costUsd * 1e9))

  test.each([
    ['is waited for within the grace', '60000', true],
    ['costs what was asked for when the grace is over', '100', false],
  ])('%s', async (_name, graceMs, isAnswered) => {
    const own = await createTestDatabase()
    const { connectionString } = own
    gateway = await startChatGateway({
      connectionString,
      settings: { PARKWAY_SHUTDOWN_GRACE_MS: graceMs },
    })
    const made = heldBack(work.reply)
    gateway.upstream.respondWith(made.reply)
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    await leave(work)
    await untilDraining(1)
    const stopping = gateway.close()
    if (isAnswered) made.release()
    await stopping
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
    const charges = await readCharges(database, me.id)
    await database.close()
    await own.drop()
    expect(charges).toMatchObject([{ outcome: 'disconnected', costNanoUsd: nanoUsd }])
  })
})
