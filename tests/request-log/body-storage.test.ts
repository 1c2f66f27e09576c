import { afterAll, afterEach, beforeAll, expect, test, describe } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startBodiesGateway, type BodiesGateway } from './start-bodies-gateway.ts'

let gateway: BodiesGateway

beforeAll(async () => {
  gateway = await startBodiesGateway()
})

afterEach(async () => {
  await gateway.store({ enabled: false })
})

afterAll(async () => {
  await gateway.close()
})

describe('body storage', () => {
  test('body storage of a key overrides that of the account', async () => {
    const [loud, quiet] = [await gateway.createKey(['inference']), await gateway.createKey(['inference'])]
    await gateway.store({ enabled: true, key_id: loud.id })
    const stored = await gateway.ask({}, loud.key)
    await gateway.readStored(stored.requestId)
    expect((await gateway.readBody((await gateway.ask({}, quiet.key)).requestId)).status).toBe(404)

    await gateway.store({ enabled: true })
    const { body } = await gateway.store({ enabled: false, key_id: quiet.id })
    expect(body.keys).toEqual(
      expect.arrayContaining([
        { key_id: loud.id, enabled: true, retention_days: 7 },
        { key_id: quiet.id, enabled: false, retention_days: 7 },
      ]),
    )
    expect((await gateway.readBody((await gateway.ask({}, quiet.key)).requestId)).status).toBe(404)
    await gateway.store({ enabled: null, key_id: quiet.id })
    await gateway.readStored((await gateway.ask({}, quiet.key)).requestId)
    await gateway.store({ enabled: null, key_id: loud.id })
  })

  test('tells what is set and how much is stored', async () => {
    await gateway.store({ enabled: true, retention_days: 2 })
    await gateway.readStored((await gateway.ask()).requestId)
    const { body } = await gateway.request('GET', '/v1/body-storage')
    expect(body).toEqual({
      object: 'body_storage',
      tenant_id: gateway.accountId,
      enabled: true,
      retention_days: 2,
      keys: [],
      may_change: true,
      stored_bytes: body.stored_bytes,
      body_bytes_max: 16 * 1024,
      stored_bytes_max: 1024 * 1024,
      retention_days_max: 30,
    })
    expect(body.stored_bytes).toBeGreaterThan(100)
  })

  test.each([
    ['retention_days', { enabled: true, retention_days: 31 }],
    ['retention_days', { enabled: true, retention_days: 0 }],
    ['enabled', { enabled: null }],
    ['enabled', { retention_days: 3 }],
  ])('400: %s is checked', async (param, body) => {
    const answer = await gateway.request('PATCH', '/v1/body-storage', { body })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })

  test("404: another account's key; 403: a key without the scope", async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'other' } })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: {},
    })
    const theirs = { enabled: true, key_id: key.id }
    expect((await gateway.request('PATCH', '/v1/body-storage', { body: theirs })).status).toBe(404)
    const plain = await gateway.createKey(['inference'])
    for (const method of ['GET', 'PATCH']) {
      const body = method === 'GET' ? {} : { body: { enabled: true } }
      expect((await gateway.request(method, '/v1/body-storage', { ...body, key: plain.key })).status).toBe(
        403,
      )
    }
  })

  test('operators set it for any account, and that is in the audit log', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'watched', credit_usd: 1 },
    })
    const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { scopes: ['inference', 'manage'] },
    })
    const path = `/v1/admin/accounts/${account.id}/body-storage`
    const set = await gateway.request('PATCH', path, { body: { enabled: true } })
    expect([set.status, set.body.enabled, set.body.tenant_id]).toEqual([200, true, account.id])
    const { body: audit } = await gateway.request('GET', '/v1/admin/audit?limit=1')
    expect(audit.data[0]).toMatchObject({ action: 'account.body_storage', details: { enabled: true } })
    await gateway.readStored((await gateway.ask({}, key.key)).requestId, key.key)
    expect((await gateway.request('GET', path)).body.stored_bytes).toBeGreaterThan(0)
    expect((await gateway.request('PATCH', path, { body: { enabled: true }, key: key.key })).status).toBe(403)
    await gateway.request('PATCH', path, { body: { enabled: false } })
  })

  test('full accounts store nothing more, which is counted', async () => {
    await gateway.store({ enabled: true })
    await gateway.database.query(
      `INSERT INTO request_bodies SELECT $1, '01890000-0000-7000-8000-000000000001', $1, repeat('x', 1048576)::bytea, '', 1, 1,
         false, false, now() + interval '1 day'`,
      [gateway.accountId],
    )
    const { requestId } = await gateway.ask()
    await eventually(async () => {
      const { body: metrics } = await gateway.request('GET', '/metrics')
      expect(metrics).toMatch(/parkway_request_log_dropped_total\{.*reason="body_account_full".*\} 1\n/)
    })
    expect((await gateway.readBody(requestId)).status).toBe(404)
  })
})
