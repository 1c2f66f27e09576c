import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { balanceOf, createAccount } from './accounts.ts'
import { CHECKOUT, click, openCheckout } from './open-checkout.ts'
import { openTestDatabase, type OpenDatabase } from './open-test-database.ts'

let gateway: TestGateway
let database: OpenDatabase

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '3600000' } })
  database = openTestDatabase(gateway)
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

describe('the page', () => {
  test('200: shows the amount and two buttons, runs no script and does not leak its address', async () => {
    const { url } = await openCheckout(gateway, {
      success_url: 'https://shop.example/ok',
      cancel_url: 'http://localhost:1/no',
    })
    expect(url).toMatch(new RegExp(`^${gateway.baseUrl}/checkout/test/[\\w-]{43}$`))
    const page = await fetch(url)
    const html = await page.text()
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).toContain('$20.00')
    expect(html).toMatch(
      /<form method="post" action="[^"]+\/pay"><button class="main">Pay \$20\.00<\/button>/,
    )
    expect(html).toMatch(/<form method="post" action="[^"]+\/cancel"><button>Cancel<\/button>/)
    expect(html).not.toContain('<script')
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    // Browsers follow the redirect after a form only to origins in this policy.
    expect(policy).toContain("form-action 'self' https://shop.example http://localhost:1;")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  test('303: paying credits the account and redirects to success_url', async () => {
    const { url, key, id } = await openCheckout(gateway, { success_url: 'https://shop.example/ok?order=7' })
    const answer = await click(url, 'pay')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'https://shop.example/ok?order=7'])
    expect(await balanceOf(gateway, key)).toBe(20)
    const { body } = await gateway.request('GET', `/v1/payments/${id}`, { key })
    expect(body).toMatchObject({ id, kind: 'checkout', amount_usd: 20, status: 'completed' })
  })

  test('a paid checkout has a receipt, of its account only, which says that no money moved and what was refunded', async () => {
    const { url, key, id } = await openCheckout(gateway)
    const path = `/v1/payments/${id}/receipt`
    expect((await gateway.request('GET', path, { key })).status).toBe(404)
    await click(url, 'pay')
    const { body } = await gateway.request('GET', `/v1/payments/${id}`, { key })
    expect(body.receipt_url).toBe(gateway.baseUrl + path)
    const receipt = await gateway.fetch('GET', path, { key })
    expect([receipt.status, receipt.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(
      Buffer.from(await receipt.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-')
    const stranger = await createAccount(gateway)
    expect((await gateway.request('GET', path, { key: stranger.key })).status).toBe(404)
    const { body: gift } = await gateway.request('GET', '/v1/payments/history')
    for (const other of [...gift.data.map(({ id: each }: { id: string }) => each).slice(0, 1), 'none'])
      expect((await gateway.request('GET', `/v1/payments/${other}/receipt`, { key })).status).toBe(404)
  })

  test.each([
    ['https://shop.example/straße?x=\u{1F600}', 'https://shop.example/stra%C3%9Fe?x=%F0%9F%98%80'],
    ['https://shop.example/a\r\nset-cookie: b', 'https://shop.example/aset-cookie:%20b'],
  ])('303: an address stored by an earlier release is encoded: %j', async (stored, location) => {
    const { url, id } = await openCheckout(gateway, { success_url: 'https://shop.example/ok' })
    await database.query('UPDATE checkouts SET success_url = $2 WHERE payment_id = $1', [id, stored])
    expect((await fetch(url)).status).toBe(200)
    const answer = await click(url, 'pay')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, location])
  })

  test('303: without a success_url the page itself shows that it is paid', async () => {
    const { url } = await openCheckout(gateway)
    const answer = await click(url, 'pay')
    expect(answer.status).toBe(303)
    const page = await fetch(new URL(answer.headers.get('location') ?? '', url))
    expect(await page.text()).toContain('Payment received')
  })

  test('clicked ten times at once it is paid once', async () => {
    const { url, key } = await openCheckout(gateway)
    const answers = await Promise.all(Array.from({ length: 10 }, () => click(url, 'pay')))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 303))
    await click(url, 'cancel')
    expect(await balanceOf(gateway, key)).toBe(20)
  })

  test('303: cancelling redirects to cancel_url, and nothing can be paid afterwards', async () => {
    const { url, key, id } = await openCheckout(gateway, { cancel_url: 'https://shop.example/no' })
    const answer = await click(url, 'cancel')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'https://shop.example/no'])
    expect((await click(url, 'pay')).status).toBe(409)
    expect(await (await fetch(url)).text()).toContain('Payment cancelled')
    expect(await balanceOf(gateway, key)).toBe(0)
    const { body } = await gateway.request('GET', `/v1/payments/${id}`, { key })
    expect(body.status).toBe('cancelled')
  })

  test('409: an expired page cannot be paid, and the payment shows that', async () => {
    const { url, key, id } = await openCheckout(gateway)
    await database.query(
      `UPDATE checkouts SET expires_at = now() - interval '1 second' WHERE payment_id = $1`,
      [id],
    )
    expect(await (await fetch(url)).text()).toContain('This page has expired')
    expect((await click(url, 'pay')).status).toBe(409)
    expect(await balanceOf(gateway, key)).toBe(0)
    const { body } = await gateway.request('GET', `/v1/payments/${id}`, { key })
    expect(body.status).toBe('expired')
  })

  test('404: an unknown address has an error page', async () => {
    const { url, id } = await openCheckout(gateway)
    const wrong = [
      `${gateway.baseUrl}/checkout/test/${'A'.repeat(43)}`,
      `${gateway.baseUrl}/checkout/test/${id}`,
    ]
    for (const address of [...wrong, url.slice(0, -1)]) {
      const page = await fetch(address)
      expect([page.status, (await page.text()).includes('No such checkout')]).toEqual([404, true])
      expect((await click(address, 'pay')).status).toBe(404)
    }
  })

  test('the secret in the address is not in the database', async () => {
    const { url } = await openCheckout(gateway)
    const token = url.split('/').at(-1) ?? ''
    const rows = await database.query('SELECT checkouts::text AS row FROM checkouts')
    expect(rows.some(({ row }) => row.includes(token))).toBe(false)
  })

  test('the operator can set the public address of the page', async () => {
    const named = await startTestGateway({ settings: { PARKWAY_PUBLIC_URL: 'https://ai.example/' } })
    try {
      const { body } = await named.request('POST', CHECKOUT, { body: { amount_usd: 5 } })
      expect(body.checkout_url).toMatch(/^https:\/\/ai\.example\/checkout\/test\//)
    } finally {
      await named.close()
    }
  })
})

