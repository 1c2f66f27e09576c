import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { writeUsage, type SampleRequest } from '../../src/modules/usage/testing/write-usage.ts'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { expectInvalid, startUsageGateway, type UsageGateway } from '../usage/start-usage-gateway.ts'

let gateway: UsageGateway

beforeAll(async () => {
  gateway = await startUsageGateway()
})

beforeEach(async () => {
  await gateway.forget()
  await gateway.database.query(
    'TRUNCATE request_errors, latency_rollups, usage_by_label, errors_by_label, latency_by_label',
  )
})

afterAll(async () => {
  await gateway.close()
})

const RANGE = 'from=2026-11-11T00:00:00Z&to=2026-11-12T00:30:00Z'
const at = '2026-11-11T10:00:00Z'
const before = '2026-11-10T10:00:00Z'

const read = (query: string) => gateway.get(`/v1/admin/usage?${RANGE}&${query}`)
const ofStranger = (requests: readonly Omit<SampleRequest, 'accountId'>[]) =>
  writeUsage(
    gateway.database,
    requests.map((request) => ({ ...request, accountId: gateway.strangerId })),
  )

interface Group {
  readonly value: string
  readonly name: string
  readonly requests: number
}

const valuesOf = (body: { data: Group[] }) => body.data.map(({ value, requests }) => [value, requests])

