import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const ACCOUNTS = '/v1/admin/accounts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('accounts', () => {
  test('201: a new account is active with its starting credit and can be read', async () => {
    const { status, body } = await gateway.request('POST', ACCOUNTS, {
      body: { name: 'Ada', credit_usd: 12.000000001 },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      object: 'account',
      name: 'Ada',
      status: 'active',
      balance_usd: 12.000000001,
    })
    expect((await gateway.request('GET', `${ACCOUNTS}/${body.id}`)).body).toEqual(body)
  })

  test('201: without credit an account starts at zero', async () => {
    const { body } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Ada' } })
    expect(body.balance_usd).toBe(0)
  })

  test.each([
    ['missing_required_parameter', 'name', {}],
    ['invalid_value', 'name', { name: '' }],
    ['invalid_value', 'credit_usd', { name: 'Ada', credit_usd: -1 }],
    ['invalid_value', 'credit_usd', { name: 'Ada', credit_usd: 0.0000000001 }],
    ['invalid_value', 'credit_usd', { name: 'Ada', credit_usd: 9_000_001 }],
  ])('400: %s %s', async (code, param, body) => {
    const answer = await gateway.request('POST', ACCOUNTS, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ code, param })
  })

  test('200: the list pages through every account, newest first', async () => {
    const { body: ada } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Ada' } })
    const { body: bob } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Bob' } })
    const first = await gateway.request('GET', `${ACCOUNTS}?limit=1`)
    const figures = { spent_30d_usd: 0, spent_before_usd: 0, failed_requests_30d: 0 }
    const listed = [{ ...bob, ...figures }]
    expect(first.body).toMatchObject({ object: 'list', data: listed, accounts: listed, has_more: true })
    const second = await gateway.request('GET', `${ACCOUNTS}?limit=1&after=${first.body.next_cursor}`)
    expect(second.body.data).toEqual([{ ...ada, ...figures }])
    expect(second.body.total).toBe(first.body.total)
  })
})

describe('searching accounts', () => {
  const find = async (query: Record<string, string>) => {
    const { status, body } = await gateway.request(
      'GET',
      `${ACCOUNTS}?${new URLSearchParams(query).toString()}`,
    )
    expect(status).toBe(200)
    expect(body.total).toBe(body.accounts.length)
    return body.accounts.map((account: { name: string }) => account.name)
  }

  test('200: finds accounts by a part of the name, by id and by the beginning of a key', async () => {
    const { body: account } = await gateway.request('POST', ACCOUNTS, {
      body: { name: 'Grace 100% Hopper_' },
    })
    const { body: key } = await gateway.request('POST', `${ACCOUNTS}/${account.id}/api-keys`, {
      body: { env: 'dev' },
    })
    for (const search of ['gRACE', '0% hop', 'Hopper_', account.id, account.id.toUpperCase(), key.key_prefix])
      expect([search, await find({ search })]).toEqual([search, ['Grace 100% Hopper_']])
    for (const search of ['G%H', 'Grace_100', `${key.key_prefix}x`, "'", '\\'])
      expect([search, await find({ search })]).toEqual([search, []])
  })

  test('200: finds suspended accounts', async () => {
    const { body: account } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Suspended Sam' } })
    await gateway.request('POST', `${ACCOUNTS}/${account.id}/suspend`)
    expect(await find({ search: 'sam', status: 'suspended' })).toEqual(['Suspended Sam'])
    expect(await find({ search: 'sam', status: 'active' })).toEqual([])
  })

  test('200: sorts by balance, page by page, and saves all that it finds in this order as CSV', async () => {
    const sorted: string[] = []
    for (const credit of [1, 3, 2]) {
      const { body } = await gateway.request('POST', ACCOUNTS, {
        body: { name: `=Sorted ${credit}`, credit_usd: credit },
      })
      sorted.push(body.id)
    }
    const query = `${ACCOUNTS}?search=sorted&sort=balance&order=asc`
    const first = await gateway.request('GET', `${query}&limit=2`)
    const second = await gateway.request('GET', `${query}&limit=2&after=${first.body.next_cursor}`)
    const expected = [sorted[0], sorted[2], sorted[1]]
    expect([...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id)).toEqual(expected)
    expect(second.body).toMatchObject({ total: 3, has_more: false, next_cursor: null })
    const file = await gateway.fetch('GET', `${query}&format=csv`)
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head, ...rows] = (await file.text()).trimEnd().split('\r\n')
    expect(head).toBe(
      'id,name,status,suspended_reason,note,balance_usd,spent_30d_usd,spent_before_usd,failed_requests_30d,created_at',
    )
    expect(rows.map((row) => row.split(',').slice(0, 2))).toEqual(
      expected.map((id, index) => [id, `'=Sorted ${index + 1}`]),
    )
    const rich = await gateway.request('GET', `${query}&min=2&max=2.5`)
    expect([rich.body.total, rich.body.data[0].id]).toEqual([1, sorted[2]])
    const ofAnotherOrder = await gateway.request('GET', `${ACCOUNTS}?after=${first.body.next_cursor}`)
    expect([ofAnotherOrder.status, ofAnotherOrder.body.error.param]).toEqual([400, 'after'])
  })

  test.each([
    'search=',
    'sort=worth',
    'order=up',
    'min=1',
    'sort=spend&min=0.0000000001',
    'sort=errors&max=x',
    `search=${'x'.repeat(201)}`,
    'status=asleep',
    'search=%00',
  ])('400: %s', async (query) => {
    const { status } = await gateway.request('GET', `${ACCOUNTS}?${query}`)
    expect(status).toBe(400)
  })
})

