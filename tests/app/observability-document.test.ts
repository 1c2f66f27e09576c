import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatBody } from './call.ts'

const document = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')
const CHAT = '/v1/chat/completions'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

async function readMetrics(): Promise<string> {
  return String((await gateway.request('GET', '/metrics', { key: null })).body)
}

test('the document has every metric of the gateway, and no other', async () => {
  const told = [...(await readMetrics()).matchAll(/^# TYPE (parkway_\w+) /gm)].map(([, name = '']) => name)
  const rows = document.split('\n').filter((line) => line.startsWith('| `parkway_'))
  const named = rows.flatMap((row) => [...row.matchAll(/`(parkway_\w+)`/g)].map(([, name = '']) => name))
  expect(told.length).toBeGreaterThan(15)
  expect(new Set(named)).toEqual(new Set(told))
})

test('a request that no provider answered is counted for the one that was called last', async () => {
  const { status } = await gateway.request('POST', CHAT, { body: chatBody('[[sandbox:error status=500]]') })
  expect(status).toBe(500)
  const text = await readMetrics()
  expect(text).toMatch(
    /parkway_requests_total\{route="\/v1\/chat\/completions",model="gpt-4o-mini",provider="sandbox",status="500"\} 1/,
  )
  expect(text).toMatch(
    /gen_ai_client_operation_duration_seconds_count\{gen_ai_operation_name="chat",gen_ai_provider_name="sandbox",gen_ai_request_model="gpt-4o-mini",error_type="500"\} 1/,
  )
})

test('the metrics tell what was spent, the state of the database, and which release runs', async () => {
  const { status, headers } = await gateway.request('POST', CHAT, { body: chatBody('Hi') })
  expect(status).toBe(200)
  const text = await readMetrics()
  const spent = /parkway_spend_usd_total\{model="gpt-4o-mini",provider="sandbox"\} (\S+)/.exec(text)?.[1]
  expect(Number(spent)).toBeCloseTo(Number(headers.get('x-gateway-cost-usd')), 9)
  expect(text).toMatch(/parkway_build_info\{version="\d[^"]*",node="\d[^"]*"\} 1/)
  expect(text).toContain('parkway_database_up 1')
  expect(text).toMatch(/parkway_database_size_bytes \d{6,}/)
  expect(text).toMatch(/parkway_database_pool_connections\{state="free"\} \d+/)
  expect(text).toContain('parkway_tasks{status="pending"} 0')
  expect(text).toContain('parkway_ledger_refused_commits 0')
  expect(text).toContain('# TYPE parkway_event_loop_lag_seconds summary')
})

test("the client's own id of a request is in the request log beside ours, and finds nothing", async () => {
  const body = chatBody('Hi')
  const sent = { 'x-request-id': 'their-id:4711' }
  const { headers } = await gateway.request('POST', CHAT, { body, headers: sent })
  const id = headers.get('x-request-id') ?? ''
  expect(id).toMatch(/^req_/)
  const { body: entry } = await gateway.request('GET', `/v1/requests/${id}`)
  expect(entry).toMatchObject({ request_id: id, client_request_id: 'their-id:4711' })
  expect((await gateway.request('GET', '/v1/requests/their-id:4711')).status).not.toBe(200)
})

test.each([
  ['a key in it', 'pk-live-0123456789abcdefghij', 'pk-live-[redacted]'],
  ['spaces', 'a b', null],
  ['more than 128 characters', 'a'.repeat(129), null],
  ['a quote', 'a"b', null],
])("a client's id with %s is not kept as it is", async (_what, sent, kept) => {
  const answer = await gateway.request('POST', CHAT, {
    body: chatBody('[[sandbox:error status=400]]'),
    headers: { 'x-request-id': sent },
  })
  const id = answer.headers.get('x-request-id') ?? ''
  const { body: entry } = await gateway.request('GET', `/v1/requests/${id}`)
  expect(entry.client_request_id).toBe(kept)
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

test.skipIf(!hasPromtool)(
  'promtool finds nothing wrong with the names and types of the metrics',
  async () => {
    expect(
      execFileSync('promtool', ['check', 'metrics'], { input: await readMetrics(), encoding: 'utf8' }),
    ).toBe('')
  },
)
