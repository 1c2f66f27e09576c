import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { balanceOf } from './accounts.ts'
import { CHECKOUT, click, openCheckout, type OpenCheckout } from './open-checkout.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('if production keys exist', () => {
  let keyId: string
  let open: OpenCheckout

  beforeAll(async () => {
    open = await openCheckout(gateway)
    const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { env: 'live' } })
    keyId = body.id
  })

  afterEach(async () => {
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${keyId}`)
  })

  test('503: no test checkout is started or paid, and the configuration says so, until the key is revoked', async () => {
    const { status, body, headers } = await gateway.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
    expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
    expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([null, 'false'])
    expect((await click(open.url, 'pay')).status).toBe(503)
    expect(await balanceOf(gateway, open.key)).toBe(0)
    const { body: config } = await gateway.request('GET', '/v1/payments/config')
    expect(config).toMatchObject({ available: false, unavailable_reason: expect.stringContaining('live') })

    const allowed = await startTestGateway({
      connectionString: gateway.connectionString,
      settings: { PARKWAY_ALLOW_TEST_CHECKOUT: 'true' },
    })
    expect((await allowed.request('POST', CHECKOUT, { body: { amount_usd: 5 } })).status).toBe(201)
    await allowed.close()

    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${keyId}`)
    expect((await gateway.request('POST', CHECKOUT, { body: { amount_usd: 5 } })).status).toBe(201)
  })
})

describe('if real models are served', () => {
  const provider = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_local', STRIPE_WEBHOOK_SECRET: 'whsec_local' }

  /** Starts a gateway with other settings on the same database, for one test. */
  async function restartedWith(settings: Record<string, string>): Promise<TestGateway> {
    const restarted = await startTestGateway({ connectionString: gateway.connectionString, settings })
    onTestFinished(() => restarted.close())
    return restarted
  }

  test('503: no test checkout is started, and a page opened before cannot be paid', async () => {
    const open = await openCheckout(gateway)
    const restarted = await restartedWith(provider)
    const { status, body } = await restarted.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
    expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
    expect((await click(open.url.replace(gateway.baseUrl, restarted.baseUrl), 'pay')).status).toBe(503)
    expect(await balanceOf(gateway, open.key)).toBe(0)
    expect((await restarted.request('GET', '/v1/payments/config')).body).toMatchObject({ available: false })
  })

  test('503: Stripe in test mode grants no credit either', async () => {
    const restarted = await restartedWith({ ...provider, ...stripe })
    const { status, body } = await restarted.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
    expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
    expect(body.error.message).toContain('PARKWAY_ALLOW_TEST_CHECKOUT')
  })

  test('201: unless the operator turns it on', async () => {
    const restarted = await restartedWith({ ...provider, PARKWAY_ALLOW_TEST_CHECKOUT: 'true' })
    const { status, body } = await restarted.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
    expect(status).toBe(201)
    expect((await click(body.checkout_url, 'pay')).status).toBe(303)
  })

  test('409: a page opened before Stripe was configured cannot be paid, even if test mode is allowed', async () => {
    const open = await openCheckout(gateway)
    const restarted = await restartedWith({ ...stripe, PARKWAY_ALLOW_TEST_CHECKOUT: 'true' })
    const url = open.url.replace(gateway.baseUrl, restarted.baseUrl)
    expect(await (await fetch(url)).text()).toContain('This page has expired')
    expect((await click(url, 'pay')).status).toBe(409)
    expect(await balanceOf(gateway, open.key)).toBe(0)
  })

  test('303: a page that was paid before still shows that', async () => {
    const open = await openCheckout(gateway)
    await click(open.url, 'pay')
    const restarted = await restartedWith(stripe)
    const url = open.url.replace(gateway.baseUrl, restarted.baseUrl)
    expect(await (await fetch(url)).text()).toContain('Payment received')
    expect((await click(url, 'pay')).status).toBe(303)
    expect(await balanceOf(gateway, open.key)).toBe(20)
  })
})
