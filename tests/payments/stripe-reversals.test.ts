import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startStripeStage, type StripeStage } from './stripe-stage.ts'

let stage: StripeStage

beforeAll(async () => {
  stage = await startStripeStage({ PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '3600000' })
})

afterAll(async () => {
  await stage.close()
})

describe('refunds', () => {
  test('partial refunds are each taken back once, however they are reported', async () => {
    const payment = await stage.payCheckout(20)
    const first = stage.stripe.state.refund(payment.intentId, 500)
    for (const event of [first.refunded, first.created, first.refunded]) await stage.deliver(event)
    expect(await stage.balance(payment)).toBe(15)
    expect((await stage.readPayment(payment)).status).toBe('partially_refunded')
    const second = stage.stripe.state.refund(payment.intentId, 1500)
    await Promise.all([stage.deliver(second.refunded), stage.deliver(second.created)])
    expect(await stage.balance(payment)).toBe(0)
    expect((await stage.readPayment(payment)).status).toBe('refunded')
    expect(await stage.history(payment)).toMatchObject([
      { kind: 'refund', amount_usd: -15, status: 'completed', refunded_payment_id: payment.paymentId },
      { kind: 'refund', amount_usd: -5, status: 'completed', refunded_payment_id: payment.paymentId },
      { kind: 'checkout', amount_usd: 20 },
    ])
  })

  test('two refunds in one event are both taken back', async () => {
    const payment = await stage.payCheckout(20)
    stage.stripe.state.refund(payment.intentId, 500)
    await stage.deliver(stage.stripe.state.refund(payment.intentId, 700).refunded)
    expect(await stage.balance(payment)).toBe(8)
  })

  test('a refund that is reported before its payment takes back what was given, and nothing is given again', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed, intentId } = stage.stripe.state.pay(checkout.sessionId)
    const { created } = stage.stripe.state.refund(intentId, 2000)
    expect((await stage.deliver(created)).status).toBe(200)
    await stage.deliver(completed)
    expect(await stage.balance(checkout)).toBe(0)
    expect((await stage.readPayment(checkout)).status).toBe('refunded')
  })

  test('a failed refund returns the credit, also if its start is reported after its end', async () => {
    for (const isReordered of [false, true]) {
      const payment = await stage.payCheckout(20)
      const { created, id } = stage.stripe.state.refund(payment.intentId, 500)
      const failed = stage.stripe.state.failRefund(id)
      for (const event of isReordered ? [failed, created] : [created, failed, failed])
        await stage.deliver(event)
      expect(await stage.balance(payment)).toBe(20)
      expect((await stage.readPayment(payment)).status).toBe('completed')
    }
  })

  test('a refund that is asked for again after the first one failed is made again', async () => {
    const payment = await stage.payCheckout(20)
    const path = `/v1/admin/payments/${payment.paymentId}/refund`
    const ask = () => stage.gateway.request('POST', path, { body: { amount_usd: 5 } })
    for (let failures = 1; failures <= 3; failures += 1) {
      expect([(await ask()).status, await stage.balance(payment)]).toEqual([200, 15])
      const { data } = stage.stripe.state.listRefunds(stage.stripe.state.chargeIdOf(payment.intentId))
      expect(data).toHaveLength(failures)
      await stage.deliver(stage.stripe.state.failRefund(data.at(-1).id))
      expect(await stage.balance(payment)).toBe(20)
    }
    expect([(await ask()).status, await stage.balance(payment)]).toEqual([200, 15])
    expect((await stage.readPayment(payment)).status).toBe('partially_refunded')
  })

  test('a refund has its reason, written once however often it is asked for', async () => {
    const payment = await stage.payCheckout(20)
    const path = `/v1/admin/payments/${payment.paymentId}/refund`
    const body = { amount_usd: 5, reason: 'Paid twice' }
    const headers = { 'idempotency-key': 'paid-twice' }
    const ask = () => stage.gateway.request('POST', path, { body, headers })
    await Promise.all([ask(), ask(), ask()])
    expect((await ask()).status).toBe(200)
    // Other refunds of the same amount are their own, also at the same time.
    await Promise.all(
      ['Again', 'Once more'].map((reason) =>
        stage.gateway.request('POST', path, {
          body: { ...body, reason },
          headers: { 'idempotency-key': reason },
        }),
      ),
    )
    const reasons = new Set(['Again', 'Once more', 'Paid twice'])
    const refunds = (await stage.history(payment)).filter(({ kind }) => kind === 'refund')
    expect(refunds.map(({ amount_usd: usd }) => usd)).toEqual([-5, -5, -5])
    expect(new Set(refunds.map(({ reason }) => reason))).toEqual(reasons)
    const { body: log } = await stage.gateway.request('GET', '/v1/organization/audit_logs', {
      key: payment.key,
    })
    const removed = log.data.filter(({ type }: { type: string }) => type === 'credit.removed')
    expect(removed).toHaveLength(3)
    expect(new Set(removed.map((entry: Removed) => entry['credit.removed'].data.reason))).toEqual(reasons)
  })

  test('a refund of spent credit leaves a debt', async () => {
    const payment = await stage.payCheckout(20)
    const { status } = await stage.gateway.request('POST', `/v1/admin/accounts/${payment.accountId}/credit`, {
      body: { amount_usd: -15, reason: 'as if spent' },
    })
    expect(status).toBe(201)
    await stage.deliver(stage.stripe.state.refund(payment.intentId, 2000).created)
    expect(await stage.balance(payment)).toBe(-15)
  })

  test('503: while Stripe does not list the refunds, nothing is taken back and the event is delivered again', async () => {
    const payment = await stage.payCheckout(20)
    const { refunded } = stage.stripe.state.refund(payment.intentId, 500)
    stage.stripe.disturbNext(500, 500, 500)
    expect((await stage.deliver(refunded)).status).toBe(503)
    expect(await stage.balance(payment)).toBe(20)
    expect((await stage.deliver(refunded)).status).toBe(200)
    expect(await stage.balance(payment)).toBe(15)
  })
})

