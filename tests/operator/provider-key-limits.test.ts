import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import {
  chunksOf,
  completion,
  failure,
  startOpenAiServer,
  stream,
  type OpenAiServer,
} from '../upstreams/openai-server.ts'
import { addModel } from '../offer/offered-model.ts'

const PROVIDERS = '/v1/admin/providers'
/** 11 tokens read and 7 written, for $1 and $10 a million. */
const TOKENS = 18
const PRICE_USD = 0.000081

let upstream: OpenAiServer
let gateway: TestGateway
let second: TestGateway
let directory: string
let names = 0

beforeAll(async () => {
  upstream = await startOpenAiServer()
  const key = { api_key: 'sk-of-the-file-0001', weight: 2, requests_per_minute: 2, budget_usd_per_day: 5 }
  const providers = { filed: { base_url: upstream.apiUrl, api_keys: [key] } }
  directory = await mkdtemp(join(tmpdir(), 'parkway-key-limits-'))
  const file = join(directory, 'parkway.config.yaml')
  await writeFile(file, JSON.stringify({ providers }))
  const settings = { PARKWAY_CONFIG_FILE: file }
  gateway = await startTestGateway({ settings })
  second = await startTestGateway({ settings, connectionString: gateway.connectionString })
})
afterAll(async () => {
  await second.close()
  await gateway.close()
  await upstream.close()
  await removeDirectory(directory)
})
beforeEach(() => {
  upstream.requests.length = 0
  upstream.respondWith(completion())
})

type Limits = Record<string, unknown>

/** Adds a provider with these keys, and a model that only it serves. Both have the name that is returned. */
async function offer(keys: readonly Limits[], routes: readonly object[] = []): Promise<string> {
  names += 1
  const name = `limited-${Date.now().toString(36)}-${names}`
  const credentials = keys.map((limits, index) => ({ api_key: keyOf(name, index), ...limits }))
  const body = { name, vendor: null, base_url: upstream.apiUrl, credentials }
  const added = await gateway.request('POST', PROVIDERS, { body })
  expect([added.status, added.body.error]).toEqual([201, undefined])
  const model = await addModel(gateway, name, { routes: [{ provider: name, model: 'm' }, ...routes] })
  expect([model.status, model.body.error]).toEqual([201, undefined])
  return name
}
const keyOf = (name: string, index: number) => `sk-${name}-${index}`
const ask = (model: string, from = gateway, members: object = {}) =>
  from.request('POST', CHAT, { body: chatBody({ model, ...members }) })
async function askOften(model: string, times: number, from = gateway): Promise<number[]> {
  const statuses: number[] = []
  for (let time = 0; time < times; time += 1) statuses.push((await ask(model, from)).status)
  return statuses
}
const keysUsed = () => upstream.requests.map(({ headers }) => headers['authorization']?.replace(/^.*-/, ''))
/** Waits until all processes have told what they used, which they do twice a second. */
const expectUsed = (name: string, keys: readonly object[], from = gateway) =>
  eventually(async () => {
    const { body } = await from.request('GET', `${PROVIDERS}/${name}`)
    expect(body.limited_keys).toMatchObject(keys)
    return body.limited_keys
  })

test('a key at its limit of requests is passed over for the next, and when none is left the client is told when to come again', async () => {
  const name = await offer([{ requests_per_minute: 2 }, { requests_per_minute: 1 }])
  expect(await askOften(name, 3)).toEqual([200, 200, 200])
  expect(keysUsed().filter((key) => key === '0')).toHaveLength(2)
  const refused = await ask(name)
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(2)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(upstream.requests).toHaveLength(3)
  await expectUsed(name, [
    { requests_per_minute: { limit: 2, used: 2 }, tokens_per_minute: null, is_used_up: true },
    { requests_per_minute: { limit: 1, used: 1 }, budget_usd_per_day: null, is_used_up: true },
  ])
})