describe('starting a checkout', () => {
  test.each([
    ['amount_usd', 'missing_required_parameter', {}],
    ['amount_usd', 'invalid_value', { amount_usd: '20' }],
    ['amount_usd', 'invalid_value', { amount_usd: 0.99 }],
    ['amount_usd', 'invalid_value', { amount_usd: -5 }],
    ['amount_usd', 'invalid_value', { amount_usd: 10_000.01 }],
    ['amount_usd', 'invalid_value', { amount_usd: 5.001 }],
    ['success_url', 'invalid_value', { amount_usd: 5, success_url: 'javascript:alert(1)' }],
    ['success_url', 'invalid_value', { amount_usd: 5, success_url: '/relative' }],
    ['success_url', 'invalid_value', { amount_usd: 5, success_url: `https://a.example/${'x'.repeat(2048)}` }],
    ['cancel_url', 'invalid_value', { amount_usd: 5, cancel_url: 'ftp://a.example' }],
  ])('400: %s is %s in %j', async (param, code, body) => {
    const answer = await gateway.request('POST', CHECKOUT, { body })
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param])
  })

  test('401 and 403: needs a key with the scope manage; any key reads the configuration', async () => {
    expect((await gateway.request('POST', CHECKOUT, { key: null, body: { amount_usd: 5 } })).status).toBe(401)
    const { key } = await createAccount(gateway, { scopes: ['inference'] })
    for (const [method, path] of [
      ['POST', CHECKOUT],
      ['GET', '/v1/payments/history'],
      ['GET', '/v1/payments/01890000-0000-7000-8000-000000000000'],
    ] as const) {
      const { status } = await gateway.request(method, path, { key, ...(method === 'POST' && { body: {} }) })
      expect([path, status]).toEqual([path, 403])
    }
    expect((await gateway.request('GET', '/v1/payments/config', { key })).body).toMatchObject({
      provider: 'test',
      test_mode: true,
      available: true,
    })
    expect((await gateway.request('GET', '/v1/payments/config', { key: null })).status).toBe(401)
  })

  test('201: repeated with its Idempotency-Key it is the same checkout', async () => {
    const { key } = await createAccount(gateway)
    const send = (): Promise<TestAnswer> =>
      gateway.request('POST', CHECKOUT, {
        key,
        body: { amount_usd: 5 },
        headers: { 'idempotency-key': 'once' },
      })
    const [first, second] = [await send(), await send()]
    expect(second.body).toEqual(first.body)
    const { body } = await gateway.request('GET', '/v1/payments/history', { key })
    expect(body.total).toBe(1)
  })

  test('429: the number of open checkouts per account is limited', async () => {
    const { key, accountId } = await createAccount(gateway)
    await gateway.request('POST', CHECKOUT, { key, body: { amount_usd: 5 } })
    await database.query(
      `WITH made AS (INSERT INTO payments (id, account_id, kind, amount_nano_usd, status, created_at)
         SELECT gen_random_uuid(), $1, 'checkout', 5000000000, 'pending', now() FROM generate_series(1, 99) RETURNING id)
       INSERT INTO checkouts (payment_id, provider, base_url, expires_at)
       SELECT id, 'test', 'http://x', now() + interval '1 hour' FROM made`,
      [accountId],
    )
    const { status, headers } = await gateway.request('POST', CHECKOUT, { key, body: { amount_usd: 5 } })
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000)
  })
})

describe('the history', () => {
  test('200: pages through everything that moved credit, newest first', async () => {
    const { url, key, accountId } = await openCheckout(gateway)
    await click(url, 'pay')
    await gateway.request('POST', `/v1/admin/accounts/${accountId}/credit`, {
      body: { amount_usd: -2, reason: 'a correction' },
    })
    const first = await gateway.request('GET', '/v1/payments/history?limit=1', { key })
    expect(first.body).toMatchObject({ object: 'list', total: 2, has_more: true })
    expect(first.body.payments).toEqual(first.body.data)
    expect(first.body.data).toMatchObject([{ kind: 'adjustment', amount_usd: -2, reason: 'a correction' }])
    const rest = await gateway.request('GET', `/v1/payments/history?after=${first.body.next_cursor}`, { key })
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: null })
    expect(rest.body.data).toMatchObject([{ kind: 'checkout', amount_usd: 20, status: 'completed' }])
  })

  test('400: an invalid cursor', async () => {
    const { status, body } = await gateway.request('GET', '/v1/payments/history?after=x')
    expect([status, body.error.param]).toEqual([400, 'after'])
  })
})