describe('disputes', () => {
  test('a dispute takes the credit back, and returns it when it is won', async () => {
    const payment = await stage.payCheckout(20)
    const dispute = stage.stripe.state.dispute(payment.intentId, 2000)
    await stage.deliver(dispute.created)
    await stage.deliver(dispute.change('charge.dispute.funds_withdrawn', 'needs_response'))
    expect(await stage.balance(payment)).toBe(0)
    expect((await stage.readPayment(payment)).status).toBe('disputed')
    await stage.deliver(dispute.change('charge.dispute.closed', 'won'))
    await stage.deliver(dispute.change('charge.dispute.funds_reinstated', 'won'))
    expect(await stage.balance(payment)).toBe(20)
    expect((await stage.readPayment(payment)).status).toBe('completed')
  })

  test('a lost dispute keeps the credit', async () => {
    const payment = await stage.payCheckout(20)
    const dispute = stage.stripe.state.dispute(payment.intentId, 2000)
    await stage.deliver(dispute.created)
    await stage.deliver(dispute.change('charge.dispute.closed', 'lost'))
    expect(await stage.balance(payment)).toBe(0)
  })

  test('a won dispute reported in the wrong order costs nothing', async () => {
    const payment = await stage.payCheckout(20)
    const dispute = stage.stripe.state.dispute(payment.intentId, 2000)
    await stage.deliver(dispute.change('charge.dispute.closed', 'won'))
    await stage.deliver(dispute.created)
    expect(await stage.balance(payment)).toBe(20)
  })

  test('an inquiry takes nothing back until it becomes a dispute', async () => {
    const payment = await stage.payCheckout(20)
    const inquiry = stage.stripe.state.dispute(payment.intentId, 2000, 'warning_needs_response')
    await stage.deliver(inquiry.created)
    await stage.deliver(inquiry.change('charge.dispute.updated', 'warning_closed'))
    expect(await stage.balance(payment)).toBe(20)
    await stage.deliver(inquiry.change('charge.dispute.updated', 'needs_response'))
    expect(await stage.balance(payment)).toBe(0)
  })

  test('a dispute of a payment that is not reported yet takes back what the payment gives', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed, intentId } = stage.stripe.state.pay(checkout.sessionId)
    await stage.deliver(stage.stripe.state.dispute(intentId, 2000).created)
    await stage.deliver(completed)
    expect(await stage.balance(checkout)).toBe(0)
  })

  test('refunded and disputed, no more is taken back than was given', async () => {
    const payment = await stage.payCheckout(20)
    await stage.deliver(stage.stripe.state.refund(payment.intentId, 1500).created)
    await stage.deliver(stage.stripe.state.dispute(payment.intentId, 2000).created)
    expect(await stage.balance(payment)).toBe(0)
  })
})

interface Removed {
  readonly 'credit.removed': { readonly data: { readonly reason: string } }
}
