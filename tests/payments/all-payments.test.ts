import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createAccount, type TestAccount } from './accounts.ts'

const PAYMENTS = '/v1/admin/payments'

let gateway: TestGateway
let ada: TestAccount
let bob: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await createAccount(gateway)
  bob = await createAccount(gateway)
  await buy(ada, 5)
  await gateway.request('POST', '/v1/payments/checkout', { key: ada.key, body: { amount_usd: 7 } })
  await buy(bob, 9)
  await gateway.request('POST', `/v1/admin/accounts/${bob.accountId}/credit`, {
    body: { amount_usd: 2, reason: 'thanks' },
  })
})

afterAll(async () => {
  await gateway.close()
})

async function buy({ key }: TestAccount, amountUsd: number): Promise<void> {
  const { body } = await gateway.request('POST', '/v1/payments/checkout', {
    key,
    body: { amount_usd: amountUsd },
  })
  await fetch(`${body.checkout_url}/pay`, { method: 'POST' })
}

async function amounts(query = ''): Promise<number[]> {
  const { status, body } = await gateway.request('GET', PAYMENTS + query)
  expect(status).toBe(200)
  expect(body.total).toBe(body.payments.length)
  return body.payments.map(({ amount_usd: amountUsd }: { amount_usd: number }) => amountUsd)
}

describe('the payments of all accounts', () => {
  test('200: are listed newest first, each with its account', async () => {
    const { body } = await gateway.request('GET', PAYMENTS)
    expect(body.data).toMatchObject([
      { kind: 'adjustment', amount_usd: 2, account_id: bob.accountId, account_name: 'Ada', reason: 'thanks' },
      { kind: 'checkout', amount_usd: 9, status: 'completed', account_id: bob.accountId },
      { kind: 'checkout', amount_usd: 7, status: 'pending', account_id: ada.accountId },
      { kind: 'checkout', amount_usd: 5, status: 'completed', account_id: ada.accountId },
    ])
  })

  test('200: can be filtered by account, kind, status and time, all together', async () => {
    expect(await amounts(`?account_id=${ada.accountId}`)).toEqual([7, 5])
    expect(await amounts('?status=completed')).toEqual([2, 9, 5])
    expect(await amounts('?kind=checkout')).toEqual([9, 7, 5])
    expect(await amounts(`?kind=checkout&status=completed&account_id=${bob.accountId}`)).toEqual([9])
    const { body } = await gateway.request('GET', PAYMENTS)
    const [, second, third] = body.data
    expect(await amounts(`?since=${second.created_at}`)).toEqual([2, 9])
    expect(await amounts(`?until=${second.created_at}`)).toEqual([7, 5])
    expect(await amounts(`?since=${third.created_at}&until=${second.created_at}`)).toEqual([7])
    expect(await amounts('?account_id=01890000-0000-7000-8000-000000000000')).toEqual([])
  })

  test('200: pages by cursor, and the filter holds for each page', async () => {
    const first = await gateway.request('GET', `${PAYMENTS}?limit=1&status=completed`)
    expect(first.body).toMatchObject({ total: 3, has_more: true, data: [{ amount_usd: 2 }] })
    const after = `&after=${first.body.next_cursor}`
    const second = await gateway.request('GET', `${PAYMENTS}?limit=2&status=completed${after}`)
    expect(second.body).toMatchObject({ has_more: false, data: [{ amount_usd: 9 }, { amount_usd: 5 }] })
  })

  test('200: all that match are a file too, of one account and of all, and only its own for an account', async () => {
    const read = async (path: string, key?: string): Promise<string[][]> => {
      const answer = await gateway.fetch('GET', `${path}format=csv`, key === undefined ? {} : { key })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
      return (await answer.text())
        .trim()
        .split('\r\n')
        .map((line) => line.split(','))
    }
    const all = await read(`${PAYMENTS}?status=completed&`)
    expect(all.map((line) => line[5])).toEqual(['amount_usd', '2', '9', '5'])
    expect(all.map((line) => line.at(-2))).toEqual([
      'account_id',
      bob.accountId,
      bob.accountId,
      ada.accountId,
    ])
    const ofAda = ['amount_usd', '7', '5']
    expect((await read(`/v1/admin/accounts/${ada.accountId}/payments?`)).map((line) => line[5])).toEqual(
      ofAda,
    )
    expect((await read('/v1/payments/history?', ada.key)).map((line) => line[5])).toEqual(ofAda)
  })

  test.each([
    ['account_id=ada', 'account_id'],
    ['status=paid', 'status'],
    ['kind=gift', 'kind'],
    ['since=yesterday', 'since'],
    ['since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z', 'since'],
    ['after=1', 'after'],
    ['limit=0', 'limit'],
  ])('400: %s', async (query, param) => {
    const { status, body } = await gateway.request('GET', `${PAYMENTS}?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('403: an account does not see them', async () => {
    expect((await gateway.request('GET', PAYMENTS, { key: ada.key })).status).toBe(403)
  })
})
