import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createAccount } from './accounts.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

const ask = (key: string, model: string) =>
  gateway.request('POST', '/v1/chat/completions', {
    key,
    body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 },
  })

/** Dollars as nano-dollars, because sums of floats are not exact. */
const nano = (usd: string | number): number => Math.round(Number(usd) * 1e9)

test('an account lists its movements with the balance after each and what charges are for, and operators see the same', async () => {
  const { key, keyId, accountId } = await createAccount(gateway, { creditUsd: 1 })
  await ask(key, 'gpt-4o-mini')
  await gateway.request('GET', '/v1/ledger', { key })
  await ask(key, 'gpt-4o')
  const { status, body } = await gateway.request('GET', '/v1/ledger?limit=2', { key })
  expect([status, body.total, body.has_more]).toEqual([200, 3, true])
  const [last, middle] = body.data
  expect(last).toMatchObject({ kind: 'charge', charges: [{ model: 'gpt-4o', key_id: keyId, requests: 1 }] })
  expect(last.charges[0]).toMatchObject({ project_name: 'Default', amount_usd: -last.amount_usd })
  expect(nano(last.balance_usd) - nano(last.amount_usd)).toBe(nano(middle.balance_usd))
  const { body: rest } = await gateway.request('GET', `/v1/ledger?after=${body.next_cursor}`, { key })
  expect(rest.data).toMatchObject([{ kind: 'grant', amount_usd: 1, balance_usd: 1, charges: null }])
  const { body: seen } = await gateway.request('GET', `/v1/admin/accounts/${accountId}/ledger`)
  expect(seen.data).toEqual([...body.data, ...rest.data])
  const { body: tenant } = await gateway.request('GET', '/v1/tenants/me', { key })
  expect(tenant.balance_usd).toBe(last.balance_usd)
})

test('all movements are a file, whose amounts add up to the balance', async () => {
  const { key } = await createAccount(gateway, { creditUsd: 1 })
  await Promise.all(['gpt-4o', 'gpt-4o-mini', 'gpt-4o'].map((model) => ask(key, model)))
  const response = await gateway.fetch('GET', '/v1/ledger?format=csv', { key })
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head = '', ...lines] = (await response.text()).trim().split('\r\n')
  const columns = head.split(',')
  const rows = lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at], cell])))
  expect(rows.reduce((sum, { amount_usd: amount }) => sum + nano(amount ?? ''), 0)).toBe(
    nano(rows[0]?.balance_usd ?? ''),
  )
  for (const [at, row] of rows.entries())
    expect(nano(row.balance_usd ?? '') - nano(row.amount_usd ?? '')).toBe(
      nano(rows[at + 1]?.balance_usd ?? '0'),
    )
  expect(rows.at(-1)).toMatchObject({ kind: 'grant', model: '', balance_usd: '1' })
})

test.each([
  ['kind', 'kind=gift'],
  ['after', 'after=none'],
  ['since', 'since=soon'],
  ['since', 'since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z'],
  ['format', 'format=pdf'],
])('400 names %s in ?%s', async (param, query) => {
  const { status, body } = await gateway.request('GET', `/v1/ledger?${query}`)
  expect([status, body.error.param]).toEqual([400, param])
})

test('403 for a key that may not manage, and a cursor of another account lists nothing', async () => {
  const plain = await createAccount(gateway, { scopes: ['inference'] })
  expect((await gateway.request('GET', '/v1/ledger', { key: plain.key })).status).toBe(403)
  const [one, other] = [
    await createAccount(gateway, { creditUsd: 1 }),
    await createAccount(gateway, { creditUsd: 1 }),
  ]
  const { body } = await gateway.request('GET', '/v1/ledger', { key: one.key })
  const answer = await gateway.request('GET', `/v1/ledger?after=${body.data[0].id}`, { key: other.key })
  expect(answer.body.data).toEqual([])
})
