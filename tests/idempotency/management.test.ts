import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let accountId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  await gateway.request('POST', '/v1/admin/promo-codes', { body: { code: 'GIFT', amount_usd: 1 } })
})

beforeEach(async () => {
  accountId = (await createAccountKey(gateway, { name: 'customer', credit_usd: 1 })).accountId
})

afterAll(async () => {
  await gateway.close()
})

describe('every POST that changes something', () => {
  test.each<[string, () => string, object | undefined, object?]>([
    ['an account', () => '/v1/admin/accounts', { name: 'new' }],
    ['a key', () => '/v1/tenants/me/api-keys', { name: 'new', env: 'dev' }],
    ["another account's key", () => `/v1/admin/accounts/${accountId}/api-keys`, { env: 'test' }],
    ['a suspension', () => `/v1/admin/accounts/${accountId}/suspend`, undefined, { reason: 'else' }],
    ['an activation', () => `/v1/admin/accounts/${accountId}/activate`, undefined],
    [
      'credit',
      () => `/v1/admin/accounts/${accountId}/credit`,
      { amount_usd: 1, reason: 'thanks' },
      { amount_usd: 2 },
    ],
    ['a promo code', () => '/v1/admin/promo-codes', { code: 'WELCOME', amount_usd: 1 }, { code: 'OTHER' }],
    ['a redemption', () => '/v1/promo/redeem', { code: 'GIFT' }],
    ['a checkout', () => '/v1/payments/checkout', { amount_usd: 5 }],
    ['a page to save a card at', () => '/v1/payments/saved-card', {}, { cancel_url: 'https://a.example' }],
  ])('is done once: %s', async (name, path, body, change = { name: 'else' }) => {
    const send = async () => {
      const headers = { 'idempotency-key': name }
      const response = await gateway.fetch('POST', path(), { body, headers })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const first = await send()
    const again = await send()
    expect(first.status).toBeLessThan(300)
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('original-request')).toBe(first.headers.get('x-request-id'))
    const other = await gateway.request('POST', path(), {
      body: { ...body, ...change },
      headers: { 'idempotency-key': name },
    })
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('documents the header, and the payment webhook and SCIM, which take no API key, do not', async () => {
    const { body } = await gateway.request('GET', '/openapi.json')
    const posts = Object.entries<Record<string, { security: unknown[]; parameters?: { name: string }[] }>>(
      body.paths,
    ).flatMap(([path, { post }]) => (post ? [{ path, post }] : []))
    const takesKey = ({ parameters = [] }: { parameters?: { name: string }[] }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key')
    expect(posts.length).toBeGreaterThan(7)
    for (const { path, post } of posts)
      expect([path, takesKey(post)]).toEqual([path, post.security.length > 0 && !path.startsWith('/scim/')])
  })

  test('is done once of many that are sent at once', async () => {
    const before = (await gateway.request('GET', '/v1/admin/accounts')).body.total
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        gateway.request('POST', '/v1/admin/accounts', {
          body: { name: 'burst' },
          headers: { 'idempotency-key': 'burst' },
        }),
      ),
    )
    const created = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409)
    expect(created.length + refused.length).toBe(30)
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
    for (const { body, headers } of refused) {
      expect(body.error.code).toBe('idempotency_in_progress')
      // Longer if the first of them has been running for a while.
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
    }
    expect((await gateway.request('GET', '/v1/admin/accounts')).body.total).toBe(before + 1)
  })

  test('every POST that changes something that was refused is tried again', async () => {
    const path = '/v1/admin/accounts/01890000-0000-7000-8000-000000000000/suspend'
    const send = () => gateway.request('POST', path, { headers: { 'idempotency-key': 'nobody' } })
    const [first, again] = [await send(), await send()]
    expect([first.status, again.status]).toEqual([404, 404])
    expect(again.body.error.request_id).not.toBe(first.body.error.request_id)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })
})
