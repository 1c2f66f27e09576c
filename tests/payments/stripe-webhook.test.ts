import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf } from '../upstreams/stripe-objects.ts'
import { sign, startStripeStage, type StripeStage } from './stripe-stage.ts'

let stage: StripeStage

beforeAll(async () => {
  // The long sweep interval ensures that only webhooks report a payment.
  stage = await startStripeStage({ PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '3600000' })
})

afterAll(async () => {
  await stage.close()
})

describe('a webhook', () => {
  test('200: a paid session is credited', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const { status, body } = await stage.deliver(completed)
    expect([status, body]).toEqual([200, { received: true }])
    expect(await stage.balance(checkout)).toBe(20)
    expect(await stage.history(checkout)).toMatchObject([
      { id: checkout.paymentId, kind: 'checkout', amount_usd: 20, status: 'completed' },
    ])
  })

  test('200: the same event ten times at once, and again later, is credited once', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const answers = await Promise.all(Array.from({ length: 10 }, () => stage.deliver(completed)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    await stage.deliver(completed)
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('200: another event of the same payment, under another id, is not credited again', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed, succeeded } = stage.stripe.state.pay(checkout.sessionId)
    for (const event of [succeeded, completed, { ...completed, id: 'evt_resent' }]) await stage.deliver(event)
    expect(await stage.balance(checkout)).toBe(20)
    expect(await stage.readPayment(checkout)).toHaveProperty('receipt_url')
  })

  test('200: it works when it arrives before the session is stored', async () => {
    const checkout = await stage.startCheckout(20)
    await stage.database.query('UPDATE checkouts SET session_id = NULL WHERE payment_id = $1', [
      checkout.paymentId,
    ])
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    expect((await stage.deliver(completed)).status).toBe(200)
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('200: other events, and payments of others, change nothing', async () => {
    const strange = eventOf('checkout.session.completed', {
      id: 'cs_other',
      status: 'complete',
      payment_status: 'paid',
      payment_intent: 'pi_other',
      amount_total: 100,
      currency: 'usd',
      metadata: {},
    })
    for (const event of [strange, eventOf('customer.created', { id: 'cus_1' })]) {
      expect((await stage.deliver(event)).status).toBe(200)
    }
  })

  test('409: a session with another amount, currency or account gives no credit', async () => {
    const changes = [
      { amount_total: 1 },
      { currency: 'jpy' },
      { metadata: { parkway_account_id: 'another' } },
    ]
    for (const change of changes) {
      const checkout = await stage.startCheckout(20)
      const { completed } = stage.stripe.state.pay(checkout.sessionId)
      Object.assign(completed['data'].object, {
        ...change,
        metadata: { ...completed['data'].object.metadata, ...change.metadata },
      })
      expect((await stage.deliver(completed)).status).toBe(409)
      expect(await stage.balance(checkout)).toBe(0)
    }
  })
})

describe('delayed payment methods', () => {
  test('a session that completes unpaid is credited when the money arrives', async () => {
    const checkout = await stage.startCheckout(20)
    await stage.deliver(stage.stripe.state.payLater(checkout.sessionId))
    expect(await stage.balance(checkout)).toBe(0)
    expect((await stage.history(checkout))[0]).toMatchObject({ status: 'processing', completed_at: null })
    await stage.deliver(stage.stripe.state.settleLater(checkout.sessionId, 'succeeded'))
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('events in the wrong order have the same result', async () => {
    const checkout = await stage.startCheckout(20)
    const completed = stage.stripe.state.payLater(checkout.sessionId)
    await stage.deliver(stage.stripe.state.settleLater(checkout.sessionId, 'succeeded'))
    await stage.deliver(completed)
    expect(await stage.balance(checkout)).toBe(20)
    expect((await stage.history(checkout))[0].status).toBe('completed')
  })

  test('a payment that finally fails gives nothing', async () => {
    const checkout = await stage.startCheckout(20)
    await stage.deliver(stage.stripe.state.payLater(checkout.sessionId))
    await stage.deliver(stage.stripe.state.settleLater(checkout.sessionId, 'failed'))
    expect(await stage.balance(checkout)).toBe(0)
    expect((await stage.history(checkout))[0].status).toBe('failed')
  })

  test('a session that expires gives nothing', async () => {
    const checkout = await stage.startCheckout(20)
    await stage.deliver(stage.stripe.state.expire(checkout.sessionId))
    expect((await stage.history(checkout))[0].status).toBe('expired')
  })
})

describe('a forged payment webhook', () => {
  test.each([
    ['without a signature', { signature: null }],
    ['with an empty signature', { signature: '' }],
    ['with garbage for a signature', { signature: 't=abc,v1=xyz' }],
    ['signed with another secret', { secret: 'whsec_other' }],
    ['signed in a scheme that is not checked', { signature: `t=${Math.floor(Date.now() / 1000)},v0=00` }],
    ['signed too long ago', { ageSeconds: 301 }],
  ])('400: %s it grants nothing', async (_, options) => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const { status, body } = await stage.deliver(completed, options)
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    expect(await stage.balance(checkout)).toBe(0)
    expect(await countEvents(completed.id)).toBe(0)
  })

  test('400: a signature of one body is invalid for another, even by a space', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const text = JSON.stringify(completed)
    for (const body of [`${text} `, text.replace('"amount_total":2000', '"amount_total":2001')]) {
      expect((await stage.deliver(completed, { body, signature: sign(text) })).status).toBe(400)
    }
    expect(await stage.balance(checkout)).toBe(0)
  })

  test('200: the signature is checked on the raw bytes, whatever they are', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const body = JSON.stringify({ ...completed, note: 'Zoë — ✓ 日本 \u2028' }, null, 3)
    const options = { body, signature: sign(body), contentType: 'text/plain' }
    expect((await stage.deliver(completed, options)).status).toBe(200)
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('404: an unknown provider, and the test checkout', async () => {
    for (const provider of ['paypal', 'test']) {
      const { status } = await stage.gateway.request('POST', `/v1/payments/webhook/${provider}`, {
        key: null,
        body: {},
      })
      expect(status).toBe(404)
    }
  })

  test('413: a body larger than any event is not read', async () => {
    const { status } = await stage.gateway.request('POST', '/v1/payments/webhook/stripe', {
      key: null,
      body: 'x'.repeat(2 * 1024 * 1024),
    })
    expect(status).toBe(413)
  })
})

test('a failed grant does not mark the event as seen, and the next delivery grants the credit', async () => {
  const checkout = await stage.startCheckout(20)
  const { completed } = stage.stripe.state.pay(checkout.sessionId)
  await stage.database.query(`
    CREATE FUNCTION break_grants() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
    CREATE TRIGGER break_grants BEFORE INSERT ON credit_lots FOR EACH ROW EXECUTE FUNCTION break_grants()`)
  expect((await stage.deliver(completed)).status).toBe(500)
  expect(await countEvents(completed.id)).toBe(0)
  expect((await stage.history(checkout))[0].status).toBe('pending')
  await stage.database.query('DROP TRIGGER break_grants ON credit_lots')
  expect((await stage.deliver(completed)).status).toBe(200)
  expect(await countEvents(completed.id)).toBe(1)
  expect(await stage.balance(checkout)).toBe(20)
})

async function countEvents(eventId: string): Promise<number> {
  const rows = await stage.database.query('SELECT 1 FROM payment_events WHERE event_id = $1', [eventId])
  return rows.length
}