describe('GET /v1/admin/usage', () => {
  test('groups all accounts by model, provider, key, project and environment, with names', async () => {
    const { body: project } = await gateway.request('POST', '/v1/organization/projects', {
      body: { name: 'Search' },
    })
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'nightly', env: 'live', project_id: project.id },
    })
    await gateway.write([
      { at, model: 'large', provider: 'one', keyId: key.id, environment: 'live', costNanoUsd: 5_000n },
      { at, model: 'small', provider: 'two', costNanoUsd: 1_000n },
    ])
    await ofStranger([{ at, model: 'small', provider: 'one', costNanoUsd: 2_000n }])
    expect(valuesOf((await read('by=model')).body)).toEqual([
      ['large', 1],
      ['small', 2],
    ])
    expect(valuesOf((await read('by=provider')).body)).toEqual([
      ['one', 2],
      ['two', 1],
    ])
    expect((await read('by=key')).body.data[0]).toMatchObject({
      value: key.id,
      name: 'nightly',
      tenant_id: gateway.accountId,
      share: 0.625,
    })
    const { body: byProject } = await read('by=project')
    expect(byProject.data[0]).toMatchObject({
      value: project.id,
      name: 'Search',
      tenant_id: gateway.accountId,
      requests: 1,
    })
    expect(valuesOf((await read('by=env')).body)).toEqual([
      ['live', 1],
      ['dev', 2],
    ])
    // No provider here promises a region.
    expect(valuesOf((await read('by=region')).body)).toEqual([['', 3]])
    const { body: filtered } = await read(`by=model&account_id=${gateway.strangerId}`)
    expect(valuesOf(filtered)).toEqual([['small', 1]])
    const { body: ofProject } = await read(`by=model&project_id=${project.id}`)
    expect(valuesOf(ofProject)).toEqual([['large', 1]])
  })

  test('compares each group with the time before, and finds those that changed most', async () => {
    await gateway.write([
      { at: before, model: 'gone', costNanoUsd: 9_000n },
      { at: before, model: 'steady', costNanoUsd: 10_000n },
      { at, model: 'steady', costNanoUsd: 10_000n },
      { at, model: 'new', costNanoUsd: 4_000n },
    ])
    const { body } = await read('by=model&order=movers')
    expect(valuesOf(body)).toEqual([
      ['gone', 0],
      ['new', 1],
      ['steady', 1],
    ])
    expect(body).toMatchObject({ cost_usd: 0.000014, previous: { requests: 2, cost_usd: 0.000019 } })
    expect(body.data[0]).toMatchObject({ previous: { cost_usd: 0.000009 }, change: { cost_usd: -1 } })
    expect(body.data[1]).toMatchObject({ change: { cost_usd: null } })
    const { body: top } = await read('by=model&order=movers&limit=1')
    expect(top.other).toMatchObject({ groups: 2, requests: 2, cost_usd: 0.000014, share: 1 })
  })

  test('groups by tag, also what has no such tag', async () => {
    await gateway.write([
      { at, model: 'large' },
      { at, model: 'large' },
    ])
    await gateway.database.query(
      `INSERT INTO usage_by_label (account_id, hour, label, key_id, model, operation, writer, requests, prompt_tokens,
         cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
       SELECT account_id, hour, 'tag:team=search', key_id, model, operation, 1, 1, 10, 0, 0, 5, 0, 1000, 0 FROM usage_rollups`,
    )
    const { body } = await read('by=tag:team')
    expect(new Map(valuesOf(body) as [string, number][])).toEqual(
      new Map([
        ['search', 1],
        ['', 1],
      ]),
    )
  })

  test('counts errors by kind and group, and measures latencies', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Failing', credit_usd: 5 },
    })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev' },
    })
    const chat = (model: string) => gateway.request('POST', CHAT, { body: chatBody({ model }), key: key.key })
    expect((await chat('gpt-5.4')).status).toBe(200)
    expect((await chat('no-such-model')).status).toBe(404)
    const get = (query: string) => gateway.get(`/v1/admin/usage?window=24h&account_id=${account.id}&${query}`)
    const { body } = await get('by=key')
    expect(body).toMatchObject({
      requests: 1,
      errors: { failed: 0, refused: 1, disconnected: 0 },
      error_rate: 0,
      error_kinds: [{ outcome: 'refused', http_status: 404, error_code: 'model_not_found', requests: 1 }],
    })
    expect(body.data).toMatchObject([
      {
        value: key.id,
        errors: { refused: 1 },
        latency: { p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
        ttft: null,
      },
    ])
    const { body: byErrors } = await get('by=model&order=errors')
    expect(byErrors.data.map(({ value }: Group) => value)).toContain('gpt-5.4')
  })

  test('errors and latencies are counted by tag, apart from what has no such tag', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Tagged', credit_usd: 5 },
    })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev' },
    })
    const chat = (model: string, tags: string | null) =>
      gateway.request('POST', CHAT, {
        body: chatBody({ model }),
        key: key.key,
        headers: tags === null ? {} : { 'x-gateway-tags': tags },
      })
    expect((await chat('gpt-5.4', 'team=search,stage=new')).status).toBe(200)
    for (const tags of ['team=search', 'team=ads', null])
      expect((await chat('no-such', tags)).status).toBe(404)
    const get = (query: string) => gateway.get(`/v1/admin/usage?window=24h&account_id=${account.id}&${query}`)
    const { body } = await get('by=tag:team&order=requests')
    const measured = { p50_ms: expect.any(Number), p95_ms: expect.any(Number) }
    const refusedOf = (group: { errors: { refused: number } }) => group.errors.refused
    expect(
      body.data.map((group: Group & { errors: { refused: number }; latency: unknown }) => [
        group.value,
        refusedOf(group),
        group.latency,
      ]),
    ).toEqual([
      ['search', 1, measured],
      ['', 1, null],
      ['ads', 1, null],
    ])
    expect([refusedOf(body), body.error_kinds[0].requests]).toEqual([3, 3])
    const { body: filtered } = await get('by=model&tag=team%3Dsearch')
    expect([refusedOf(filtered), filtered.error_kinds[0].requests]).toEqual([1, 1])
    expect(filtered.data.find(({ value }: Group) => value === 'gpt-5.4').latency).toEqual(measured)
  })

  test('is a file of all groups, where a name is no formula', async () => {
    await gateway.write([
      { at, model: '=large', costNanoUsd: 5_000n, promptTokens: 7 },
      { at: before, model: '=large' },
    ])
    const { status, body, headers } = await read('by=model&format=csv')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    const [head = '', line = '', ...more] = String(body).trimEnd().split('\r\n')
    const row = Object.fromEntries(head.split(',').map((name, index) => [name, line.split(',')[index]]))
    expect(row).toMatchObject({
      by: 'model',
      value: "'=large",
      requests: '1',
      prompt_tokens: '7',
      cost_usd: '0.000005',
      failed: '0',
      previous_requests: '1',
    })
    expect(more).toEqual([])
  })

  test('400, 403 and 404: what is wrong is named, and only operators see it', async () => {
    for (const [param, query] of [
      ['by', 'by=day'],
      ['order', 'order=name'],
      ['provider', 'by=tag:team&provider=one'],
      ['format', 'format=xml'],
    ] as const)
      expectInvalid(await read(query), param)
    const none = await read(`account_id=${crypto.randomUUID()}`)
    expect([none.status, none.body.error.code]).toEqual([404, 'not_found'])
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { scopes: ['inference', 'manage'] },
    })
    for (const path of ['usage', 'usage/timeseries'])
      expect((await gateway.get(`/v1/admin/${path}`, key.key)).status).toBe(403)
  })
})

test('the usage of all accounts over time, with the dearest as series', async () => {
  await gateway.write([{ at, model: 'large', costNanoUsd: 5_000n }])
  await ofStranger([
    { at: '2026-11-12T00:10:00Z', model: 'small', costNanoUsd: 1_000n },
    { at: '2026-11-12T00:40:00Z', model: 'small', costNanoUsd: 1_000n },
  ])
  const path = `/v1/admin/usage/timeseries?${RANGE}&granularity=day`
  const { body } = await gateway.get(`${path}&by=account`)
  expect(body.data.map(({ requests }: Group) => requests)).toEqual([1, 1])
  expect(body.series).toMatchObject([
    { value: gateway.accountId, data: [{ cost_usd: 0.000005 }, { cost_usd: 0 }] },
    { value: gateway.strangerId, name: 'stranger', data: [{ cost_usd: 0 }, { cost_usd: 0.000001 }] },
  ])
  const { body: filtered } = await gateway.get(`${path}&model=small`)
  expect([filtered.by, filtered.series]).toEqual([null, []])
  expect(filtered.data.map(({ requests }: Group) => requests)).toEqual([0, 1])
})