describe('suspending', () => {
  test('200: refuses the keys of the account at once, until it is activated', async () => {
    const { accountId, key } = await createAccountWithKey()
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
    const suspended = await gateway.request('POST', `${ACCOUNTS}/${accountId}/suspend`)
    expect([suspended.status, suspended.body.status]).toEqual([200, 'suspended'])
    const refused = await gateway.request('GET', '/v1/tenants/me', { key })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'account_suspended'])
    const activated = await gateway.request('POST', `${ACCOUNTS}/${accountId}/activate`)
    expect([activated.status, activated.body.status]).toEqual([200, 'active'])
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
  })

  test('200: the account is told the reason until it is activated, and nobody else', async () => {
    const { accountId, key } = await createAccountWithKey()
    const suspend = (body?: object) =>
      gateway.request('POST', `${ACCOUNTS}/${accountId}/suspend`, body === undefined ? {} : { body })
    const messageOf = async () => {
      const { status, body } = await gateway.request('GET', '/v1/tenants/me', { key })
      return [status, body.error?.message]
    }
    expect((await suspend({ reason: 'Invoice 17 is not paid.' })).body.suspended_reason).toBe(
      'Invoice 17 is not paid.',
    )
    expect(await messageOf()).toEqual([403, 'This account is suspended. Reason: Invoice 17 is not paid.'])
    // Without a new reason, the reason stays.
    expect((await suspend()).body.suspended_reason).toBe('Invoice 17 is not paid.')
    expect((await suspend({ reason: 'Write to us.' })).status).toBe(200)
    expect(await messageOf()).toEqual([403, 'This account is suspended. Reason: Write to us.'])
    const { body: activated } = await gateway.request('POST', `${ACCOUNTS}/${accountId}/activate`)
    expect([activated.status, activated.suspended_reason]).toEqual(['active', null])
    await suspend()
    expect(await messageOf()).toEqual([403, 'This account is suspended.'])
    // A process of an earlier release knows no reason and changes only the status.
    await suspend({ reason: 'Of before.' })
    const database = connectDatabase({
      connectionString: gateway.connectionString,
      poolSize: 1,
      statementTimeoutMs: 30_000,
    })
    for (const status of ['active', 'suspended'])
      await database.query('UPDATE accounts SET status = $2 WHERE id = $1', [accountId, status])
    await database.close()
    expect((await gateway.request('GET', `${ACCOUNTS}/${accountId}`)).body.suspended_reason).toBe(null)
    for (const reason of [
      '',
      'x'.repeat(501),
      'a\nb',
      'a\u0085b',
      'a\u200fb',
      'a\u2028b',
      'a\u202eb',
      'a\u2066b',
      7,
    ])
      expect((await suspend({ reason })).status).toBe(400)
    const { body: audit } = await gateway.request('GET', `/v1/admin/audit?target_id=${accountId}`)
    expect(JSON.stringify(audit.data)).toContain('Invoice 17 is not paid.')
  })

  test('409: the operator cannot lock itself out', async () => {
    const { body: own } = await gateway.request('GET', '/v1/tenants/me')
    const { status, body } = await gateway.request('POST', `${ACCOUNTS}/${own.id}/suspend`)
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect((await gateway.request('GET', '/v1/tenants/me')).status).toBe(200)
  })
})

