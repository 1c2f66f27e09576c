import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectInvalid, startUsageGateway, type UsageGateway } from '../usage/start-usage-gateway.ts'

let gateway: UsageGateway

beforeAll(async () => {
  gateway = await startUsageGateway()
})

beforeEach(async () => {
  await gateway.forget()
})

afterAll(async () => {
  await gateway.close()
})

const PATH = '/v1/requests'
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)
const requestIdOf = (id: string) => `req_${id.replaceAll('-', '')}`

describe('GET /v1/requests', () => {
  test('200: one entry a request, with every field, under both names', async () => {
    const { body: keys } = await gateway.get('/v1/tenants/me/api-keys')
    const [key] = keys.data
    const [id = ''] = await gateway.write([
      {
        at: '2026-11-11T10:20:30.456Z',
        keyId: key.id,
        environment: 'live',
        operation: 'chat',
        model: 'gpt-5.4',
        provider: 'openai',
        outcome: 'disconnected',
        promptTokens: 100,
        cachedTokens: 40,
        cacheWriteTokens: 25,
        completionTokens: 60,
        reasoningTokens: 20,
        costNanoUsd: 7_001n,
        promotionalNanoUsd: 2_000n,
        uncoveredNanoUsd: 3_000n,
        latencyMs: 1234,
        firstTokenMs: 56,
      },
    ])
    const { status, body } = await gateway.get(PATH)
    expect([status, body.object, body.has_more, body.next_cursor]).toEqual([200, 'list', false, null])
    expect(body.requests).toEqual(body.data)
    expect(body.data).toEqual([
      {
        id,
        object: 'request',
        request_id: requestIdOf(id),
        client_request_id: null,
        created_at: '2026-11-11T10:20:30.456Z',
        operation: 'chat',
        wire: 'openai-chat',
        requested_model: null,
        model: 'gpt-5.4',
        provider: 'openai',
        key_id: key.id,
        key_name: key.name,
        env: 'live',
        outcome: 'disconnected',
        http_status: 499,
        error_code: null,
        error_message: null,
        stream: true,
        batch: false,
        latency_ms: 1234,
        ttft_ms: 56,
        prompt_tokens: 100,
        cached_tokens: 40,
        cache_write_tokens: 25,
        completion_tokens: 60,
        reasoning_tokens: 20,
        total_tokens: 160,
        cost_usd: 0.000007001,
        promotional_usd: 0.000002,
        uncovered_usd: 0.000003,
        cache_hit: true,
        attempt_count: null,
        fallback: null,
        user: null,
      },
    ])
  })

  test('200: all that match are a file too, in the order of the list, and a text that is a formula is harmless', async () => {
    const ids = await gateway.write([
      { at: '2026-11-11T10:00:00.000Z', model: '=cmd()', costNanoUsd: 1_500n },
      { at: '2026-11-11T11:00:00.000Z', model: 'gpt-5.4', costNanoUsd: 2n },
    ])
    const read = async (query: string): Promise<string[][]> => {
      const answer = await gateway.fetch('GET', `${PATH}?format=csv${query}`)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
      return (await answer.text())
        .trim()
        .split('\r\n')
        .map((line) => line.split(','))
    }
    const lines = await read('')
    expect(lines.map((line) => line[1])).toEqual(['request_id', ...ids.toReversed().map(requestIdOf)])
    expect(lines.map((line) => [line[8], line.at(-1)])).toEqual([
      ['model', 'cost_usd'],
      ['gpt-5.4', '0.000000002'],
      ["'=cmd()", '0.0000015'],
    ])
    expect(await read('&model=gpt-5.4')).toHaveLength(2)
  })

  test('pages are newest first and have every request once', async () => {
    const at = (minute: number) => `2026-11-11T10:0${minute}:00Z`
    const ids = await gateway.write([0, 1, 2, 3, 4].map((minute) => ({ at: at(minute) })))
    const pages: string[][] = []
    let after = ''
    for (;;) {
      const { body } = await gateway.get(`${PATH}?limit=2${after}`)
      pages.push(idsOf(body))
      if (!body.has_more) break
      after = `&after=${body.next_cursor}`
    }
    const newest = ids.toReversed()
    expect(pages).toEqual([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)])
  })

  test.each([
    ['key=01890000-0000-7000-8000-0000000000ff', [1]],
    ['model=other', [2]],
    ['provider=groq', [3]],
    ['env=test', [4]],
    ['operation=embedding', [5]],
    ['outcome=failed', [6]],
    ['http_status=499', [7]],
    ['min_latency_ms=9000', [8]],
    ['min_cost_usd=0.5', [9]],
    ['since=2026-11-11T10:08:00Z', [9, 8]],
    ['until=2026-11-11T10:02:00Z', [1, 0]],
    ['min_latency_ms=9000&outcome=failed', []],
    ['model=other&min_latency_ms=9000', []],
    ['model=never-used', []],
    ['error_code=rate_limit_exceeded', []],
  ])('%s finds only what matches', async (query, expected) => {
    const ids = await gateway.write(
      [
        {},
        { keyId: '01890000-0000-7000-8000-0000000000ff' },
        { model: 'other' },
        { provider: 'groq' },
        // A key has one environment.
        { environment: 'test', keyId: '01890000-0000-7000-8000-0000000000ee' },
        { operation: 'embedding' },
        { outcome: 'failed' as const },
        { outcome: 'disconnected' as const },
        { latencyMs: 9_000 },
        { costNanoUsd: 500_000_000n },
      ].map((request, index) => ({ ...request, at: `2026-11-11T10:0${index}:00Z` })),
    )
    const { status, body } = await gateway.get(`${PATH}?${query}`)
    expect([status, idsOf(body)]).toEqual([200, expected.map((index) => ids[index])])
  })

  test('request_id finds one request, in both forms', async () => {
    const [, id = ''] = await gateway.write([
      { at: '2026-11-11T10:00:00Z' },
      { at: '2026-11-11T10:00:00Z' },
      { at: '2026-11-11T10:00:00Z' },
    ])
    for (const name of [id, requestIdOf(id), requestIdOf(id).toUpperCase().replace('REQ', 'req')]) {
      const { body } = await gateway.get(`${PATH}?request_id=${name}`)
      expect(idsOf(body)).toEqual([id])
    }
  })

  test.each([
    ['request_id', 'request_id=nonsense'],
    ['key', 'key=nonsense'],
    ['since', 'since=yesterday'],
    ['after', 'after=nonsense'],
    ['outcome', 'outcome=lost'],
    ['min_latency_ms', 'min_latency_ms=-1'],
    ['min_cost_usd', 'min_cost_usd=0.0000000001'],
    ['http_status', 'http_status=9'],
    ['limit', 'limit=101'],
  ])('400: %s is checked (%s)', async (param, query) => {
    expectInvalid(await gateway.get(`${PATH}?${query}`), param)
  })

  test('an account sees only its own requests, with any scope', async () => {
    const [id = ''] = await gateway.write([{ at: '2026-11-11T10:00:00Z' }])
    const { strangerKey } = gateway
    expect((await gateway.get(PATH, strangerKey)).body.data).toEqual([])
    expect((await gateway.get(`${PATH}?request_id=${id}`, strangerKey)).body.data).toEqual([])
    const theirs = await gateway.get(`${PATH}/${requestIdOf(id)}`, strangerKey)
    const nobodys = await gateway.get(`${PATH}/req_${'0'.repeat(32)}`)
    expect([theirs.status, theirs.body.error.code]).toEqual([404, 'not_found'])
    expect(nobodys.body.error.message).toBe(theirs.body.error.message)
  })

  test('it takes a key', async () => {
    expect((await gateway.request('GET', PATH, { key: null })).status).toBe(401)
    expect((await gateway.request('GET', `${PATH}/req_${'0'.repeat(32)}`, { key: null })).status).toBe(401)
  })
})

