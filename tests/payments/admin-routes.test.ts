import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createAccount } from './accounts.ts'

const CODES = '/v1/admin/promo-codes'
const AUDIT = '/v1/admin/audit'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('promo codes', () => {
  test('201: a code with all members', async () => {
    const { status, body } = await gateway.request('POST', CODES, {
      body: {
        code: 'spring-26',
        amount_usd: 2.5,
        expires_at: '2999-01-01T00:00:00Z',
        credit_expires_in_days: 30,
        redemptions_max: 100,
        redemptions_per_account_max: 2,
      },
    })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        object: 'promo_code',
        code: 'SPRING-26',
        amount_usd: 2.5,
        class: 'promotional',
        expires_at: '2999-01-01T00:00:00.000Z',
        credit_expires_in_days: 30,
        redemptions_max: 100,
        redemptions_per_account_max: 2,
        redemptions: 0,
        disabled_at: null,
        created_at: expect.any(String),
      },
    ])
    expect((await gateway.request('GET', `${CODES}/${body.id}`)).body).toEqual(body)
  })

  test('201: a code is generated if none is given, always unique', async () => {
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => gateway.request('POST', CODES, { body: { amount_usd: 1 } })),
    )
    const made = new Set(codes.map(({ body }) => body.code))
    expect(made.size).toBe(20)
    for (const code of made) expect(code).toMatch(/^[A-Z2-9]{4}(-[A-Z2-9]{4}){3}$/)
  })

  test('409: an existing code, ignoring case', async () => {
    await gateway.request('POST', CODES, { body: { code: 'TAKEN', amount_usd: 1 } })
    const { status, body } = await gateway.request('POST', CODES, { body: { code: 'taken', amount_usd: 1 } })
    expect([status, body.error.code, body.error.param]).toEqual([409, 'conflict', 'code'])
  })

  test.each([
    ['amount_usd', {}],
    ['amount_usd', { amount_usd: 0 }],
    ['amount_usd', { amount_usd: -1 }],
    ['code', { amount_usd: 1, code: 'a b' }],
    ['code', { amount_usd: 1, code: 'abc' }],
    ['expires_at', { amount_usd: 1, expires_at: '2020-01-01T00:00:00Z' }],
    ['credit_expires_in_days', { amount_usd: 1, credit_expires_in_days: 0 }],
    ['redemptions_max', { amount_usd: 1, redemptions_max: 0 }],
    ['redemptions_per_account_max', { amount_usd: 1, redemptions_per_account_max: 1.5 }],
  ])('400: %s in %j', async (param, body) => {
    const answer = await gateway.request('POST', CODES, { body })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })

  test('200: the lists of codes and of redemptions are paged', async () => {
    const { body: code } = await gateway.request('POST', CODES, { body: { amount_usd: 1 } })
    const accounts = [await createAccount(gateway), await createAccount(gateway)]
    for (const { key } of accounts) {
      await gateway.request('POST', '/v1/promo/redeem', { key, body: { code: code.code } })
    }
    const { body: codes } = await gateway.request('GET', `${CODES}?limit=1`)
    expect(codes.codes).toMatchObject([{ id: code.id, redemptions: 2 }])
    const first = await gateway.request('GET', `${CODES}/${code.id}/redemptions?limit=1`)
    expect(first.body).toMatchObject({ total: 2, has_more: true })
    const second = await gateway.request(
      'GET',
      `${CODES}/${code.id}/redemptions?after=${first.body.next_cursor}`,
    )
    const redeemers = [...first.body.redemptions, ...second.body.redemptions]
    expect(redeemers.map(({ account_id }) => account_id)).toEqual(
      accounts.map(({ accountId }) => accountId).toReversed(),
    )
  })

  test('404: no such code', async () => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'SPRING-26']) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/disable'],
        ['GET', '/redemptions'],
      ] as const) {
        expect((await gateway.request(method, `${CODES}/${id}${path}`)).status).toBe(404)
      }
    }
  })
})

