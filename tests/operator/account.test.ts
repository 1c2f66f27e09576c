import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const ACCOUNTS = '/v1/admin/accounts'
const UNKNOWN = '01890000-0000-7000-8000-000000000000'

let gateway: TestGateway
let account: { id: string; key: string; keyId: string }

beforeAll(async () => {
  gateway = await startTestGateway()
  account = await createAccount()
})

afterAll(async () => {
  await gateway.close()
})

async function createAccount(): Promise<typeof account> {
  const { body } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Ada', credit_usd: 30 } })
  const { body: made } = await gateway.request('POST', `${ACCOUNTS}/${body.id}/api-keys`, {
    body: { env: 'dev', scopes: ['inference', 'manage'] },
  })
  return { id: body.id, key: made.key, keyId: made.id }
}

const change = (path: string, body: unknown) => gateway.request('PATCH', `${ACCOUNTS}/${path}`, { body })

const actionsOn = async (targetId: string): Promise<string[]> => {
  const { body } = await gateway.request('GET', `/v1/admin/audit?target_id=${targetId}`)
  return body.data.map(({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`)
}

describe('the limits of an account', () => {
  test('200: are those of its balance, until an operator sets a tier', async () => {
    const { id, key } = await createAccount()
    const before = await gateway.request('GET', `${ACCOUNTS}/${id}/limits`)
    expect(before.status).toBe(200)
    expect(before.body).toMatchObject({
      object: 'account_limits',
      account_id: id,
      tier: 'tier_2',
      set_tier: null,
      tiers: ['free', 'tier_1', 'tier_2', 'tier_3', 'tier_4'],
      limits: { requests_per_minute: 120_000, spend_usd_per_minute: 200 },
      stored: { media_bytes: 0 },
    })
    const set = await change(`${id}/limits`, { tier: 'free' })
    expect(set.body).toMatchObject({ tier: 'free', set_tier: 'free', limits: { requests_per_minute: 6_000 } })
    await expect
      .poll(async () => (await gateway.request('GET', '/v1/tenants/me', { key })).body)
      .toMatchObject({ limits_tier: 'free', limits: { requests_per_minute: 6_000 } })
    const removed = await change(`${id}/limits`, { tier: null })
    expect(removed.body).toMatchObject({ tier: 'tier_2', set_tier: null })
    expect(await actionsOn(id)).toEqual(expect.arrayContaining(['limits.set done', 'limits.set done']))
  })

  test('200: a set tier holds in every process, and after a restart', async () => {
    const { id } = await createAccount()
    const other = await startTestGateway({ connectionString: gateway.connectionString })
    try {
      await change(`${id}/limits`, { tier: 'tier_4' })
      const { body } = await other.request('GET', `${ACCOUNTS}/${id}/limits`)
      expect(body).toMatchObject({ tier: 'tier_4', set_tier: 'tier_4' })
    } finally {
      await other.close()
    }
    const later = await startTestGateway({ connectionString: gateway.connectionString })
    try {
      const { body } = await later.request('GET', `${ACCOUNTS}/${id}/limits`)
      expect(body).toMatchObject({ tier: 'tier_4', set_tier: 'tier_4' })
    } finally {
      await later.close()
    }
  })

  test.each([
    [{}, 'tier'],
    [{ tier: '' }, 'tier'],
    [{ tier: 'platinum' }, 'tier'],
    [{ tier: 4 }, 'tier'],
    [{ tier: 'free\u0000' }, 'tier'],
    [{ tier: null, requests_per_minute: 1 }, 'requests_per_minute'],
  ])('400: %j', async (body, param) => {
    const answer = await change(`${account.id}/limits`, body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})

describe('the usage of an account', () => {
  test('200: is that of the account, by hour, from what it was charged', async () => {
    const { id, key } = await createAccount()
    const chat = { model: 'gpt-5.6-luna', messages: [{ role: 'user', content: 'Hi' }] }
    const answer = await gateway.request('POST', '/v1/chat/completions', { key, body: chat })
    expect(answer.status).toBe(200)
    const path = `${ACCOUNTS}/${id}/usage/timeseries`
    const { status, body } = await gateway.request('GET', `${path}?window=24h&by=model`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'usage.timeseries',
      tenant_id: id,
      granularity: 'hour',
      by: 'model',
    })
    const sum = (buckets: { requests: number }[]) =>
      buckets.reduce((total, { requests }) => total + requests, 0)
    expect(sum(body.data)).toBe(1)
    expect(body.series.map(({ value }: { value: string }) => value)).toEqual(['gpt-5.6-luna'])
    const own = await gateway.request('GET', '/v1/usage/timeseries?window=24h&by=model', { key })
    expect(own.body.series[0].data.at(-1)).toMatchObject({
      requests: body.series[0].data.at(-1).requests,
      cost_usd: body.series[0].data.at(-1).cost_usd,
    })
  })

  test.each([
    'window=1y',
    'granularity=minute',
    'by=account',
    'from=yesterday',
    'window=24h&from=2026-01-01',
  ])('400: %s', async (query) => {
    const { status } = await gateway.request('GET', `${ACCOUNTS}/${account.id}/usage/timeseries?${query}`)
    expect(status).toBe(400)
  })
})

describe('a key of an account', () => {
  test('200: the operator changes its limits, and the audit log has it', async () => {
    const { id, keyId } = await createAccount()
    const { status, body } = await change(`${id}/api-keys/${keyId}`, { name: 'less', requests_per_minute: 7 })
    expect([status, body.name, body.requests_per_minute]).toEqual([200, 'less', 7])
    expect(await actionsOn(keyId)).toEqual(['api_key.update done', 'api_key.create done'])
  })

  test('404: a key is not found under another account, and stays as it is', async () => {
    const { id } = await createAccount()
    const { status } = await change(`${id}/api-keys/${account.keyId}`, { name: 'stolen' })
    expect(status).toBe(404)
    const { body } = await gateway.request('GET', `${ACCOUNTS}/${account.id}/api-keys`)
    expect(body.data[0].name).not.toBe('stolen')
  })

  test.each([{ name: '' }, { requests_per_minute: 0 }, { limit_usd: -1 }, { scope: ['admin'] }])(
    '400: %j',
    async (body) => {
      expect((await change(`${account.id}/api-keys/${account.keyId}`, body)).status).toBe(400)
    },
  )
})

const ROUTES = [
  ['GET', 'limits', undefined],
  ['PATCH', 'limits', { tier: null }],
  ['GET', 'usage/timeseries', undefined],
  ['PATCH', `api-keys/${UNKNOWN}`, { name: 'x' }],
] as const

test.each(ROUTES)('403: %s %s needs the scope admin', async (method, path, body) => {
  const { status } = await gateway.request(method, `${ACCOUNTS}/${account.id}/${path}`, {
    key: account.key,
    body,
  })
  expect(status).toBe(403)
})

test.each(ROUTES)('404: %s %s of an unknown account', async (method, path, body) => {
  for (const id of [UNKNOWN, 'not-a-uuid']) {
    const answer = await gateway.request(method, `${ACCOUNTS}/${id}/${path}`, { body })
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  }
})

describe('the audit log', () => {
  test('200: says what was changed, before and after', async () => {
    const { accountId, keyId } = await createAccountNamed('Changed')
    const account = `/v1/admin/accounts/${accountId}`
    await gateway.request('POST', `${account}/suspend`, { body: { reason: 'unpaid' } })
    await gateway.request('PATCH', `${account}/budget`, { body: { monthly_usd: 7 } })
    await gateway.request('PATCH', `${account}/budget`, { body: { monthly_usd: 9, daily_usd: null } })
    await gateway.request('PATCH', `${account}/limits`, { body: { tier: 'no-such' } })
    await gateway.request('PATCH', `${account}/api-keys/${keyId}`, { body: { name: 'renamed' } })
    const { body } = await gateway.request('GET', `/v1/admin/audit?account_id=${accountId}`)
    expect(body.entries.map((entry: Entry) => [entry.action, entry.changes])).toEqual([
      ['api_key.update', [{ member: 'name', from: 'first', to: 'renamed' }]],
      ['budget.set', [{ member: 'monthly_usd', from: 7, to: 9 }]],
      ['budget.set', [{ member: 'monthly_usd', from: null, to: 7 }]],
      [
        'account.suspend',
        [
          { member: 'status', from: 'active', to: 'suspended' },
          { member: 'suspended_reason', from: null, to: 'unpaid' },
        ],
      ],
      ['api_key.create', []],
      ['account.create', []],
    ])
    expect(body.entries.map((entry: Entry) => entry.account_name)).toEqual(Array(6).fill('Changed'))
    expect(body.entries[3].details).toEqual({ reason: 'unpaid' })
  })

  test('200: is filtered by actor, action, outcome, time and text, and saved as a file', async () => {
    const { accountId, keyId } = await createAccountNamed('Filtered, Inc.')
    const account = `/v1/admin/accounts/${accountId}`
    await gateway.request('POST', `${account}/credit`, { body: { amount_usd: 2, reason: '=Grüße "x"' } })
    await gateway.request('POST', `${account}/credit`, { body: { amount_usd: -99, reason: 'oops' } })
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    const find = async (query: Record<string, string>) => {
      const given = new URLSearchParams({ account_id: accountId, ...query })
      const { body } = await gateway.request('GET', `/v1/admin/audit?${given.toString()}`)
      expect(body.total).toBe(body.entries.length)
      return body.entries.map(({ action }: Entry) => action)
    }
    const all = ['credit.deduct', 'credit.grant', 'api_key.create', 'account.create']
    const later = '2999-01-01'
    for (const [query, found] of [
      [{}, all],
      [{ actor: me.key.id }, all],
      [{ actor: me.id.toUpperCase() }, all],
      [{ actor: accountId }, []],
      [{ actor: 'nobody@example.com' }, []],
      [{ action: 'credit' }, all.slice(0, 2)],
      [{ action: 'credit.grant' }, ['credit.grant']],
      [{ action: 'cred' }, []],
      [{ outcome: 'failed' }, ['credit.deduct']],
      [{ search: 'GRÜß' }, ['credit.grant']],
      [{ search: '%' }, []],
      [{ search: 'filtered, inc' }, all],
      [{ since: later }, []],
      [{ until: later }, all],
      [{ target_id: keyId }, ['api_key.create']],
    ] as const)
      expect([query, await find(query)]).toEqual([query, found])

    const file = await gateway.request('GET', `/v1/admin/audit?format=csv&limit=1&account_id=${accountId}`)
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head, ...rows] = file.body.trimEnd().split('\r\n')
    expect(head).toBe(
      'time,id,action,outcome,actor,actor_account_id,actor_account,actor_key_id,target_kind,target_id,target,account_id,account,changes,details',
    )
    expect(rows.map((row: string) => row.split(',')[2])).toEqual(all)
    expect(rows[1]).toContain('"Filtered, Inc."')
  })

  test.each([
    'action=A',
    'since=yesterday',
    'since=2030-01-02&until=2030-01-01',
    'search=%00',
    'outcome=good',
  ])('400: %s', async (query) => {
    expect((await gateway.request('GET', `/v1/admin/audit?${query}`)).status).toBe(400)
  })
})

interface Entry {
  readonly action: string
  readonly account_name: string | null
  readonly changes: readonly object[]
}

async function createAccountNamed(name: string): Promise<{ accountId: string; keyId: string }> {
  const { body: account } = await gateway.request('POST', ACCOUNTS, { body: { name } })
  const { body: key } = await gateway.request('POST', `${ACCOUNTS}/${account.id}/api-keys`, {
    body: { name: 'first' },
  })
  return { accountId: account.id, keyId: key.id }
}