test('then the next route serves, and requests that wait out the minute are served again', async () => {
  const other = await offer([{}])
  const name = await offer([{ requests_per_minute: 20 }], [{ provider: other, model: 'm', priority: 1 }])
  const providers: (string | null)[] = []
  for (let time = 0; time < 21; time += 1) providers.push((await ask(name)).headers.get('x-gateway-provider'))
  expect(new Set(providers.slice(0, 20))).toEqual(new Set([name]))
  expect(providers.at(-1)).toBe(other)
  // A minute is a bucket that is filled evenly.
  await eventually(async () => expect((await ask(name)).headers.get('x-gateway-provider')).toBe(name))
})

test('requests are counted over all processes', async () => {
  const name = await offer([{ requests_per_minute: 4 }])
  expect(await askOften(name, 2)).toEqual([200, 200])
  expect(await askOften(name, 2, second)).toEqual([200, 200])
  expect([...(await askOften(name, 1)), ...(await askOften(name, 1, second))]).toEqual([429, 429])
  await expectUsed(name, [{ requests_per_minute: { limit: 4, used: 4 } }])
})

test('tokens are counted as they were measured, of whole answers and of streams', async () => {
  const name = await offer([{ tokens_per_minute: 30 }])
  expect((await ask(name)).status).toBe(200)
  await expectUsed(name, [{ tokens_per_minute: { limit: 30, used: TOKENS } }])
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: TOKENS }
  upstream.respondWith(stream([...chunksOf('Hello'), { ...chunksOf()[0], choices: [], usage }]))
  const streamed = await ask(name, gateway, { stream: true })
  expect([streamed.status, streamed.body]).toEqual([200, expect.stringContaining('[DONE]')])
  upstream.respondWith(completion())
  const refused = await ask(name)
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
  await expectUsed(name, [{ tokens_per_minute: { limit: 30, used: 2 * TOKENS }, is_used_up: true }])
})

test('a key that was refused takes no share of what the next one used', async () => {
  const name = await offer(
    [1, 2].map(() => ({ requests_per_minute: 10, tokens_per_minute: 100, budget_usd_per_day: 1 })),
  )
  upstream.respondWith(failure(401, { message: 'no' }), completion())
  expect((await ask(name)).status).toBe(200)
  expect(keysUsed()).toEqual(['0', '1'])
  const used = (tokens: number, usd: number) => ({
    requests_per_minute: { used: 1 },
    tokens_per_minute: { used: tokens },
    budget_usd_per_day: { used: usd },
  })
  await expectUsed(name, [used(0, 0), used(TOKENS, PRICE_USD)])
})

test('a failed call takes a request and no tokens', async () => {
  const name = await offer([{ requests_per_minute: 100, tokens_per_minute: 100 }])
  upstream.respondWith(failure(400, { message: 'no' }))
  expect((await ask(name)).status).toBe(400)
  await expectUsed(name, [{ requests_per_minute: { used: 1 }, tokens_per_minute: { used: 0 } }])
})

