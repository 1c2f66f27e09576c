import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import type { Database } from '../src/storage/database.ts'
import { joinAccount } from './organization/join-account.ts'
import { createKey, createStranger, signIn } from './sessions/sign-in.ts'
import { eventually } from './support/eventually.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const KEYS = '/v1/tenants/me/api-keys'
const EMBEDDING = { model: 'text-embedding-3-small', input: 'tea' }

let gateway: TestGateway
let other: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway()
  // A second process on the same database.
  const { connectionString } = gateway
  other = await startTestGateway({ connectionString })
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
})

afterAll(async () => {
  await database.close()
  await other.close()
  await gateway.close()
})

const make = async (body: object = {}, key = gateway.key) =>
  (await gateway.request('POST', KEYS, { key, body })).body
const rotate = (id: string, body: object = {}, key = gateway.key) =>
  gateway.request('POST', `${KEYS}/${id}/rotate`, { key, body })
const use = async (key: string, at = gateway) =>
  (await at.request('POST', '/v1/embeddings', { key, body: EMBEDDING })).status
const read = async (id: string) => (await gateway.request('GET', `${KEYS}/${id}`)).body

describe('a rotated key', () => {
  test('keeps its id, rights and limits, and both secrets work as one key until the overlap ends', async () => {
    const made = await make({ name: 'CI', limit_usd: 5, allowed_models: ['text-embedding-3-small'] })
    expect(await use(made.key)).toBe(200)
    const { status, body } = await rotate(made.id, { overlap_seconds: 3600 })
    const { key, former_key: former, ...rotated } = body
    const { key: _, ...before } = made
    expect([status, key]).toEqual([200, expect.stringMatching(/^pk-dev-\w+$/)])
    expect(key).not.toBe(made.key)
    expect(rotated).toEqual({
      ...before,
      key_prefix: expect.stringMatching(/^pk-dev-/),
      last_used_at: rotated.last_used_at,
      spent_usd: rotated.spent_usd,
    })
    expect(former.key_prefix).toBe(before.key_prefix)
    expect((Date.parse(former.ends_at) - Date.now()) / 1000).toBeGreaterThan(3500)
    for (const secret of [made.key, key])
      for (const at of [gateway, other]) expect(await use(secret, at)).toBe(200)
    const log = await gateway.request('GET', `/v1/requests?key=${made.id}`)
    expect(log.body.data).toHaveLength(5)
    expect((await read(made.id)).spent_usd).toBeCloseTo(5 * log.body.data[0].cost_usd, 9)
  })

  test('refuses the former secret from the end of the overlap on, and shows it no more', async () => {
    const made = await make()
    const { body } = await rotate(made.id, { overlap_seconds: 1 })
    for (const at of [gateway, other]) await eventually(async () => expect(await use(made.key, at)).toBe(401))
    expect(await use(body.key)).toBe(200)
    expect(await read(made.id)).not.toHaveProperty('former_key')
  })

  test('refuses the former secret at once without an overlap, in every process', async () => {
    const made = await make()
    for (const at of [gateway, other]) expect(await use(made.key, at)).toBe(200)
    const { body } = await rotate(made.id, { overlap_seconds: 0 })
    expect(body).not.toHaveProperty('former_key')
    expect([await use(made.key), await use(made.key, other)]).toEqual([401, 401])
    expect([await use(body.key), await use(body.key, other)]).toEqual([200, 200])
  })

  test('has one former secret: another rotation ends the one before', async () => {
    const made = await make()
    const second = (await rotate(made.id)).body
    // A request that is repeated must not end the secret in use.
    const repeated = await rotate(made.id)
    expect([repeated.status, repeated.body.error.message]).toEqual([
      409,
      expect.stringContaining('end_former'),
    ])
    expect(await Promise.all([made, second].map(({ key }) => use(key)))).toEqual([200, 200])
    const third = (await rotate(made.id, { end_former: true })).body
    expect(third.former_key.key_prefix).toBe(second.key_prefix)
    expect(await Promise.all([made, second, third].map(({ key }) => use(key)))).toEqual([401, 200, 200])
  })

  test('ends with both secrets, when it expires or is revoked', async () => {
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    const made = await make({ expires_at: expires })
    const { body } = await rotate(made.id, { overlap_seconds: 86_400 })
    expect([body.expires_at, body.former_key.ends_at]).toEqual([expires, expires])
    await gateway.request('DELETE', `${KEYS}/${made.id}`)
    expect([await use(made.key), await use(body.key)]).toEqual([401, 401])
    expect((await rotate(made.id)).status).toBe(409)
  })

  test('gives nobody rights that they lack', async () => {
    const made = await make()
    const inference = await make({ scopes: ['inference'] })
    const limited = await make({ limit_usd: 1 })
    const { body: list } = await gateway.request('GET', `${KEYS}?limit=100`)
    const root = list.data.find(({ name }: { name: string }) => name === 'bootstrap') ?? list.data.at(-1)
    const plain = await make()
    expect((await rotate(made.id, {}, inference.key)).status).toBe(403)
    expect((await rotate(made.id, {}, limited.key)).status).toBe(403)
    expect((await rotate(root.id, {}, plain.key)).status).toBe(403)
    expect((await rotate(made.id, {}, await createStranger(gateway))).status).toBe(404)
    expect((await rotate(limited.id, {}, limited.key)).status).toBe(200)
    expect(await use(made.key)).toBe(200)
  })

  test('is rotated by its person only, if it has one', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const person = await joinAccount(gateway, { email, role: 'owner' })
    const own = (await person.request('POST', KEYS, { name: 'laptop' })).body
    expect((await rotate(own.id)).status).toBe(403)
    expect((await person.request('POST', `${KEYS}/${own.id}/rotate`, {})).status).toBe(200)
  })

  test('ends sessions that began with the former secret, and not the one that rotates it', async () => {
    const made = await createKey(gateway)
    const { ask } = await signIn(gateway, made.key)
    const tooSoon = await ask('POST', `${KEYS}/${made.id}/rotate`, { overlap_seconds: 0 })
    expect([tooSoon.status, tooSoon.body.error.param]).toEqual([400, 'overlap_seconds'])
    expect((await ask('POST', `${KEYS}/${made.id}/rotate`, {})).status).toBe(200)
    expect((await ask('GET', '/v1/tenants/me')).status).toBe(200)
    await rotate(made.id, { overlap_seconds: 0, end_former: true })
    expect((await ask('GET', '/v1/tenants/me')).status).toBe(401)
  })

  test('is not rotated with its former secret, which gives no session beyond its end', async () => {
    const made = await make()
    const { body } = await rotate(made.id, { overlap_seconds: 3600 })
    const taken = await rotate(made.id, { end_former: true }, made.key)
    expect([taken.status, taken.body.error.code]).toEqual([403, 'forbidden'])
    const { ask } = await signIn(gateway, made.key)
    const [session] = await database.query<{ expires_at: Date }>(
      'SELECT expires_at FROM sessions WHERE key_id = $1',
      [made.id],
    )
    expect(session?.expires_at.toISOString()).toBe(body.former_key.ends_at)
    await rotate(made.id, { overlap_seconds: 0, end_former: true }, body.key)
    expect((await ask('GET', '/v1/tenants/me')).status).toBe(401)
  })

  test('is rotated in a session only if the key was entered in the last minutes', async () => {
    const made = await createKey(gateway)
    const { ask } = await signIn(gateway, made.key)
    const hourAgo = `UPDATE sessions SET confirmed_at = now() - interval '1 hour' WHERE key_id = $1`
    await database.query(hourAgo, [made.id])
    const other = await make()
    const refused = await ask('POST', `${KEYS}/${other.id}/rotate`, {})
    expect([refused.status, refused.body.error.code]).toEqual([403, 'confirmation_required'])
  })

  test.each([
    { overlap_seconds: -1 },
    { overlap_seconds: 2_592_001 },
    { overlap_seconds: '1' },
    { overlap: 1 },
  ])('is not rotated with %j', async (body) => {
    const made = await make()
    expect((await rotate(made.id, body)).status).toBe(400)
    expect(await use(made.key)).toBe(200)
  })
})
