import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../src/storage/connection/connect-database.ts'
import type { Database } from '../src/storage/database.ts'
import { sweepSavedChats } from '../src/modules/saved-chats/saved-chats.ts'
import { createProject, createProjectKey, joinAccount } from './organization/join-account.ts'
import { createKey, createStranger, failureOf } from './sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const AT = '/v1/saved-chats'
const CONTENT = {
  model: 'gpt-4o-mini',
  parameters: { system: 'Answer in rhymes.' },
  messages: [{ role: 'user', content: 'A secret of the house' }],
}

let gateway: TestGateway
let database: Database
beforeAll(async () => {
  gateway = await startTestGateway()
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const save = async (members: object = {}, key: string = gateway.key) =>
  (await gateway.request('POST', AT, { key, body: { name: 'Rhymes', content: CONTENT, ...members } })).body
const idsOf = async (key: string, query = '') =>
  (await gateway.request('GET', `${AT}${query}`, { key })).body.data.map(({ id }: { id: string }) => id)
const copy = (id: string, times: number) =>
  database.query(
    `INSERT INTO parkway.saved_chats SELECT account_id, gen_random_uuid(), project_id, owner_id, user_id, kind, is_shared, name,
       content, created_at, updated_at, expires_at FROM parkway.saved_chats, generate_series(1, $2) WHERE id = $1`,
    [id, times],
  )

describe('a saved chat', () => {
  test('comes back as it was saved, and the database has nothing of it in clear', async () => {
    const saved = await save()
    expect(saved).toMatchObject({ kind: 'prompt', visibility: 'private', is_own: true, expires_at: null })
    const { body } = await gateway.request('GET', `${AT}/${saved.id}`)
    expect([body.name, body.content]).toEqual(['Rhymes', CONTENT])
    const rows = await database.query(
      'SELECT row_to_json(saved_chats)::text AS text FROM parkway.saved_chats',
    )
    const hex = Buffer.from('Rhymes').toString('hex')
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`Rhymes|secret|${hex}`))
  })

  test('is changed and deleted by who saved it, in the name, the visibility or the content', async () => {
    const { id } = await save()
    const changed = await gateway.request('PATCH', `${AT}/${id}`, {
      body: { name: 'Other', visibility: 'project' },
    })
    expect(changed.body).toMatchObject({ name: 'Other', visibility: 'project' })
    await gateway.request('PATCH', `${AT}/${id}`, { body: { content: { messages: [] } } })
    expect((await gateway.request('GET', `${AT}/${id}`)).body).toMatchObject({
      name: 'Other',
      content: { messages: [] },
    })
    expect((await gateway.request('DELETE', `${AT}/${id}`)).status).toBe(200)
    expect(failureOf(await gateway.request('GET', `${AT}/${id}`))).toEqual([404, 'not_found'])
  })

  test('belongs to the person over all their keys and sessions, and to nobody else until it is shared', async () => {
    const [ada, alan] = [
      await joinAccount(gateway, { email: 'ada@example.com', role: 'owner' }),
      await joinAccount(gateway, { email: 'alan@example.com', role: 'owner' }),
    ]
    const { id } = (await ada.request('POST', AT, { name: 'Rhymes', content: CONTENT })).body
    const made = await ada.request('POST', '/v1/tenants/me/api-keys', { name: 'program' })
    expect((await gateway.request('GET', `${AT}/${id}`, { key: made.body.key })).body.is_own).toBe(true)
    for (const method of ['GET', 'DELETE'])
      expect(failureOf(await alan.request(method, `${AT}/${id}`))).toEqual([404, 'not_found'])
    expect((await alan.request('GET', AT)).body.data).toEqual([])
    await ada.request('PATCH', `${AT}/${id}`, { visibility: 'project' })
    expect((await alan.request('GET', AT)).body.data).toMatchObject([{ id, is_own: false }])
    expect((await alan.request('GET', `${AT}/${id}`)).body.content).toEqual(CONTENT)
    const { key } = await createKey(gateway, { scopes: ['inference'] })
    expect(failureOf(await gateway.request('DELETE', `${AT}/${id}`, { key }))).toEqual([403, 'forbidden'])
    const changed = await alan.request('PATCH', `${AT}/${id}`, { name: 'Mine' })
    expect(failureOf(changed)).toEqual([403, 'forbidden'])
    const stranger = await createStranger(gateway)
    expect(await idsOf(stranger)).toEqual([])
    // Alan manages the project.
    expect((await alan.request('DELETE', `${AT}/${id}`)).status).toBe(200)
  })

  test('one of another project is not found, though it is shared', async () => {
    const key = await createProjectKey(gateway, await createProject(gateway, 'Other'))
    const { id } = await save({ visibility: 'project' }, key)
    expect(await idsOf(key)).toEqual([id])
    const shared = await save({ visibility: 'project' })
    expect(failureOf(await gateway.request('GET', `${AT}/${shared.id}`, { key }))).toEqual([404, 'not_found'])
  })
})