test('a budget of a day counts what requests cost, in every process, and ends with the day', async () => {
  const name = await offer([{ budget_usd_per_day: 0.0001 }])
  expect(await askOften(name, 2)).toEqual([200, 200])
  const refused = await ask(name)
  expect([refused.status, refused.body.error.code]).toEqual([503, 'capacity_exhausted'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const budget = { limit: 0.0001, used: 2 * PRICE_USD }
  const [key] = await expectUsed(name, [{ budget_usd_per_day: budget, is_used_up: true }], second)
  expect((await ask(name, second)).status).toBe(503)
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
  await database.query('UPDATE provider_key_spend SET day = day - 1 WHERE key_id = $1', [key.id])
  await database.close()
  await eventually(async () => expect((await ask(name, second)).status).toBe(200))
  await eventually(async () => expect((await ask(name)).status).toBe(200))
})

test('a budget counts what the vendor charges where that is known', async () => {
  const name = await offer([{ budget_usd_per_day: 0.0001 }])
  const cost = { unit: 'token', input_usd_per_1m: 2, output_usd_per_1m: 20 }
  const routes = [{ provider: name, model: 'm', cost }]
  const changed = await gateway.request('PATCH', `/v1/admin/models/${name}`, { body: { routes } })
  expect([changed.status, changed.body.error?.message]).toEqual([200, undefined])
  expect(await askOften(name, 2)).toEqual([200, 503])
  await expectUsed(name, [{ budget_usd_per_day: { limit: 0.0001, used: 2 * PRICE_USD } }])
})

test('keys that have room keep their weights', async () => {
  const name = await offer([{ weight: 3 }, { weight: 1 }, { weight: 4, requests_per_minute: 1 }])
  await askOften(name, 17)
  const used = keysUsed()
  const count = (key: string) => used.filter((one) => one === key).length
  expect(count('2')).toBe(1)
  expect(Math.abs(count('0') - 12)).toBeLessThanOrEqual(1)
})

test('limits are changed and removed while they count', async () => {
  const name = await offer([{ requests_per_minute: 1 }])
  expect(await askOften(name, 2)).toEqual([200, 429])
  const read = await gateway.request('GET', `${PROVIDERS}/${name}`)
  const [{ id }] = read.body.credentials
  const change = (limits: object) =>
    gateway.request('PATCH', `${PROVIDERS}/${name}`, { body: { credentials: [{ id, ...limits }] } })
  const raised = await change({ requests_per_minute: 1_000, tokens_per_minute: 5_000 })
  expect(raised.body.credentials).toMatchObject([{ requests_per_minute: 1_000, tokens_per_minute: 5_000 }])
  const removed = await change({ requests_per_minute: null })
  expect(removed.body.credentials).toMatchObject([{ requests_per_minute: null, tokens_per_minute: 5_000 }])
  expect(await askOften(name, 3)).toEqual([200, 200, 200])
  const audit = await gateway.request('GET', '/v1/admin/audit?limit=5')
  expect(JSON.stringify(audit.body)).toContain('"requests_per_minute":1')
})

test('a limit that is none is refused', async () => {
  const credentials = (limits: object) => [{ api_key: 'sk-0123456789ab', ...limits }]
  for (const [limits, param] of [
    [{ requests_per_minute: 0 }, 'credentials.0.requests_per_minute'],
    [{ tokens_per_minute: 1.5 }, 'credentials.0.tokens_per_minute'],
    [{ budget_usd_per_day: -1 }, 'credentials.0.budget_usd_per_day'],
    [{ budget_usd_per_day: 0.00000000001 }, 'credentials.0.budget_usd_per_day'],
  ] as const) {
    const body = { name: 'refused', base_url: upstream.apiUrl, credentials: credentials(limits) }
    const answer = await gateway.request('POST', PROVIDERS, { body })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  }
})

test('limits are exported and applied', async () => {
  const name = await offer([{ requests_per_minute: 7, budget_usd_per_day: 2.5 }, { tokens_per_minute: 9 }])
  const exported = await gateway.fetch('GET', '/v1/admin/config/export')
  const document = parse(await exported.text())
  const provider = document.providers.find((one: { name: string }) => one.name === name)
  expect(provider.credentials).toMatchObject([
    { requests_per_minute: 7, budget_usd_per_day: 2.5 },
    { tokens_per_minute: 9 },
  ])
  const apply = () => gateway.request('POST', '/v1/admin/config/apply', { body: { document } })
  expect((await apply()).body.changes).toEqual([])
  provider.credentials[0].requests_per_minute = 8
  delete provider.credentials[1].tokens_per_minute
  expect((await apply()).body.changes).toMatchObject([{ action: 'change', name }])
  const { body } = await gateway.request('GET', `${PROVIDERS}/${name}`)
  expect(body.credentials).toMatchObject([
    { requests_per_minute: 8, budget_usd_per_day: 2.5 },
    { tokens_per_minute: null },
  ])
})

test('keys of the configuration file have limits too', async () => {
  names += 1
  const model = `filed-${Date.now().toString(36)}-${names}`
  await addModel(gateway, model, { routes: [{ provider: 'filed', model: 'm' }] })
  const statuses = await askOften(model, 3)
  expect(statuses.at(-1)).toBe(429)
  await expectUsed('filed', [{ requests_per_minute: { limit: 2 }, budget_usd_per_day: { limit: 5 } }])
})
