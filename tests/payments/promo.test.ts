import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { balanceOf, createAccount } from './accounts.ts'
import { openTestDatabase, type OpenDatabase } from './open-test-database.ts'

const REDEEM = '/v1/promo/redeem'
const CODES = '/v1/admin/promo-codes'

let gateway: TestGateway
let other: TestGateway
let database: OpenDatabase

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  database = openTestDatabase(gateway)
})

afterAll(async () => {
  await database.close()
  await other.close()
  await gateway.close()
})

async function createCode(body: Record<string, unknown> = {}): Promise<{ id: string; code: string }> {
  const answer = await gateway.request('POST', CODES, { body: { amount_usd: 5, ...body } })
  expect(answer.status).toBe(201)
  return answer.body
}

describe('redeeming', () => {
  test('200: the credit is on the account, promotional, and in the history', async () => {
    const { code } = await createCode()
    const { key, accountId } = await createAccount(gateway, { creditUsd: 1 })
    const { status, body } = await gateway.request('POST', REDEEM, { key, body: { code } })
    expect([status, body]).toEqual([
      200,
      { code, amount_usd: 5, balance_usd: 6, redeemed_at: expect.stringMatching(/Z$/) },
    ])
    expect(await balanceOf(gateway, key)).toBe(6)
    const { body: history } = await gateway.request('GET', '/v1/payments/history', { key })
    expect(history.payments).toMatchObject([{ kind: 'promo', amount_usd: 5, status: 'completed' }])
    const lots = await database.query(
      `SELECT class, expires_at FROM credit_lots WHERE account_id = $1 AND class = 'promotional'`,
      [accountId],
    )
    expect(lots).toEqual([{ class: 'promotional', expires_at: null }])
  })

  test('200: case and surrounding spaces of a code do not matter', async () => {
    await createCode({ code: 'Welcome-2026' })
    const { key } = await createAccount(gateway)
    const { status, body } = await gateway.request('POST', REDEEM, { key, body: { code: ' welcome-2026 ' } })
    expect([status, body.code]).toEqual([200, 'WELCOME-2026'])
  })

  test('200: credit of a code can expire', async () => {
    const { code } = await createCode({ credit_expires_in_days: 30 })
    const { key, accountId } = await createAccount(gateway)
    await gateway.request('POST', REDEEM, { key, body: { code } })
    const [lot] = await database.query(
      'SELECT expires_at, created_at FROM credit_lots WHERE account_id = $1',
      [accountId],
    )
    const days = (lot?.['expires_at'].getTime() - lot?.['created_at'].getTime()) / 86_400_000
    expect(Math.round(days)).toBe(30)
  })

  test.each([
    ['unknown', async () => 'NO-SUCH-CODE'],
    ['disabled', disabledCode],
    ['expired', expiredCode],
    ['used up', usedUpCode],
  ])('400: a code that is %s', async (_, make) => {
    const { key } = await createAccount(gateway)
    const { status, body } = await gateway.request('POST', REDEEM, { key, body: { code: await make() } })
    expect([status, body.error.code, body.error.type, body.error.param]).toEqual([
      400,
      'invalid_promo_code',
      'invalid_request_error',
      'code',
    ])
    expect(await balanceOf(gateway, key)).toBe(0)
  })

  test('409: an account redeems a code once, also if it is used up by then', async () => {
    const { code } = await createCode({ redemptions_max: 1 })
    const { key } = await createAccount(gateway)
    await gateway.request('POST', REDEEM, { key, body: { code } })
    const { status, body } = await gateway.request('POST', REDEEM, { key, body: { code } })
    expect([status, body.error.code]).toEqual([409, 'promo_already_redeemed'])
    expect(await balanceOf(gateway, key)).toBe(5)
  })

  test('409: only after as many times as the code allows per account', async () => {
    const { code } = await createCode({ redemptions_per_account_max: 2 })
    const { key } = await createAccount(gateway)
    const statuses = []
    for (let time = 0; time < 3; time += 1) {
      statuses.push((await gateway.request('POST', REDEEM, { key, body: { code } })).status)
    }
    expect(statuses).toEqual([200, 200, 409])
  })

  test.each([
    ['missing_required_parameter', {}],
    ['invalid_value', { code: '' }],
    ['invalid_value', { code: 'x'.repeat(101) }],
    ['invalid_value', { code: 'a\u0000b' }],
    ['invalid_value', { code: 5 }],
  ])('400: %s for %j', async (code, body) => {
    const { key } = await createAccount(gateway)
    const answer = await gateway.request('POST', REDEEM, { key, body })
    expect([answer.status, answer.body.error.code]).toEqual([400, code])
  })

  test('403: needs the scope manage', async () => {
    const { key } = await createAccount(gateway, { scopes: ['inference'] })
    const { status, body } = await gateway.request('POST', REDEEM, { key, body: { code: 'ANY' } })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })

  test('401: needs a key', async () => {
    const { status } = await gateway.request('POST', REDEEM, { key: null, body: { code: 'ANY' } })
    expect(status).toBe(401)
  })

  test('50 accounts redeem a single-use code at once, on two processes, and one is credited', async () => {
    const { id, code } = await createCode({ redemptions_max: 1 })
    const accounts = await Promise.all(Array.from({ length: 50 }, () => createAccount(gateway)))
    const answers = await Promise.all(
      accounts.map(({ key }, index) =>
        (index % 2 === 0 ? gateway : other).request('POST', REDEEM, { key, body: { code } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49)
    const balances = await Promise.all(accounts.map(({ key }) => balanceOf(gateway, key)))
    expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(5)
    const { body } = await gateway.request('GET', `${CODES}/${id}/redemptions`)
    expect(body.total).toBe(1)
  })

  test('one account redeems a code many times at once and is credited once', async () => {
    const { code } = await createCode()
    const { key } = await createAccount(gateway)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gateway.request('POST', REDEEM, { key, body: { code } })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await balanceOf(gateway, key)).toBe(5)
  })

  async function disabledCode(): Promise<string> {
    const { id, code } = await createCode()
    const { status, body } = await gateway.request('POST', `${CODES}/${id}/disable`)
    expect([status, body.disabled_at]).toEqual([200, expect.stringMatching(/Z$/)])
    return code
  }

  async function expiredCode(): Promise<string> {
    const { id, code } = await createCode({ expires_at: '2999-01-01T00:00:00Z' })
    await database.query(`UPDATE promo_codes SET expires_at = '2020-01-01' WHERE id = $1`, [id])
    return code
  }

  async function usedUpCode(): Promise<string> {
    const { code } = await createCode({ redemptions_max: 1 })
    const { key } = await createAccount(gateway)
    await gateway.request('POST', REDEEM, { key, body: { code } })
    return code
  }
})

describe('guessing', () => {
  test('429: a key is stopped after five wrong codes, on every process, even with a right one', async () => {
    const { code } = await createCode()
    const { key } = await createAccount(gateway)
    const statuses = []
    for (let guess = 0; guess < 6; guess += 1) {
      const on = guess % 2 === 0 ? gateway : other
      statuses.push((await on.request('POST', REDEEM, { key, body: { code: `WRONG-${guess}` } })).status)
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429])
    const { status, headers, body } = await gateway.request('POST', REDEEM, { key, body: { code } })
    expect([status, body.error.code, body.error.type]).toEqual([
      429,
      'rate_limit_exceeded',
      'rate_limit_error',
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(500)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(600)
  })

  test('429: an account is stopped after ten, whatever the key', async () => {
    const { key, accountId } = await createAccount(gateway)
    const keys = [key]
    for (let extra = 0; extra < 2; extra += 1) {
      const { body } = await gateway.request('POST', `/v1/admin/accounts/${accountId}/api-keys`, {
        body: { scopes: ['manage'] },
      })
      keys.push(body.key)
    }
    const statuses = []
    for (let guess = 0; guess < 11; guess += 1) {
      const body = { code: `WRONG-${guess}` }
      statuses.push((await gateway.request('POST', REDEEM, { key: keys[guess % 3] ?? key, body })).status)
    }
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 400))
    expect(statuses[10]).toBe(429)
  })

  test('after the time of retry-after a code is redeemed', async () => {
    const { code } = await createCode()
    const { key } = await createAccount(gateway)
    for (let guess = 0; guess < 5; guess += 1) {
      await gateway.request('POST', REDEEM, { key, body: { code: `WRONG-${guess}` } })
    }
    const refused = await gateway.request('POST', REDEEM, { key, body: { code } })
    const seconds = Number(refused.headers.get('retry-after'))
    // Simulates that this time has passed.
    await database.query(
      'UPDATE promo_guesses SET window_ends_at = window_ends_at - make_interval(secs => $1)',
      [seconds],
    )
    expect((await gateway.request('POST', REDEEM, { key, body: { code } })).status).toBe(200)
  })

  test('concurrent guesses are all counted', async () => {
    const { key } = await createAccount(gateway)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, guess) =>
        (guess % 2 === 0 ? gateway : other).request('POST', REDEEM, {
          key,
          body: { code: `AT-ONCE-${guess}` },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15)
  })
})
