import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { STRIPE_SECRET_KEY } from '../upstreams/stripe-server.ts'
import type { TestAccount } from './accounts.ts'
import { AUTO_TOP_UP, readAutoTopUp, RULES, SAVED_CARD, saveCard, setRules } from './auto-top-up-stage.ts'
import { startStripeStage, WEBHOOK_SECRET, type StripeStage } from './stripe-stage.ts'

let stage: StripeStage
let other: TestGateway

beforeAll(async () => {
  stage = await startStripeStage()
  other = await startTestGateway({
    connectionString: stage.gateway.connectionString,
    settings: {
      STRIPE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE_URL: stage.stripe.baseUrl,
      PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '50',
    },
  })
})
afterAll(async () => {
  await other.close()
  await stage.close()
})
beforeEach(() => stage.database.query('UPDATE auto_top_ups SET is_enabled = false'))

const chargesOf = ({ accountId }: TestAccount) =>
  stage.stripe.state.savedCharges.filter(({ metadata }) => metadata.parkway_account_id === accountId)

const noticesOf = async ({ accountId }: TestAccount): Promise<string[]> => {
  const sql = 'SELECT type FROM account_notices WHERE account_id = $1 ORDER BY id'
  return (await stage.database.query(sql, [accountId])).map(({ type }) => type)
}

/** Makes the next look at the account, and the next question for its charge, due now. */
async function makeDue({ accountId }: TestAccount): Promise<void> {
  await stage.database.query('UPDATE auto_top_ups SET next_try_at = NULL WHERE account_id = $1', [accountId])
  await stage.database.query(
    `UPDATE auto_top_up_charges SET check_at = now() WHERE check_at IS NOT NULL
       AND payment_id IN (SELECT id FROM payments WHERE account_id = $1)`,
    [accountId],
  )
}

const adjust = ({ accountId }: TestAccount, amountUsd: number) =>
  stage.gateway.request('POST', `/v1/admin/accounts/${accountId}/credit`, {
    body: { amount_usd: amountUsd, reason: 'Test' },
  })

/** Waits until both processes have looked at the account again. */
async function looksPass(account: TestAccount): Promise<void> {
  for (let look = 1; look <= 2; look += 1) {
    await makeDue(account)
    const asked = stage.gateway.request('GET', AUTO_TOP_UP, { key: account.key })
    const probe = await saveCard(stage)
    await setRules(stage.gateway, probe)
    await eventually(async () => expect(await stage.balance(probe)).toBe(20))
    expect((await asked).status).toBe(200)
  }
}