test('a note about an account is for operators only', async () => {
  const { accountId, key } = await createAccountWithKey()
  const write = (note: unknown, as?: string) =>
    gateway.request('PATCH', `${ACCOUNTS}/${accountId}`, {
      body: { note },
      ...(as !== undefined && { key: as }),
    })
  const { status, body } = await write('Calls on Mondays.\nPays late.')
  expect([status, body.note]).toEqual([200, 'Calls on Mondays.\nPays late.'])
  expect((await gateway.request('GET', `${ACCOUNTS}/${accountId}`)).body.note).toBe(body.note)
  const { body: own } = await gateway.request('GET', '/v1/tenants/me', { key })
  expect(JSON.stringify(own)).not.toContain('Mondays')
  expect((await write('mine', key)).status).toBe(403)
  for (const note of ['', 'x'.repeat(4_001), 'a\u0000b', 'a\u202eb', undefined])
    expect((await write(note)).status).toBe(400)
  expect((await write(null)).body.note).toBeNull()
  const { body: audit } = await gateway.request('GET', `/v1/admin/audit?target_id=${accountId}`)
  const details = audit.data
    .filter((entry: { action: string }) => entry.action === 'account.update')
    .map((entry: { details: object }) => entry.details)
  expect(details).toEqual(expect.arrayContaining([{ note: 'removed' }, { note: 'written' }]))
  expect(JSON.stringify(audit)).not.toContain('Mondays')
  const missing = await gateway.request('PATCH', `${ACCOUNTS}/${crypto.randomUUID()}`, {
    body: { note: 'x' },
  })
  expect(missing.status).toBe(404)
})

describe('keys of an account', () => {
  test('201: a key created by the operator belongs to that account', async () => {
    const { accountId, key, keyId } = await createAccountWithKey()
    const { body: tenant } = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(tenant.id).toBe(accountId)
    const { body: list } = await gateway.request('GET', `${ACCOUNTS}/${accountId}/api-keys`)
    expect(list.keys.map(({ id }: { id: string }) => id)).toEqual([keyId])
    expect(JSON.stringify(list)).not.toContain(key)
  })

  test('200: the operator revokes a key at once', async () => {
    const { accountId, key, keyId } = await createAccountWithKey()
    const revoked = await gateway.request('DELETE', `${ACCOUNTS}/${accountId}/api-keys/${keyId}`)
    expect([revoked.status, revoked.body]).toEqual([200, { revoked: true, id: keyId }])
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(401)
  })

  test('404: a key is not found under another account', async () => {
    const { keyId, key } = await createAccountWithKey()
    const { accountId: other } = await createAccountWithKey()
    const { status } = await gateway.request('DELETE', `${ACCOUNTS}/${other}/api-keys/${keyId}`)
    expect(status).toBe(404)
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
  })
})

const ROUTES = [
  ['GET', ''],
  ['POST', ''],
  ['GET', '/:id'],
  ['POST', '/:id/suspend'],
  ['POST', '/:id/activate'],
  ['GET', '/:id/api-keys'],
  ['POST', '/:id/api-keys'],
  ['DELETE', '/:id/api-keys/01890000-0000-7000-8000-000000000000'],
] as const

test.each(ROUTES)('403: %s /v1/admin/accounts%s needs the scope admin', async (method, path) => {
  const { accountId, key } = await createAccountWithKey(['inference', 'manage'])
  const { status, body } = await gateway.request(method, ACCOUNTS + path.replace(':id', accountId), { key })
  expect([status, body.error.code]).toEqual([403, 'forbidden'])
})

test.each(ROUTES.filter(([, path]) => path !== ''))(
  '404: %s /v1/admin/accounts%s of an unknown account',
  async (method, path) => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'not-a-uuid']) {
      const { status, body } = await gateway.request(method, ACCOUNTS + path.replace(':id', id))
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  },
)

async function createAccountWithKey(
  scopes: string[] = ['inference'],
): Promise<{ accountId: string; key: string; keyId: string }> {
  const { body: account } = await gateway.request('POST', ACCOUNTS, { body: { name: 'Ada', credit_usd: 1 } })
  const { status, body } = await gateway.request('POST', `${ACCOUNTS}/${account.id}/api-keys`, {
    body: { scopes },
  })
  expect(status).toBe(201)
  return { accountId: account.id, key: body.key, keyId: body.id }
}
