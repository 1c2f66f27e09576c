import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { balanceOf, createAccount } from './accounts.ts'
import { openTestDatabase, type OpenDatabase } from './open-test-database.ts'

let gateway: TestGateway
let database: OpenDatabase

beforeAll(async () => {
  gateway = await startTestGateway()
  database = openTestDatabase(gateway)
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

const creditPath = (accountId: string): string => `/v1/admin/accounts/${accountId}/credit`

function adjust(accountId: string, body: object, headers: Record<string, string> = {}): Promise<TestAnswer> {
  return gateway.request('POST', creditPath(accountId), { body, headers })
}

/** Simulates a process that died between commit and answer, or a retry after the answer has expired (one day). */
const forgetAnswers = () => database.query('DELETE FROM idempotency_keys')

describe('giving and deducting credit', () => {
  test('201: a grant and a deduction, each with its reason', async () => {
    const { accountId, key } = await createAccount(gateway, { creditUsd: 1 })
    const granted = await adjust(accountId, { amount_usd: 4.000000001, reason: 'welcome' })
    expect([granted.status, granted.body]).toEqual([
      201,
      {
        id: expect.any(String),
        object: 'payment',
        kind: 'adjustment',
        account_id: accountId,
        amount_usd: 4.000000001,
        status: 'completed',
        reason: 'welcome',
        created_at: expect.any(String),
        completed_at: expect.any(String),
        balance_usd: 5.000000001,
      },
    ])
    const deducted = await adjust(accountId, { amount_usd: -5, reason: 'a correction' })
    expect([deducted.status, deducted.body.balance_usd]).toEqual([201, 0.000000001])
    expect(await balanceOf(gateway, key)).toBe(0.000000001)
  })

  test('409: a deduction never takes more than there is', async () => {
    const { accountId, key } = await createAccount(gateway, { creditUsd: 1 })
    const { status, body } = await adjust(accountId, { amount_usd: -1.000000001, reason: 'too much' })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(await balanceOf(gateway, key)).toBe(1)
    const { body: history } = await gateway.request('GET', '/v1/payments/history', { key })
    expect(history.total).toBe(0)
  })

  test('201: promotional credit that expires', async () => {
    const { accountId } = await createAccount(gateway)
    const { status } = await adjust(accountId, {
      amount_usd: 3,
      reason: 'trial',
      class: 'promotional',
      expires_at: '2999-01-01T00:00:00Z',
    })
    expect(status).toBe(201)
  })

  test('201: the same Idempotency-Key moves credit once, concurrently and later', async () => {
    const { accountId, key } = await createAccount(gateway)
    const send = (): Promise<TestAnswer> =>
      adjust(accountId, { amount_usd: 2, reason: 'once' }, { 'idempotency-key': `k-${accountId}` })
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.map(({ status }) => status).every((status) => status === 201 || status === 409)).toBe(true)
    expect((await send()).status).toBe(201)
    expect(await balanceOf(gateway, key)).toBe(2)
  })

  test('201: a repeated adjustment is the same one if its answer was never stored', async () => {
    const { accountId, key } = await createAccount(gateway)
    const headers = { 'idempotency-key': `unseen-${accountId}` }
    const first = await adjust(accountId, { amount_usd: 2, reason: 'once' }, headers)
    await forgetAnswers()
    const again = await adjust(accountId, { amount_usd: 2, reason: 'once' }, headers)
    expect([again.status, again.body.id]).toEqual([201, first.body.id])
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect(await balanceOf(gateway, key)).toBe(2)
  })

  test('422: the same Idempotency-Key for another amount', async () => {
    const { accountId, key } = await createAccount(gateway)
    const headers = { 'idempotency-key': `other-${accountId}` }
    await adjust(accountId, { amount_usd: 2, reason: 'once' }, headers)
    const { status, body } = await adjust(accountId, { amount_usd: 3, reason: 'once' }, headers)
    expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await balanceOf(gateway, key)).toBe(2)
  })

  test.each([
    ['amount_usd', { reason: 'x' }],
    ['amount_usd', { amount_usd: 0, reason: 'x' }],
    ['amount_usd', { amount_usd: 0.0000000001, reason: 'x' }],
    ['amount_usd', { amount_usd: 9_000_001, reason: 'x' }],
    ['reason', { amount_usd: 1 }],
    ['reason', { amount_usd: 1, reason: '' }],
    ['reason', { amount_usd: 1, reason: 'a\u0000b' }],
    ['class', { amount_usd: 1, reason: 'x', class: 'free' }],
    ['expires_at', { amount_usd: 1, reason: 'x', expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { amount_usd: 1, reason: 'x', expires_at: 'soon' }],
    ['expires_at', { amount_usd: -1, reason: 'x', expires_at: '2999-01-01T00:00:00Z' }],
  ])('400: %s in %j', async (param, body) => {
    const { accountId } = await createAccount(gateway, { creditUsd: 5 })
    const answer = await adjust(accountId, body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})

describe('budgets', () => {
  test('200: are set one by one, read with their spending, and removed', async () => {
    const { accountId } = await createAccount(gateway, { creditUsd: 5 })
    const path = `/v1/admin/accounts/${accountId}/budget`
    const none = { monthly_usd: null, monthly_spent_usd: null, daily_usd: null, daily_spent_usd: null }
    expect((await gateway.request('GET', path)).body).toEqual({ account_id: accountId, ...none })
    const set = await gateway.request('PATCH', path, { body: { monthly_usd: 10 } })
    expect([set.status, set.body]).toEqual([
      200,
      { account_id: accountId, ...none, monthly_usd: 10, monthly_spent_usd: 0 },
    ])
    const both = await gateway.request('PATCH', path, { body: { daily_usd: 0 } })
    expect(both.body).toMatchObject({ monthly_usd: 10, daily_usd: 0 })
    const removed = await gateway.request('PATCH', path, { body: { monthly_usd: null, daily_usd: null } })
    expect(removed.body).toEqual({ account_id: accountId, ...none })
  })

  test.each([
    ['monthly_usd', { monthly_usd: -1 }],
    ['daily_usd', { daily_usd: '5' }],
    ['daily_usd', { daily_usd: 0.0000000001 }],
  ])('400: %s in %j', async (param, body) => {
    const { accountId } = await createAccount(gateway)
    const answer = await gateway.request('PATCH', `/v1/admin/accounts/${accountId}/budget`, { body })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})

describe('the ledger of an account', () => {
  test('200: lists every movement, newest first, page by page', async () => {
    const { accountId } = await createAccount(gateway, { creditUsd: 5 })
    await adjust(accountId, { amount_usd: -2, reason: 'a correction' })
    const path = `/v1/admin/accounts/${accountId}/ledger`
    const first = await gateway.request('GET', `${path}?limit=1`)
    expect(first.body).toMatchObject({ total: 2, has_more: true })
    expect(first.body.entries).toMatchObject([{ kind: 'deduct', amount_usd: -2, reason: 'a correction' }])
    const second = await gateway.request('GET', `${path}?after=${first.body.next_cursor}`)
    expect(second.body.entries).toMatchObject([{ kind: 'grant', amount_usd: 5 }])
    const sum = [...first.body.entries, ...second.body.entries].reduce(
      (total, entry) => total + entry.amount_usd,
      0,
    )
    expect(sum).toBe(3)
  })

  test('400: an invalid cursor', async () => {
    const { accountId } = await createAccount(gateway)
    const { status } = await gateway.request('GET', `/v1/admin/accounts/${accountId}/ledger?after=1;drop`)
    expect(status).toBe(400)
  })
})

describe('refunding', () => {
  async function pay(amountUsd = 20): Promise<{ paymentId: string; key: string; accountId: string }> {
    const { accountId, key } = await createAccount(gateway)
    const { body } = await gateway.request('POST', '/v1/payments/checkout', {
      key,
      body: { amount_usd: amountUsd },
    })
    await fetch(`${body.url}/pay`, { method: 'POST', redirect: 'manual' })
    return { paymentId: body.id, key, accountId }
  }

  const refund = (paymentId: string, body?: object): Promise<TestAnswer> =>
    gateway.request('POST', `/v1/admin/payments/${paymentId}/refund`, body === undefined ? {} : { body })

  test('200: in parts and then the rest, and no more', async () => {
    const { paymentId, key, accountId } = await pay()
    const part = await refund(paymentId, { amount_usd: 5, reason: 'Half of it failed.' })
    expect([part.status, part.body.status]).toEqual([200, 'partially_refunded'])
    const { body: audit } = await gateway.request('GET', `/v1/admin/audit?target_id=${paymentId}`)
    expect(audit.data).toMatchObject([
      { action: 'payment.refund', details: { reason: 'Half of it failed.' } },
    ])
    const rest = await refund(paymentId)
    expect([rest.status, rest.body.status]).toEqual([200, 'refunded'])
    const again = await refund(paymentId)
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
    expect(await balanceOf(gateway, key)).toBe(0)
    const { body } = await gateway.request('GET', `/v1/admin/accounts/${accountId}/payments`)
    expect(body.payments.map(({ amount_usd }: { amount_usd: number }) => amount_usd)).toEqual([-15, -5, 20])
  })

  test('requested five times at once, the rest of a payment is refunded once', async () => {
    const { paymentId, key } = await pay()
    const answers = await Promise.all(Array.from({ length: 5 }, () => refund(paymentId)))
    for (const { status } of answers) expect([200, 409]).toContain(status)
    expect(await balanceOf(gateway, key)).toBe(0)
    const { body } = await gateway.request('GET', '/v1/payments/history', { key })
    expect(body.payments).toMatchObject([{ amount_usd: -20 }, { amount_usd: 20, status: 'refunded' }])
  })

  test.each([{ amount_usd: 5 }, {}])(
    '200: %j, repeated with its Idempotency-Key if its answer was never stored, is refunded once',
    async (body) => {
      const { paymentId, key } = await pay()
      const headers = { 'idempotency-key': `refund-${paymentId}` }
      const path = `/v1/admin/payments/${paymentId}/refund`
      expect((await gateway.request('POST', path, { body, headers })).status).toBe(200)
      const balance = await balanceOf(gateway, key)
      // Another refund happens before the repeated request.
      if (balance > 0) await refund(paymentId, { amount_usd: 1 })
      await forgetAnswers()
      expect((await gateway.request('POST', path, { body, headers })).status).toBe(200)
      expect(await balanceOf(gateway, key)).toBe(balance > 0 ? balance - 1 : 0)
    },
  )

  test('422: the Idempotency-Key of another refund', async () => {
    const { paymentId, key } = await pay()
    const headers = { 'idempotency-key': `reused-${paymentId}` }
    const path = `/v1/admin/payments/${paymentId}/refund`
    await gateway.request('POST', path, { body: { amount_usd: 5 }, headers })
    await forgetAnswers()
    const { status, body } = await gateway.request('POST', path, { body: { amount_usd: 6 }, headers })
    expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await balanceOf(gateway, key)).toBe(15)
  })

  test.each([{ amount_usd: 20.01 }, { amount_usd: 0 }, { amount_usd: 1.001 }])(
    '400: %j of 20',
    async (body) => {
      const { paymentId, key } = await pay()
      const answer = await refund(paymentId, body)
      expect([answer.status, answer.body.error.param]).toEqual([400, 'amount_usd'])
      expect(await balanceOf(gateway, key)).toBe(20)
    },
  )

  test('409: an unpaid payment cannot be refunded, nor other credit', async () => {
    const { accountId, key } = await createAccount(gateway)
    const { body: open } = await gateway.request('POST', '/v1/payments/checkout', {
      key,
      body: { amount_usd: 5 },
    })
    const { body: adjustment } = await adjust(accountId, { amount_usd: 5, reason: 'x' })
    for (const id of [open.id, adjustment.id]) expect((await refund(id)).status).toBe(409)
  })

  test('404: no such payment', async () => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'not-a-uuid']) {
      expect((await refund(id)).status).toBe(404)
    }
  })
})
