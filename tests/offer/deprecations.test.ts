import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import { addModel, askModel, createOther, MODELS } from './offered-model.ts'

const DAY_MS = 86_400_000
const ADMIN = '/v1/admin/deprecations'
const OWN = '/v1/deprecations'
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
const OLD = { deprecated_from: inDays(-2), shutdown_at: inDays(20), successor: 'heir' }

let gateway: ChatGateway
let other: string

beforeAll(async () => {
  gateway = await startChatGateway({ models: [modelEntry('heir', [{ provider: 'openai', model: 'm' }])] })
  gateway.upstream.respondWith(async () => completion())
  other = await createOther(gateway)
  await addModel(gateway, 'old', OLD)
  await addModel(gateway, 'soon', { shutdown_at: inDays(60), successor: 'heir', successor_answers: true })
  await addModel(gateway, 'later', { shutdown_at: inDays(200) })
  for (const [model, key] of [
    ['old', undefined],
    ['old', undefined],
    ['old', other],
    ['heir', other],
  ] as const)
    expect((await askModel(gateway, model, key)).status).toBe(200)
})
afterAll(() => gateway.close())

const read = async (path: string, key?: string) => {
  const { status, body } = await gateway.request('GET', path, key === undefined ? {} : { key })
  expect([path, status]).toEqual([path, 200])
  return body
}

/** Without those of the built-in catalog. */
const addedOf = (body: { data: { id: string; vendor: string }[] }) =>
  body.data.filter(({ vendor }) => vendor === 'Test')

test('operators see which models end, and how much they are still used, the next one first', async () => {
  const [old, soon, ...rest] = addedOf(await read(`${ADMIN}?limit=100`))
  expect(rest).toEqual([])
  expect(old).toMatchObject({
    id: 'old',
    state: 'deprecated',
    ...OLD,
    successor_answers: false,
    source: 'database',
    requests: 3,
    accounts_count: 2,
    keys_count: 2,
    last_used_at: expect.stringMatching(/:00:00\.000Z$/),
  })
  expect(soon).toMatchObject({ id: 'soon', state: 'announced', requests: 0, last_used_at: null })
  expect(soon).toMatchObject({ successor_answers: true })
  const ahead = addedOf(await read(`${ADMIN}?limit=100&ahead_days=365`))
  expect(ahead.map(({ id }) => id)).toEqual(['old', 'soon', 'later'])
  expect((await read(`${ADMIN}?used=true`)).data.map(({ id }: { id: string }) => id)).toEqual(['old'])
})

test('the list comes in pages, and so do the keys of a model with their accounts', async () => {
  const all = await read(`${ADMIN}?ahead_days=730&limit=100`)
  const first = await read(`${ADMIN}?ahead_days=730&limit=1`)
  expect([first.total, first.has_more]).toEqual([all.total, true])
  const second = await read(`${ADMIN}?ahead_days=730&limit=1&after=${first.next_cursor}`)
  expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 2))

  const keys = await read(`${ADMIN}/old/keys?limit=1`)
  expect(keys.data).toMatchObject([
    { key: { id: (await read('/v1/tenants/me')).key.id, is_revoked: false }, requests: 2 },
  ])
  const { data, has_more: hasMore } = await read(`${ADMIN}/old/keys?limit=1&after=${keys.next_cursor}`)
  const { id, name, key } = await read('/v1/tenants/me', other)
  expect([data.length, hasMore]).toEqual([1, false])
  expect(data[0]).toMatchObject({ account: { id, name }, key: { id: key.id }, requests: 1 })
  expect(data[0].cost_usd).toBeGreaterThan(0)
  expect(await read(`${ADMIN}/soon/keys`)).toMatchObject({ data: [], has_more: false, next_cursor: null })
})

test('an account sees its own use, and nothing of others', async () => {
  const { key } = await read('/v1/tenants/me', other)
  const { data } = await read(OWN, other)
  expect(data).toMatchObject([
    { id: 'old', requests: 1, keys_count: 1, keys: [{ key: { id: key.id }, requests: 1 }] },
  ])
  expect(JSON.stringify(data)).not.toContain((await read('/v1/tenants/me')).key.id)
  expect((await read('/v1/usage/today', other)).deprecated_models).toEqual(['old'])
  for (const path of [ADMIN, `${ADMIN}/old/keys`])
    expect((await gateway.request('GET', path, { key: other })).status).toBe(403)
})

test('a key that may not read usage sees only what it did itself', async () => {
  const { body: weak } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'weak', env: 'dev', scopes: ['inference'] },
  })
  expect((await read(OWN, weak.key)).data).toEqual([])
  expect((await askModel(gateway, 'old', weak.key)).status).toBe(200)
  expect((await read(OWN, weak.key)).data).toMatchObject([{ id: 'old', requests: 1, keys_count: 1 }])
  const { data } = await read(OWN)
  expect(data[0].keys.map(({ key: { name } }: { key: { name: string } }) => name)).toContain('weak')
})

test('a model that has ended stays in the list while its last use is recent', async () => {
  await addModel(gateway, 'gone', OLD)
  expect((await askModel(gateway, 'gone')).status).toBe(200)
  const ended = { deprecated_from: inDays(-9), shutdown_at: inDays(-1) }
  expect((await gateway.request('PATCH', `${MODELS}/gone`, { body: ended })).status).toBe(200)
  expect(addedOf(await read(`${ADMIN}?limit=100`))).toContainEqual(
    expect.objectContaining({ id: 'gone', state: 'ended', requests: 1 }),
  )
  await addModel(gateway, 'never-used', { ...ended, successor: 'heir' })
  expect(JSON.stringify(await read(`${ADMIN}?limit=100`))).not.toContain('never-used')
})

test.each([
  [`${ADMIN}?days=0`, 400],
  [`${ADMIN}?days=93`, 400],
  [`${ADMIN}?ahead_days=-1`, 400],
  [`${ADMIN}?after=nobody`, 400],
  [`${ADMIN}/old/keys?after=7_nobody`, 400],
  [`${ADMIN}/nobody/keys`, 404],
  [`${OWN}?days=0`, 400],
])('%s answers %i', async (path, status) => {
  expect((await gateway.request('GET', path)).status).toBe(status)
})