describe('what is kept is bounded', () => {
  test('content above 256 KiB is refused', async () => {
    const content = { messages: [{ text: 'x'.repeat(256 * 1024) }] }
    const refused = await gateway.request('POST', AT, { body: { name: 'Long', content } })
    expect(failureOf(refused)).toEqual([400, 'invalid_value'])
  })

  test('a further conversation deletes the oldest of the person, a further prompt is refused', async () => {
    const { key } = await createKey(gateway, { scopes: ['inference'] })
    const first = await save({ kind: 'conversation' }, key)
    expect(Date.parse(first.expires_at)).toBeGreaterThan(Date.parse(first.created_at))
    const prompt = await save({}, key)
    for (const { id } of [first, prompt]) await copy(id, 199)
    await database.query(
      "UPDATE parkway.saved_chats SET updated_at = now() - interval '1 day' WHERE id = $1",
      [first.id],
    )
    await save({ kind: 'conversation' }, key)
    expect((await gateway.request('GET', `${AT}?kind=conversation`, { key })).body.total).toBe(200)
    expect((await gateway.request('GET', `${AT}/${first.id}`, { key })).status).toBe(404)
    const refused = await gateway.request('POST', AT, { key, body: { name: 'One more', content: CONTENT } })
    expect(failureOf(refused)).toEqual([409, 'conflict'])
  })

  test('those who save at once get no more prompts than one after the other', async () => {
    const { key } = await createKey(gateway, { scopes: ['inference'] })
    const { id } = await save({}, key)
    await copy(id, 198)
    const body = { name: 'At once', content: CONTENT }
    const saving = Array.from({ length: 6 }, () => gateway.request('POST', AT, { key, body }))
    const statuses = (await Promise.all(saving)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409])
  })

  test('a person has a quarter of the room of the account, and changes what takes it', async () => {
    const [{ key }, other] = [
      await createKey(gateway, { scopes: ['inference'] }),
      await createKey(gateway, { scopes: ['inference'] }),
    ]
    const { id } = await save({}, key)
    await database.query(
      `UPDATE parkway.saved_chats SET content = decode(repeat('00', 16 * 1024 * 1024 - 50), 'hex') WHERE id = $1`,
      [id],
    )
    const refused = await gateway.request('POST', AT, { key, body: { name: 'More', content: CONTENT } })
    expect(failureOf(refused)).toEqual([409, 'conflict'])
    expect(refused.body.error.message).toContain('You keep 16 MiB')
    expect(await save({}, other.key)).toMatchObject({ is_own: true })
    const changed = await gateway.request('PATCH', `${AT}/${id}`, { key, body: { content: CONTENT } })
    expect(changed.status).toBe(200)
  })

  test('lists are read page by page, each entry once', async () => {
    const { key } = await createKey(gateway, { scopes: ['inference'] })
    const saved = [await save({}, key), await save({}, key), await save({ kind: 'conversation' }, key)]
    const mine = new Set(saved.map(({ id }) => id))
    const seen: string[] = []
    for (let after: string | null = null; ;) {
      const { body } = await gateway.request(
        'GET',
        `${AT}?limit=2${after === null ? '' : `&after=${after}`}`,
        { key },
      )
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      after = body.next_cursor
      if (after === null) break
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((id) => mine.has(id))).toHaveLength(3)
    expect(await idsOf(key, '?kind=conversation')).toContain(saved[2].id)
    expect(await idsOf(key, '?kind=conversation')).not.toContain(saved[0].id)
  })
})

test('what a revoked key kept for itself is deleted, and not what it shared or others keep', async () => {
  const [{ id: keyId, key }, other] = [
    await createKey(gateway, { scopes: ['inference'] }),
    await createKey(gateway, { scopes: ['inference'] }),
  ]
  const [own, shared, ofOther] = [
    await save({}, key),
    await save({ visibility: 'project' }, key),
    await save({}, other.key),
  ]
  const person = await joinAccount(gateway, { email: 'edith@example.com', role: 'owner' })
  const { id: ofPerson } = (await person.request('POST', AT, { name: 'Kept', content: CONTENT })).body
  await gateway.request('DELETE', `/v1/tenants/me/api-keys/${keyId}`)
  await sweepSavedChats(database)
  const asked = [own.id, shared.id, ofOther.id, ofPerson]
  const rows = await database.query<{ id: string }>(
    'SELECT id FROM parkway.saved_chats WHERE id = ANY ($1::uuid[])',
    [asked],
  )
  const left = new Set(rows.map(({ id }) => id))
  expect(asked.map((id) => left.has(id))).toEqual([false, true, true, true])
})

test('zero data retention deletes what was kept, and keeps nothing', async () => {
  const key = await createStranger(gateway)
  const { id } = await save({}, key)
  const set = (type: string) =>
    gateway.request('POST', '/v1/organization/data_retention', { key, body: { retention_type: type } })
  expect((await set('zero_data_retention')).status).toBe(200)
  expect(failureOf(await gateway.request('GET', `${AT}/${id}`, { key }))).toEqual([404, 'not_found'])
  const refused = await gateway.request('POST', AT, { key, body: { name: 'Again', content: CONTENT } })
  expect(failureOf(refused)).toEqual([409, 'conflict'])
})