describe('the audit log', () => {
  test('200: has actor, target and outcome of every operator action', async () => {
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    const actor = {
      account_id: me.id,
      account_name: me.name,
      key_id: me.key.id,
      name: expect.any(String),
      user_id: null,
    }
    const account = `/v1/admin/accounts/${(await createAccount(gateway, { creditUsd: 3 })).accountId}`
    const accountId = account.split('/').at(-1)
    const { body: key } = await gateway.request('POST', `${account}/api-keys`, { body: { name: 'theirs' } })
    await gateway.request('DELETE', `${account}/api-keys/${key.id}`)
    await gateway.request('POST', `${account}/suspend`)
    await gateway.request('POST', `${account}/activate`)
    await gateway.request('POST', `${account}/credit`, { body: { amount_usd: 2, reason: 'thanks' } })
    await gateway.request('POST', `${account}/credit`, { body: { amount_usd: -99, reason: 'oops' } })
    await gateway.request('PATCH', `${account}/budget`, { body: { monthly_usd: 7 } })
    const { body: code } = await gateway.request('POST', CODES, { body: { code: 'AUDITED', amount_usd: 1 } })
    await gateway.request('POST', `${CODES}/${code.id}/disable`)
    await gateway.request('POST', '/v1/admin/payments/no-such/refund')

    const { body } = await gateway.request('GET', `${AUDIT}?limit=12`)
    const entries = body.entries.toReversed()
    const summary = entries.map(
      ({ action, target, outcome }: { action: string; target: object; outcome: string }) => [
        action,
        target,
        outcome,
      ],
    )
    expect(summary.slice(-11)).toEqual([
      ['api_key.create', { kind: 'api_key', id: expect.any(String), name: expect.any(String) }, 'done'],
      ['api_key.create', { kind: 'api_key', id: key.id, name: 'theirs' }, 'done'],
      ['api_key.revoke', { kind: 'api_key', id: key.id, name: 'theirs' }, 'done'],
      ['account.suspend', { kind: 'account', id: accountId, name: 'Ada' }, 'done'],
      ['account.activate', { kind: 'account', id: accountId, name: 'Ada' }, 'done'],
      ['credit.grant', { kind: 'account', id: accountId, name: 'Ada' }, 'done'],
      ['credit.deduct', { kind: 'account', id: accountId, name: 'Ada' }, 'failed'],
      ['budget.set', { kind: 'account', id: accountId, name: 'Ada' }, 'done'],
      ['promo_code.create', { kind: 'promo_code', id: code.id, name: null }, 'done'],
      ['promo_code.disable', { kind: 'promo_code', id: code.id, name: null }, 'done'],
      ['payment.refund', { kind: 'payment', id: 'no-such', name: null }, 'failed'],
    ])
    expect(summary[0]).toEqual(['account.create', { kind: 'account', id: accountId, name: 'Ada' }, 'done'])
    for (const entry of entries) expect(entry.actor).toEqual(actor)
    expect(entries[0].details).toEqual({ name: 'Ada', credit_usd: 3 })
    expect(entries.at(-5).details).toEqual({ amount_usd: -99, reason: 'oops', error: 'conflict' })
    // The audit log must contain neither the key nor the promo code, which is worth money.
    expect(JSON.stringify(body)).not.toContain(key.key)
    expect(JSON.stringify(body)).not.toContain('AUDITED')
  })

  test('200: can be filtered by one target', async () => {
    const { accountId } = await createAccount(gateway)
    await gateway.request('POST', `/v1/admin/accounts/${accountId}/suspend`)
    const { body } = await gateway.request('GET', `${AUDIT}?target_id=${accountId}`)
    expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
      'account.suspend',
      'account.create',
    ])
    expect(body.total).toBe(2)
  })
})

const ADMIN_ROUTES = [
  ['GET', CODES],
  ['POST', CODES],
  ['GET', `${CODES}/:id`],
  ['POST', `${CODES}/:id/disable`],
  ['GET', `${CODES}/:id/redemptions`],
  ['POST', '/v1/admin/accounts/:id/credit'],
  ['GET', '/v1/admin/accounts/:id/ledger'],
  ['GET', '/v1/admin/accounts/:id/budget'],
  ['PATCH', '/v1/admin/accounts/:id/budget'],
  ['GET', '/v1/admin/accounts/:id/payments'],
  ['GET', '/v1/admin/payments'],
  ['POST', '/v1/admin/payments/:id/refund'],
  ['GET', AUDIT],
] as const

describe('every route of operators', () => {
  test.each(ADMIN_ROUTES)(
    '403: %s %s needs the scope admin, even for the own account',
    async (method, path) => {
      const { accountId, key } = await createAccount(gateway, {
        scopes: ['inference', 'manage'],
        creditUsd: 1,
      })
      const { status, body } = await gateway.request(method, path.replace(':id', accountId), { key })
      expect([status, body.error.code]).toEqual([403, 'forbidden'])
    },
  )

  test.each(ADMIN_ROUTES.filter(([, path]) => path.includes('/accounts/')))(
    '404: %s %s of an unknown account',
    async (method, path) => {
      for (const id of ['01890000-0000-7000-8000-000000000000', 'not-a-uuid']) {
        const body = path.endsWith('/budget') ? { monthly_usd: 1 } : { amount_usd: 1, reason: 'x' }
        const request = method === 'GET' ? {} : { body }
        const { status } = await gateway.request(method, path.replace(':id', id), request)
        expect(status).toBe(404)
      }
    },
  )
})
