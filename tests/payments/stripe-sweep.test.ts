import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { STRIPE_SECRET_KEY } from '../upstreams/stripe-server.ts'
import { startStripeStage, WEBHOOK_SECRET, type StripeStage } from './stripe-stage.ts'
import { eventually } from '../support/eventually.ts'

let stage: StripeStage

beforeAll(async () => {
  stage = await startStripeStage()
})

afterAll(async () => {
  await stage.close()
})

/** Makes the next check of a checkout due now. */
async function makeDue(paymentId: string): Promise<void> {
  await stage.database.query('UPDATE checkouts SET check_at = now() WHERE payment_id = $1', [paymentId])
}

test('a payment without a webhook is credited by the sweep', async () => {
  const checkout = await stage.startCheckout(20)
  stage.stripe.state.pay(checkout.sessionId)
  await makeDue(checkout.paymentId)
  await eventually(async () => expect(await stage.balance(checkout)).toBe(20))
})

test('a checkout whose session was never stored is found by requesting it again', async () => {
  const checkout = await stage.startCheckout(20)
  const before = stage.stripe.state.sessions.size
  await stage.database.query('UPDATE checkouts SET session_id = NULL WHERE payment_id = $1', [
    checkout.paymentId,
  ])
  stage.stripe.state.pay(checkout.sessionId)
  await makeDue(checkout.paymentId)
  await eventually(async () => expect(await stage.balance(checkout)).toBe(20))
  expect(stage.stripe.state.sessions.size).toBe(before)
})

test('expired and failed payments are closed and not queried again', async () => {
  const [expired, failed] = [await stage.startCheckout(20), await stage.startCheckout(20)]
  stage.stripe.state.expire(expired.sessionId)
  stage.stripe.state.payLater(failed.sessionId)
  stage.stripe.state.settleLater(failed.sessionId, 'failed')
  await makeDue(expired.paymentId)
  await makeDue(failed.paymentId)
  await eventually(async () => {
    expect((await stage.history(expired))[0].status).toBe('expired')
    expect((await stage.history(failed))[0].status).toBe('failed')
  })
  const rows = await stage.database.query('SELECT check_at FROM checkouts WHERE payment_id = ANY ($1)', [
    [expired.paymentId, failed.paymentId],
  ])
  expect(rows).toEqual([{ check_at: null }, { check_at: null }])
})

test('while Stripe is down a payment waits, and is credited afterwards', async () => {
  const checkout = await stage.startCheckout(20)
  stage.stripe.state.pay(checkout.sessionId)
  stage.stripe.requests.length = 0
  stage.stripe.disturbNext(500, 500, 500)
  await makeDue(checkout.paymentId)
  await eventually(() => expect(stage.stripe.requests.length).toBeGreaterThanOrEqual(3))
  expect(await stage.balance(checkout)).toBe(0)
  await makeDue(checkout.paymentId)
  await eventually(async () => expect(await stage.balance(checkout)).toBe(20))
})

test('several processes sweep, and each payment is queried once', async () => {
  const other = await startTestGateway({
    connectionString: stage.gateway.connectionString,
    settings: {
      STRIPE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE_URL: stage.stripe.baseUrl,
      PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '50',
    },
  })
  try {
    const checkouts = await Promise.all(Array.from({ length: 10 }, () => stage.startCheckout(20)))
    for (const { sessionId } of checkouts) stage.stripe.state.pay(sessionId)
    stage.stripe.requests.length = 0
    const paymentIds = checkouts.map(({ paymentId }) => paymentId)
    await stage.database.query('UPDATE checkouts SET check_at = now() WHERE payment_id = ANY ($1)', [
      paymentIds,
    ])
    await eventually(async () => {
      for (const checkout of checkouts) expect(await stage.balance(checkout)).toBe(20)
    })
    const asked = stage.stripe.requests.map(({ path }) => path.split('/').at(-1) ?? '')
    expect(asked.toSorted()).toEqual(checkouts.map(({ sessionId }) => sessionId).toSorted())
  } finally {
    await other.close()
  }
})