describe('GET /v1/requests/{request_id}', () => {
  test('200: the entry with its timings; what was not recorded is null', async () => {
    const [id = ''] = await gateway.write([{ at: '2026-11-11T10:00:00Z', latencyMs: 1234, firstTokenMs: 56 }])
    const { body: listed } = await gateway.get(PATH)
    const { status, body } = await gateway.get(`${PATH}/${requestIdOf(id)}`)
    const timings = {
      queue_ms: null,
      upstream_ms: null,
      ttft_ms: 56,
      streaming_ms: 1178,
      total_ms: 1234,
    }
    expect([status, body]).toEqual([
      200,
      { ...listed.data[0], timings, attempts: null, task: null, body_stored: false },
    ])
  })

  test('404: a text that is no id', async () => {
    expect((await gateway.get(`${PATH}/nonsense`)).status).toBe(404)
  })
})

describe('operators', () => {
  test('read the requests of any account', async () => {
    const [id = ''] = await gateway.write([{ at: '2026-11-11T10:00:00Z' }])
    const { accountId } = gateway
    const { body } = await gateway.get(`/v1/admin/requests?account_id=${accountId}`, gateway.strangerKey)
    expect(idsOf(body)).toEqual([id])
    const one = await gateway.get(
      `/v1/admin/requests/${requestIdOf(id)}?account_id=${accountId}`,
      gateway.strangerKey,
    )
    expect([one.status, one.body.id]).toEqual([200, id])
  })

  test('404: an unknown account; 403: without the scope', async () => {
    const nobody = '01890000-0000-7000-8000-0000000000dd'
    expect((await gateway.get(`/v1/admin/requests?account_id=${nobody}`)).status).toBe(404)
    expect((await gateway.get('/v1/admin/requests?account_id=nonsense')).status).toBe(404)
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'plain', scopes: ['inference', 'manage'] },
    })
    for (const path of ['/v1/admin/requests', `/v1/admin/requests/req_${'0'.repeat(32)}`]) {
      const answer = await gateway.get(`${path}?account_id=${gateway.accountId}`, key.key)
      expect(answer.status).toBe(403)
    }
  })
})
