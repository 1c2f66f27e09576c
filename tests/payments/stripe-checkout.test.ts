import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount } from './accounts.ts'
import { startStripeStage, type StripeStage } from './stripe-stage.ts'

const CHECKOUT = '/v1/payments/checkout'

let stage: StripeStage

beforeAll(async () => {
  stage = await startStripeStage()
})

beforeEach(() => {
  stage.stripe.requests.length = 0
})

afterAll(async () => {
  await stage.close()
})

describe('starting a checkout at Stripe', () => {
  test('201: returns the page and sends Stripe the account and the amount in cents, once', async () => {
    const { key, accountId } = await createAccount(stage.gateway)
    const { status, body } = await stage.gateway.request('POST', CHECKOUT, {
      key,
      body: {
        amount_usd: 20.5,
        success_url: 'https://shop.example/ok?a=1',
        cancel_url: 'https://shop.example/no',
      },
    })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        object: 'checkout',
        checkout_url: expect.stringMatching(/^https:\/\/checkout\.stripe\.com\//),
        url: body.checkout_url,
        amount_usd: 20.5,
        status: 'pending',
        expires_at: expect.stringMatching(/Z$/),
      },
    ])
    expect(stage.stripe.requests).toHaveLength(1)
    const [request] = stage.stripe.requests
    expect(request?.idempotencyKey).toBe(`checkout:${body.id}`)
    expect(Object.fromEntries(request?.params ?? [])).toMatchObject({
      mode: 'payment',
      client_reference_id: body.id,
      success_url: 'https://shop.example/ok?a=1',
      cancel_url: 'https://shop.example/no',
      'metadata[parkway_payment_id]': body.id,
      'metadata[parkway_account_id]': accountId,
      'payment_intent_data[metadata][parkway_payment_id]': body.id,
      'line_items[0][price_data][unit_amount]': '2050',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][quantity]': '1',
    })
  })

  test('config names Stripe, its publishable key and that it is in test mode', async () => {
    const { key } = await createAccount(stage.gateway, { scopes: ['inference'] })
    const { body } = await stage.gateway.request('GET', '/v1/payments/config', { key })
    expect(body).toEqual({
      provider: 'stripe',
      currency: 'usd',
      presets_usd: [5, 20, 50, 100, 500],
      min_usd: 1,
      max_usd: 10_000,
      publishable_key: 'pk_test_local',
      test_mode: true,
      available: true,
      unavailable_reason: null,
    })
  })

  test('502: a refusal of Stripe is reported without its message, and the payment has failed', async () => {
    const { key } = await createAccount(stage.gateway)
    stage.stripe.disturbNext(400)
    const { status, body } = await stage.gateway.request('POST', CHECKOUT, { key, body: { amount_usd: 5 } })
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(JSON.stringify(body)).not.toContain('secret words')
    const { body: history } = await stage.gateway.request('GET', '/v1/payments/history', { key })
    expect(history.payments).toMatchObject([{ status: 'failed' }])
  })

  test('201: a broken connection is retried and creates one session', async () => {
    const { key } = await createAccount(stage.gateway)
    const before = stage.stripe.state.sessions.size
    stage.stripe.disturbNext('cut')
    const { status } = await stage.gateway.request('POST', CHECKOUT, { key, body: { amount_usd: 5 } })
    expect(status).toBe(201)
    expect(stage.stripe.state.sessions.size).toBe(before + 1)
  })
})

describe('coming back from Stripe', () => {
  test('the return page credits what was paid before it is shown', async () => {
    const checkout = await stage.startCheckout(20)
    const success = stage.stripe.state.sessions.get(checkout.sessionId)?.['success_url']
    stage.stripe.state.pay(checkout.sessionId)
    const page = await fetch(success.replace('{CHECKOUT_SESSION_ID}', checkout.sessionId))
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Payment received')
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('the page and the webhook at the same moment credit once', async () => {
    const checkout = await stage.startCheckout(20)
    const { completed } = stage.stripe.state.pay(checkout.sessionId)
    const path = `/checkout/stripe/return?session_id=${checkout.sessionId}`
    await Promise.all([
      stage.gateway.request('GET', path, { key: null }),
      stage.deliver(completed),
      stage.gateway.request('GET', path, { key: null }),
    ])
    expect(await stage.balance(checkout)).toBe(20)
  })

  test('the page shows that the payment is in progress', async () => {
    const checkout = await stage.startCheckout()
    const path = `/checkout/stripe/return?session_id=${checkout.sessionId}`
    const { body } = await stage.gateway.request('GET', path, { key: null })
    expect(body).toContain('Payment on its way')
    expect(await stage.balance(checkout)).toBe(0)
  })

  test('404: an unknown session', async () => {
    const { status, body } = await stage.gateway.request(
      'GET',
      '/checkout/stripe/return?session_id=cs_none',
      {
        key: null,
      },
    )
    expect([status, body.includes('No such checkout')]).toEqual([404, true])
  })

  test('reading the payment credits what was paid, with its receipt', async () => {
    const checkout = await stage.startCheckout(20)
    stage.stripe.state.pay(checkout.sessionId)
    expect(await stage.readPayment(checkout)).toMatchObject({
      status: 'completed',
      receipt_url: expect.stringMatching(/^https:\/\/pay\.stripe\.com\/receipts\//),
    })
    expect(await stage.balance(checkout)).toBe(20)
  })
})

describe('an incomplete configuration', () => {
  test.each([
    ['its webhook secret', { STRIPE_WEBHOOK_SECRET: '' }],
    [
      'both of its secrets',
      { STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
    ],
  ])(
    '503: Stripe without %s takes no payments and never falls back to the test checkout',
    async (_, settings) => {
      const half = await startStripeStage(settings)
      try {
        const { status, body } = await half.gateway.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
        expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
        const { body: config } = await half.gateway.request('GET', '/v1/payments/config')
        expect(config).toMatchObject({ provider: 'stripe', available: false })
        const webhook = await half.gateway.request('POST', '/v1/payments/webhook/stripe', {
          key: null,
          body: {},
        })
        expect(webhook.status).toBe(503)
      } finally {
        await half.close()
      }
    },
  )
})