describe('an automatic top-up', () => {
  test('charges the saved card once while two processes look, and leaves its traces', async () => {
    const account = await saveCard(stage)
    const { body } = await setRules(stage.gateway, account)
    expect(body).toMatchObject({
      enabled: true,
      ...RULES,
      card: { brand: 'visa', last4: '4242', expires: '2042-04' },
    })
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    await looksPass(account)
    expect(chargesOf(account)).toHaveLength(1)
    expect(await stage.history(account)).toMatchObject([
      {
        kind: 'auto_top_up',
        status: 'completed',
        amount_usd: 20,
        receipt_url: expect.stringContaining('http'),
      },
    ])
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
      spent_this_month_usd: 20,
      charging: false,
      failures: 0,
      problem: null,
    })
    expect(await noticesOf(account)).toEqual(['auto_top_up.charged'])
    const { key } = account
    const { body: log } = await stage.gateway.request('GET', '/v1/organization/audit_logs', { key })
    const types = log.data.map(({ type }: { type: string }) => type)
    expect(types).toEqual(
      expect.arrayContaining(['payment_method.saved', 'auto_top_up.updated', 'credit.added']),
    )
    const { body: ledger } = await stage.gateway.request('GET', '/v1/ledger', { key: account.key })
    expect(ledger.data[0]).toMatchObject({ reason: 'Automatic top-up by stripe' })
  })

  test('waits while the balance is at the threshold, and charges when it falls below', async () => {
    const account = await saveCard(stage, { creditUsd: 10 })
    await setRules(stage.gateway, account)
    await looksPass(account)
    expect(chargesOf(account)).toEqual([])
    await adjust(account, -0.01)
    await eventually(async () => expect(await stage.balance(account)).toBe(29.99))
    expect(chargesOf(account)).toHaveLength(1)
  })

  test('credits once if the answer of Stripe is lost, also where its webhook comes twice', async () => {
    const account = await saveCard(stage)
    stage.stripe.disturbNext('cut', 'cut', 'cut')
    await setRules(stage.gateway, account)
    await eventually(() => expect(chargesOf(account)).toHaveLength(1))
    const told = stage.stripe.state.chargeEvent(chargesOf(account)[0]?.['id'])
    await Promise.all([makeDue(account), stage.deliver(told), stage.deliver(told)])
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    await looksPass(account)
    expect([chargesOf(account).length, await stage.balance(account)]).toEqual([1, 20])
    expect(await noticesOf(account)).toEqual(['auto_top_up.charged'])
  })

  test('looks for a charge that Stripe may have forgotten, and does not make it again', async () => {
    const account = await saveCard(stage)
    stage.stripe.requests.length = 0
    stage.stripe.disturbNext('cut', 'cut', 'cut')
    await setRules(stage.gateway, account)
    // Stripe's library repeats a request twice.
    await eventually(() => expect(stage.stripe.requests).toHaveLength(3))
    await stage.database.query(
      `UPDATE payments SET created_at = created_at - interval '21 hours' WHERE account_id = $1`,
      [account.accountId],
    )
    stage.stripe.forgetKeys()
    await makeDue(account)
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    expect(chargesOf(account)).toHaveLength(1)
  })

  test('credits what was charged if the answer is lost and the next request is refused', async () => {
    const account = await saveCard(stage)
    stage.stripe.requests.length = 0
    stage.stripe.disturbNext('cut', 'cut', 'cut', 400)
    await setRules(stage.gateway, account)
    await eventually(() => expect(stage.stripe.requests).toHaveLength(3))
    await makeDue(account)
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    expect([chargesOf(account).length, await noticesOf(account)]).toEqual([1, ['auto_top_up.charged']])
  })

  test('fails where its provider is not set up any more, and is credited once when it is again and the card was charged', async () => {
    const account = await saveCard(stage)
    const ofAccount = 'payment_id IN (SELECT id FROM payments WHERE account_id = $1)'
    const query = (sql: string) => stage.database.query(sql, [account.accountId])
    stage.stripe.disturbNext('cut', 'cut', 'cut')
    await setRules(stage.gateway, account)
    await eventually(() => expect(chargesOf(account)).toHaveLength(1))
    await query('UPDATE auto_top_ups SET is_enabled = false WHERE account_id = $1')
    // As it is for a process without the settings of Stripe.
    await query(`UPDATE checkouts SET provider = 'former' WHERE ${ofAccount}`)
    await query(`UPDATE payments SET created_at = created_at - interval '61 minutes' WHERE account_id = $1`)
    await makeDue(account)
    await eventually(async () =>
      expect((await stage.history(account))[0]).toMatchObject({ status: 'failed' }),
    )
    const { charging, problem } = await readAutoTopUp(stage.gateway, account)
    expect([charging, problem, await stage.balance(account)]).toEqual([false, 'provider_removed', 0])
    await query(`UPDATE checkouts SET provider = 'stripe' WHERE ${ofAccount}`)
    await makeDue(account)
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    await query('UPDATE auto_top_ups SET is_enabled = false WHERE account_id = $1')
    await looksPass(account)
    expect([chargesOf(account).length, await stage.balance(account)]).toEqual([1, 20])
    expect(await noticesOf(account)).toEqual(['auto_top_up.failed', 'auto_top_up.charged'])
  })

  test('never charges more than its ceiling in a month, and says so once', async () => {
    const account = await saveCard(stage)
    await setRules(stage.gateway, account, { monthly_ceiling_usd: 39.99 })
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    await adjust(account, -20)
    await looksPass(account)
    expect([chargesOf(account).length, await stage.balance(account)]).toEqual([1, 0])
    expect(await noticesOf(account)).toEqual(['auto_top_up.charged', 'auto_top_up.ceiling_reached'])
  })

  test('is switched off after the third decline, and tells of each', async () => {
    const account = await saveCard(stage, { decline: 'insufficient_funds' })
    await setRules(stage.gateway, account)
    for (const failures of [1, 2, 3]) {
      await eventually(async () =>
        expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
          failures,
          problem: 'insufficient_funds',
          enabled: failures < 3,
        }),
      )
      await makeDue(account)
    }
    await looksPass(account)
    expect(await noticesOf(account)).toEqual(Array.from({ length: 3 }, () => 'auto_top_up.failed'))
    const history = await stage.history(account)
    expect(history.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
  })

  test('is switched off at once if the bank wants to see the person, and is on again with another card', async () => {
    const account = await saveCard(stage, { decline: 'authentication_required' })
    await setRules(stage.gateway, account)
    await eventually(async () =>
      expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
        enabled: false,
        problem: 'authentication_required',
      }),
    )
    const { body } = await stage.gateway.request('POST', SAVED_CARD, { key: account.key, body: {} })
    // No webhook: reading it asks Stripe.
    stage.stripe.state.saveCard(body.url.split('/').at(-1))
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
      enabled: false,
      problem: null,
      card: { last4: '4242' },
    })
    await setRules(stage.gateway, account)
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    await eventually(() =>
      expect(stage.stripe.state.saved.attached.map(({ id }) => id)).not.toContain(account.methodId),
    )
  })

  test('stays on if a card is declined that was replaced meanwhile, and charges the new one', async () => {
    const account = await saveCard(stage, { decline: 'authentication_required' })
    const { body } = await stage.gateway.request('POST', SAVED_CARD, { key: account.key, body: {} })
    stage.stripe.requests.length = 0
    stage.stripe.delayAnswers(1_000)
    await setRules(stage.gateway, account)
    await eventually(() =>
      expect(stage.stripe.requests.map(({ path }) => path)).toContain('/v1/payment_intents'),
    )
    stage.stripe.delayAnswers(0)
    await stage.deliver(stage.stripe.state.saveCard(body.url.split('/').at(-1)))
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
      enabled: true,
      failures: 0,
      problem: null,
    })
    expect(await noticesOf(account)).toEqual(['auto_top_up.failed', 'auto_top_up.charged'])
  })

  test('does not take money again that was refunded', async () => {
    const account = await saveCard(stage)
    await setRules(stage.gateway, account)
    await eventually(async () => expect(await stage.balance(account)).toBe(20))
    const [payment] = await stage.history(account)
    const { status } = await stage.gateway.request('POST', `/v1/admin/payments/${payment.id}/refund`, {
      body: { reason: 'Not wanted' },
    })
    expect(status).toBe(200)
    await looksPass(account)
    expect(chargesOf(account)).toHaveLength(1)
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({
      enabled: false,
      problem: 'refunded',
      spent_this_month_usd: 20,
    })
  })
})
