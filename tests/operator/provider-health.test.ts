import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'

const HEALTH = '/v1/admin/provider_health'

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  gateway = await startChatGateway({
    providers: ['groq'],
    settings: { PARKWAY_STATUS_PAGE: 'true' },
    models: [
      modelEntry('pair', [
        { provider: 'openai', model: 'pair', priority: 1 },
        { provider: 'groq', model: 'pair', priority: 2 },
      ]),
    ],
  })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 30_000,
  })
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

const read = async (query = '') => (await gateway.request('GET', `${HEALTH}?${query}`)).body
const ask = (members: object = {}) =>
  gateway.request('POST', CHAT, { body: { ...chatBody(), model: 'pair', ...members } })
const hoursAgo = (hours: number) =>
  new Date(Math.floor(Date.now() / 3_600_000 - hours) * 3_600_000).toISOString()
const write = (grain: 'hour' | 'day', begins: string, provider: string, calls: number, failures: number) =>
  database.query(
    `INSERT INTO provider_health AS stored VALUES ($1, date_trunc($1, $2::timestamptz, 'UTC'), $3, 'pair', $4, $5, 0, '{}', '{}', 0, 0)
     ON CONFLICT (grain, begins, provider, model) DO UPDATE SET calls = stored.calls + $4, failures = stored.failures + $5`,
    [grain, begins, provider, calls, failures],
  )

describe('GET /v1/admin/provider_health', () => {
  test('200: counts each attempt at its provider, with latency, time to first token and throughput', async () => {
    gateway.upstream.respondWith(failure(429), failure(500), completion())
    expect((await ask()).status).toBe(200)
    gateway.upstream.respondWith(stream(chunksOf('Hello there, how are you?')))
    expect((await ask({ stream: true })).status).toBe(200)
    gateway.upstream.respondWith(failure(400), completion())
    expect((await ask()).status).toBe(400)
    const { data, granularity } = await read()
    expect(granularity).toBe('day')
    const calls: number[][] = data.map((one: Health) => [one.calls, one.failures, one.limited])
    const upstreamCalls = gateway.upstream.requests.length
    expect(data.reduce((sum: number, one: Health) => sum + one.calls, 0)).toBe(upstreamCalls)
    expect(data.map(({ provider }: Health) => provider)).toEqual(['groq', 'openai'])
    const sumOf = (place: number) => calls.reduce((sum, one) => sum + (one[place] ?? 0), 0)
    expect([sumOf(1), sumOf(2)]).toEqual([1, 1])
    const answered = data.filter(({ latency }: Health) => latency !== null)
    expect(answered.length).toBeGreaterThan(0)
    expect(data.some(({ ttft }: Health) => ttft !== null)).toBe(true)
    for (const one of data) {
      expect(one.buckets).toHaveLength(31)
      expect(one.buckets.at(-1)).toMatchObject({ calls: one.calls, uptime: one.uptime })
      expect(one.models).toEqual([expect.objectContaining({ model: 'pair', calls: one.calls })])
    }
  })

  test('200: uptime is the part of the hours in which most calls worked', async () => {
    for (const [hours, failures] of [
      [50, 0],
      [51, 4],
      [52, 5],
      [53, 10],
    ] as const) {
      await write('hour', hoursAgo(hours), 'elsewhere', 10, failures)
      await write('day', hoursAgo(hours), 'elsewhere', 10, failures)
    }
    const [found] = (await read('provider=elsewhere&window=7d')).data
    expect(found).toMatchObject({ calls: 40, failures: 19, error_rate: 0.475, uptime: 0.5 })
    expect((await read('provider=elsewhere&model=other')).data).toEqual([])
  })

  test('200: counts of two processes add up', async () => {
    const before = await read('provider=openai')
    const second = await startTestGateway({ connectionString: gateway.connectionString })
    const { data } = (await second.request('GET', `${HEALTH}?provider=openai`)).body
    await second.close()
    expect(data[0].calls).toBe(before.data[0].calls)
  })

  test.each(['granularity=hour&window=30d', 'granularity=minute', 'provider=%00', 'from=2024-01-01'])(
    '400: %s',
    async (query) => {
      expect((await gateway.request('GET', `${HEALTH}?${query}`)).status).toBe(400)
    },
  )
})

describe('the status page', () => {
  test('200: shows everybody the providers that are configured, without counts and errors', async () => {
    for (const hours of [0, 1]) await write('hour', hoursAgo(hours), 'groq', 20, 20)
    await database.query(`UPDATE provider_health SET model = 'secret-model' WHERE provider = 'groq'`)
    const page = await gateway.request('GET', '/status', { key: null })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(page.body).not.toMatch(/<script|secret-model|elsewhere|\d calls/)
    expect(page.body).toContain('<h2>groq <span class="down">down</span></h2>')
    const { body, headers } = await gateway.request('GET', '/status.json', { key: null })
    expect(headers.get('cache-control')).toBe('public, max-age=60')
    expect(body.providers.map(({ name }: { name: string }) => name)).toEqual(['groq', 'openai'])
    expect(body.providers[0]).toEqual({
      name: 'groq',
      state: 'down',
      uptime: expect.any(Number),
      days: expect.any(Array),
    })
    expect(body.providers[0].days).toHaveLength(30)
  })

  test('200: reads the database once for many visitors', async () => {
    await database.query(`DELETE FROM provider_health`)
    const pages = await Promise.all(
      Array.from({ length: 20 }, () => gateway.request('GET', '/status.json', { key: null })),
    )
    expect(new Set(pages.map(({ body }) => body.updated_at)).size).toBe(1)
    expect(pages[0]?.body.providers[0].days).toHaveLength(30)
  })

  test.each(['/status', '/status.json'])('404: %s, unless the operator wants it', async (path) => {
    const other = await startTestGateway({ connectionString: gateway.connectionString })
    expect((await other.request('GET', path, { key: null })).status).toBe(404)
    await other.close()
  })
})

interface Health {
  readonly provider: string
  readonly calls: number
  readonly failures: number
  readonly limited: number
  readonly latency: object | null
  readonly ttft: object | null
}
