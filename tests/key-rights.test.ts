import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from './support/start-test-gateway.ts'

const KEYS = '/v1/tenants/me/api-keys'
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello there.' }], max_tokens: 20 }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

interface MadeKey {
  readonly id: string
  readonly key: string
}

/** Creates an account with a root key and a second key with these restrictions. */
async function startAccount(
  restrictions: Record<string, unknown>,
): Promise<{ root: MadeKey; manager: MadeKey; accountId: string }> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'Ada', credit_usd: 10 },
  })
  const { body: root } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`)
  const { status, body: manager } = await gateway.request('POST', KEYS, { key: root.key, body: restrictions })
  expect(status).toBe(201)
  return { root, manager, accountId: account.id }
}

function create({ key }: MadeKey, body: Record<string, unknown> = {}): Promise<TestAnswer> {
  return gateway.request('POST', KEYS, { key, body })
}

function change({ key }: MadeKey, { id }: MadeKey, body: Record<string, unknown>): Promise<TestAnswer> {
  return gateway.request('PATCH', `${KEYS}/${id}`, { key, body })
}

function chat({ key }: MadeKey): Promise<TestAnswer> {
  return gateway.request('POST', '/v1/chat/completions', { key, body: CHAT })
}

const FUTURE = '2098-01-01T00:00:00.000Z'
const LATER = '2099-01-01T00:00:00.000Z'

describe.each([
  ['limit_usd', 5, 4, 6],
  ['requests_per_minute', 5, 4, 6],
  ['expires_at', FUTURE, '2097-01-01T00:00:00.000Z', LATER],
  ['allowed_models', ['gpt-4o-mini', 'gpt-4o'], ['gpt-4o'], ['gpt-4o-mini', 'o3']],
])('a key restricted by %s', (field, own, less, more) => {
  test('201: passes it on, or less of it', async () => {
    const { manager } = await startAccount({ [field]: own })
    expect((await create(manager)).body[field]).toEqual(own)
    expect((await create(manager, { [field]: less })).body[field]).toEqual(less)
  })

  test.each([['more', more] as const, ['no limit', null] as const])(
    '403: grants no key %s, including itself',
    async (_what, value) => {
      const { manager } = await startAccount({ [field]: own })
      const child: MadeKey = (await create(manager, { [field]: less })).body
      for (const answer of [
        await create(manager, { [field]: value }),
        await change(manager, manager, { [field]: value }),
        await change(manager, child, { [field]: value }),
        await change(child, child, { [field]: own }),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
      }
      expect((await change(manager, child, { [field]: own })).status).toBe(200)
    },
  )

  test('200: the root key and an operator can remove it', async () => {
    const { root, manager } = await startAccount({ [field]: own })
    expect((await change(root, manager, { [field]: null })).body[field]).toBe(null)
    expect((await create(manager)).body[field]).toBe(null)
    // The root key can remove a restriction that it set for itself.
    await change(root, root, { [field]: own })
    expect((await change(root, root, { [field]: null })).body[field]).toBe(null)
  })

  test('403: changes and revokes no key of others', async () => {
    const { root, manager } = await startAccount({ [field]: own })
    const other: MadeKey = (await create(root, { [field]: less, scopes: ['inference'] })).body
    for (const target of [root, other]) {
      expect((await change(manager, target, { name: 'mine' })).status).toBe(403)
      const revoked = await gateway.request('DELETE', `${KEYS}/${target.id}`, { key: manager.key })
      expect(revoked.status).toBe(403)
    }
    const own1: MadeKey = (await create(manager)).body
    expect((await gateway.request('DELETE', `${KEYS}/${own1.id}`, { key: manager.key })).status).toBe(200)
    expect((await gateway.request('DELETE', `${KEYS}/${manager.id}`, { key: manager.key })).status).toBe(200)
  })
})

test('403: a restricted key cannot name another environment, and the root key can', async () => {
  const { root, manager } = await startAccount({ limit_usd: 5 })
  expect((await create(manager, { env: 'live' })).status).toBe(403)
  expect((await create(root, { env: 'test' })).body.env).toBe('test')
})

test('403: a key created by a restricted key cannot create keys', async () => {
  const { manager } = await startAccount({ limit_usd: 5 })
  const child: MadeKey = (await create(manager)).body
  expect((await create(child)).status).toBe(403)
})

test('the first key of an account is not a root key if the operator restricted it', async () => {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Ada' } })
  const { body: first } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { limit_usd: 5 },
  })
  expect((await change(first, first, { limit_usd: null })).status).toBe(403)
})

test('a spend limit applies to a key and all keys it creates together', async () => {
  const { root } = await startAccount({})
  const costOf = ({ status, body }: TestAnswer): number => (status === 200 ? Number(body.usage.cost_usd) : 0)
  const costUsd = costOf(await chat(root))
  expect(costUsd).toBeGreaterThan(0)
  const limitUsd = Number((3 * costUsd).toFixed(9))
  const limited: MadeKey = (await create(root, { limit_usd: limitUsd })).body
  const answers: TestAnswer[] = []
  for (let count = 0; count < 8; count += 1) answers.push(await chat((await create(limited)).body))
  answers.push(await chat(limited))
  expect(answers.map(costOf).reduce((sum, cost) => sum + cost, 0)).toBeLessThanOrEqual(limitUsd + 1e-12)
  expect(answers.at(-1)?.status).toBe(402)
})

test('a rate applies to a key and all keys it creates together', async () => {
  const { manager } = await startAccount({ requests_per_minute: 3 })
  const children: MadeKey[] = []
  for (let count = 0; count < 3; count += 1) children.push((await create(manager)).body)
  const statuses = await Promise.all(
    [...children, ...children, manager, manager].map(async (child) => (await chat(child)).status),
  )
  expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  expect(statuses.filter((status) => status === 429)).toHaveLength(5)
})
