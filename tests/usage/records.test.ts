import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectInvalid, startUsageGateway, type UsageGateway } from './start-usage-gateway.ts'

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

const PATH = '/v1/usage/records'
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

describe('GET /v1/usage/records', () => {
  test('200: one row per request, with every field, under both names', async () => {
    const [id = ''] = await gateway.write([
      {
        at: '2026-11-11T10:20:30.456Z',
        keyId: '01890000-0000-7000-8000-0000000000cc',
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
    expect(status).toBe(200)
    expect(body).toMatchObject({ object: 'list', total: 1, has_more: false, next_cursor: null })
    expect(body.records).toEqual(body.data)
    expect(body.data).toEqual([
      {
        id,
        object: 'usage.record',
        request_id: `req_${id.replaceAll('-', '')}`,
        key_id: '01890000-0000-7000-8000-0000000000cc',
        env: 'live',
        operation: 'chat',
        wire: 'openai-chat',
        model: 'gpt-5.4',
        provider: 'openai',
        outcome: 'disconnected',
        prompt_tokens: 100,
        cached_tokens: 40,
        cache_write_tokens: 25,
        completion_tokens: 60,
        reasoning_tokens: 20,
        total_tokens: 160,
        cost_usd: 0.000007001,
        promotional_usd: 0.000002,
        uncovered_usd: 0.000003,
        latency_ms: 1234,
        ttft_ms: 56,
        created_at: '2026-11-11T10:20:30.456Z',
        price_version: null,
        batch: false,
      },
    ])
  })

  test('200: pages have every request once, newest first, over hours and processes', async () => {
    const written = await gateway.write(
      Array.from({ length: 7 }, (_, index) => ({
        at: new Date(Date.UTC(2026, 10, 11, 20) + index * 1_700_000).toISOString(),
        writer: index % 2,
      })),
    )
    const seen: string[] = []
    let after = ''
    do {
      const { body } = await gateway.get(`${PATH}?limit=3${after}`)
      expect(body.total).toBe(7)
      expect(body.has_more).toBe(body.next_cursor !== null)
      seen.push(...idsOf(body))
      after = body.next_cursor === null ? '' : `&after=${body.next_cursor}`
    } while (after !== '')
    expect(seen).toEqual(written.toReversed())
  })

  test('200: filters are exact, and so is the total', async () => {
    const keyId = '01890000-0000-7000-8000-0000000000dd'
    const [first = '', second = '', third = '', fourth = ''] = await gateway.write([
      { at: '2026-11-11T10:20:00.000Z', model: 'a', provider: 'x', keyId, environment: 'live' },
      { at: '2026-11-11T10:40:00.000Z', model: 'b', provider: 'x', outcome: 'failed', costNanoUsd: 0n },
      { at: '2026-11-11T11:00:00.000Z', model: 'a', provider: 'y' },
      { at: '2026-11-12T00:00:00.000Z', model: 'b', provider: 'y', outcome: 'disconnected' },
    ])
    const expectList = async (query: string, ids: readonly string[]) => {
      const { body } = await gateway.get(`${PATH}?${query}`)
      expect([query, idsOf(body), body.total]).toEqual([query, ids, ids.length])
    }
    await expectList('model=a', [third, first])
    await expectList('model=b&provider=x', [second])
    await expectList(`key=${keyId}`, [first])
    await expectList('env=live', [first])
    await expectList('outcome=failed', [second])
    await expectList('outcome=completed&model=a', [third, first])
    await expectList('since=2026-11-11T10:40:00Z', [fourth, third, second])
    await expectList('since=2026-11-11T10:40:00.001Z', [fourth, third])
    await expectList('until=2026-11-11T10:40:00Z', [first])
    await expectList('since=2026-11-11T10:30:00Z&until=2026-11-12T00:00:00Z', [third, second])
    await expectList('model=none', [])
    const page = await gateway.get(`${PATH}?model=a&limit=1`)
    expect([idsOf(page.body), page.body.has_more, page.body.total]).toEqual([[third], true, 2])
  })

  test('200: a request that began just now is listed', async () => {
    const [id = ''] = await gateway.write([{ at: new Date().toISOString() }])
    expect(idsOf((await gateway.get(PATH)).body)).toEqual([id])
  })

  test('200: another account sees none, neither by key nor by cursor', async () => {
    const [id = '', later = ''] = await gateway.write([
      { at: '2026-11-11T10:20:00Z' },
      { at: '2026-11-11T10:21:00Z' },
    ])
    for (const query of ['', '?key=01890000-0000-7000-8000-00000000000a', `?after=${later}`]) {
      const { status, body } = await gateway.get(PATH + query, gateway.strangerKey)
      expect([status, body.data, body.total]).toEqual([200, [], 0])
      expect(JSON.stringify(body)).not.toContain(id)
    }
  })

  test.each([
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['after', 'after=nowhere'],
    ['key', 'key=mine'],
    ['env', 'env=qa'],
    ['outcome', 'outcome=fine'],
    ['model', 'model=a%00b'],
    ['provider', 'provider='],
    ['since', 'since=yesterday'],
    ['since', 'since=2026-11-12T00:00:00Z&until=2026-11-11T00:00:00Z'],
    ['since', 'since=2999-11-12T00:00:00Z'],
    ['until', 'until=tomorrow'],
  ])('400: %s is named for ?%s', async (param, query) => {
    expectInvalid(await gateway.get(`${PATH}?${query}`), param)
  })
})
