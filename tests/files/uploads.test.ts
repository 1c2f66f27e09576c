import { createHash } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { createFiles } from '../../src/modules/files/files.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createFilesystemStore } from '../../src/storage/media-store/filesystem-store.ts'
import { noQuota } from '../../src/storage/stored-bytes/stored-bytes.ts'
import { limitEverybody } from '../limits/gateways.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { createStranger } from '../sessions/sign-in.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const AT = '/v1/uploads'
const BYTES_MAX = 100_000

let gateway: TestGateway
let client: OpenAI
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway({ settings: limitEverybody({ file_bytes_max: BYTES_MAX }) })
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const begin = (bytes: number, key: string = gateway.key, members: object = {}) =>
  gateway.request('POST', AT, {
    key,
    body: { purpose: 'user_data', filename: 'big.txt', bytes, mime_type: 'text/plain', ...members },
  })
const send = async (uploadId: string, data: string, key: string = gateway.key) =>
  gateway.request('POST', `${AT}/${uploadId}/parts`, {
    key,
    body: { data: Buffer.from(data).toString('base64') },
  })
const complete = (uploadId: string, partIds: readonly string[], members: object = {}, key = gateway.key) =>
  gateway.request('POST', `${AT}/${uploadId}/complete`, { key, body: { part_ids: partIds, ...members } })
const cancel = (uploadId: string, key: string = gateway.key) =>
  gateway.request('POST', `${AT}/${uploadId}/cancel`, { key })
const storedOf = async (key: string): Promise<number> =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.stored.file_bytes
const contentOf = (fileId: string, headers: Record<string, string> = {}) =>
  gateway.fetch('GET', `/v1/files/${fileId}/content`, { headers })

test('the OpenAI SDK uploads a file in parts that arrive in any order', async () => {
  const content = Buffer.from('the first part, the second part')
  const upload = await client.uploads.create({
    purpose: 'user_data',
    filename: 'two.txt',
    bytes: content.length,
    mime_type: 'text/plain',
  })
  expect(upload).toMatchObject({
    id: expect.stringMatching(/^upload_[0-9a-f]{32}$/),
    object: 'upload',
    bytes: content.length,
    status: 'pending',
    file: null,
  })
  expect(upload.expires_at - upload.created_at).toBe(3_600)
  const part = async (from: number, to?: number) =>
    client.uploads.parts.create(upload.id, { data: await toFile(content.subarray(from, to), 'part') })
  const second = await part(15)
  const first = await part(0, 15)
  expect(first).toMatchObject({ object: 'upload.part', upload_id: upload.id })
  const { file, status } = await client.uploads.complete(upload.id, {
    part_ids: [first.id, second.id],
    md5: createHash('md5').update(content).digest('hex'),
  })
  expect([status, file?.bytes, file?.filename]).toEqual(['completed', content.length, 'two.txt'])
  const read = await client.files.content(file?.id ?? '')
  expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
  const part1 = await contentOf(file?.id ?? '', { range: 'bytes=10-18' })
  expect([part1.status, await part1.text()]).toEqual([206, content.subarray(10, 19).toString()])
  const other = await client.uploads.create({
    purpose: 'evals',
    filename: 'x',
    bytes: 5,
    mime_type: 'text/csv',
  })
  expect((await client.uploads.cancel(other.id)).status).toBe('cancelled')
})

describe('completing an upload', () => {
  test('the same parts again, also at once, give the same file, and other parts are refused', async () => {
    const { id } = (await begin(6)).body
    const [a, b] = [(await send(id, 'abc')).body.id, (await send(id, 'def')).body.id]
    const answers = await Promise.all([1, 2, 3].map(() => complete(id, [a, b])))
    answers.push(await complete(id, [a, b]))
    expect(new Set(answers.map(({ body }) => body.file.id)).size).toBe(1)
    expect((await complete(id, [b, a])).status).toBe(400)
    const { status, body } = await cancel(id)
    expect([status, body.error.message]).toEqual([400, 'This upload is completed.'])
    await gateway.request('DELETE', `/v1/files/${answers[0]?.body.file.id}`)
    expect((await complete(id, [a, b])).body).toMatchObject({ status: 'completed', file: null })
  })

  test('an upload that is cancelled and completed at once is one of both, and keeps nothing of the other', async () => {
    const key = await createStranger(gateway)
    const { id } = (await begin(3, key)).body
    const part = (await send(id, 'abc', key)).body.id
    const [completed, cancelled] = await Promise.all([complete(id, [part], {}, key), cancel(id, key)])
    expect([completed.status, cancelled.status].toSorted((a, b) => a - b)).toEqual([200, 400])
    expect(await storedOf(key)).toBe(completed.status === 200 ? 3 : 0)
  })

  test.each([
    ['misses bytes', (ids: string[]) => ids.slice(0, 1), {}, 'part_ids'],
    ['names a part twice', (ids: string[]) => [...ids, ...ids], {}, 'part_ids'],
    ['names what is no part', () => ['part_0'], {}, 'part_ids.0'],
    ['has another md5', (ids: string[]) => ids, { md5: '0'.repeat(32) }, 'md5'],
  ])('a completion that %s is refused, and the upload goes on', async (_, choose, members, param) => {
    const { id } = (await begin(6)).body
    const ids = [(await send(id, 'abc')).body.id, (await send(id, 'def')).body.id]
    const refused = await complete(id, choose(ids), members)
    expect([refused.status, refused.body.error.param]).toEqual([400, param])
    expect((await complete(id, ids)).body.status).toBe('completed')
  })

  test('a part of another upload is not taken', async () => {
    const [one, other] = [(await begin(3)).body.id, (await begin(3)).body.id]
    const part = (await send(other, 'abc')).body.id
    expect((await complete(one, [part])).body.error.param).toBe('part_ids.0')
    await cancel(one)
    await cancel(other)
  })
})

test('an upload of another account or project, or one whose hour is over, takes nothing', async () => {
  const { id } = (await begin(3)).body
  const part = (await send(id, 'abc')).body.id
  const stranger = await createStranger(gateway)
  const project = await createProjectKey(gateway, await createProject(gateway))
  for (const key of [stranger, project]) {
    const answers = [await send(id, 'abc', key), await complete(id, [part], {}, key), await cancel(id, key)]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  }
  const uuid = id.slice('upload_'.length)
  await database.query('UPDATE parkway.uploads SET expires_at = now() WHERE id = $1', [uuid])
  for (const answer of [await send(id, 'abc'), await complete(id, [part]), await cancel(id)])
    expect([answer.status, answer.body.error.message]).toEqual([400, 'This upload is expired.'])
})

describe('the quota of files', () => {
  test('has the bytes of an upload from its beginning, until it is cancelled', async () => {
    const key = await createStranger(gateway)
    const { id } = (await begin(60_000, key)).body
    expect(await storedOf(key)).toBe(60_000)
    expect((await begin(60_000, key)).status).toBe(413)
    const file = Buffer.alloc(60_000).toString('base64')
    const body = { purpose: 'user_data', file }
    expect((await gateway.request('POST', '/v1/files', { key, body })).status).toBe(413)
    await cancel(id, key)
    expect(await storedOf(key)).toBe(0)
    expect((await gateway.request('POST', '/v1/files', { key, body })).status).toBe(200)
  })

  test('takes a part that is sent again, and refuses parts far beyond the declared size', async () => {
    const key = await createStranger(gateway)
    const { id } = (await begin(30_000, key)).body
    const data = 'x'.repeat(30_000)
    const [first, again] = [await send(id, data, key), await send(id, data, key)]
    expect([first.status, again.status, await storedOf(key)]).toEqual([200, 200, 60_000])
    expect((await send(id, data, key)).status).toBe(200)
    expect((await send(id, data, key)).status).toBe(413)
    expect((await complete(id, [again.body.id], {}, key)).status).toBe(200)
    expect(await storedOf(key)).toBe(30_000)
  })

  test('refuses a form that cannot fit before its bytes are read', async () => {
    const key = await createStranger(gateway)
    const answer = await gateway.fetch('POST', '/v1/files', {
      key,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: 'not even a form '.repeat(10_000),
    })
    expect(answer.status).toBe(413)
    expect(await storedOf(key)).toBe(0)
  })
})

/** No batch reads a file of these tests. */
const findUse = () => Promise.resolve(null)

test('a part that the store could not remove is not forgotten', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-uploads-test-'))
  const kept = createFilesystemStore({ directory })
  const store: typeof kept = {
    ...kept,
    put: async (...order) => {
      await kept.put(...order)
      throw new Error('the answer was lost')
    },
    delete: () => Promise.reject(new Error('the store is away')),
  }
  const files = createFiles({
    database,
    store,
    clock: systemClock,
    quotaOf: noQuota,
    findUse,
    logger: silentLogger,
  })
  const { id: accountId } = (await gateway.request('GET', '/v1/tenants/me')).body
  const place = { accountId, projectId: null }
  const order = { place, purpose: 'evals', filename: 'x', mimeType: 'x', bytes: 3 } as const
  const upload = await files.uploads.create({ ...order, keyId: accountId, fileExpiresAfterSeconds: null })
  const reservation = await files.uploads.reservePart(place, upload.id, 3)
  const source = Readable.from([Buffer.from('abc')])
  const storing = files.uploads.storePart(place, upload.id, { source, bytes: 3, reservation })
  await expect(storing).rejects.toThrow('the answer was lost')
  await files.uploads.releasePart(reservation.id)
  const find = 'SELECT removing_at IS NOT NULL AS is_left FROM parkway.upload_parts WHERE id = $1'
  expect(await database.query(find, [reservation.id])).toEqual([{ is_left: true }])
  await removeDirectory(directory)
})

test('what belongs to no file is swept: parts of uploads that ended, and those of a deleted file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-uploads-test-'))
  const store = createFilesystemStore({ directory })
  const files = createFiles({
    database,
    store,
    clock: systemClock,
    quotaOf: noQuota,
    findUse,
    logger: silentLogger,
  })
  const { id: accountId } = (await gateway.request('GET', '/v1/tenants/me')).body
  const place = { accountId, projectId: null }
  const order = { place, purpose: 'evals', filename: 'x', mimeType: 'x', bytes: 3 } as const
  const start = () => files.uploads.create({ ...order, keyId: accountId, fileExpiresAfterSeconds: null })
  const add = async (uploadId: string) => {
    const source = Readable.from([Buffer.from('abc')])
    return (await files.uploads.storePart(place, uploadId, { source, bytes: 3 })).id
  }
  const [kept, late] = [await start(), await start()]
  const [part, unused, left] = [await add(kept.id), await add(kept.id), await add(late.id)]
  const completion = { keyId: accountId, partIds: [part], md5: null }
  const { file } = await files.uploads.complete(place, kept.id, completion)
  const cancelled = await start()
  const given = await add(cancelled.id)
  await files.uploads.cancel(place, cancelled.id)
  // Their room is free, and so the store must be.
  expect([await store.exists(unused), await store.exists(given)]).toEqual([false, false])
  await database.query('UPDATE parkway.uploads SET expires_at = now() WHERE id = $1', [late.id])
  await files.sweep()
  const areStored = () => Promise.all([part, unused, left].map((id) => store.exists(id)))
  expect(await areStored()).toEqual([true, false, false])
  expect(file?.bytes).toBe(3)
  await files.delete(place, file?.id ?? '')
  expect(await areStored()).toEqual([false, false, false])
  await removeDirectory(directory)
})

test.each([
  ['a file for a batch above 200 MB', { purpose: 'batch', bytes: 201 * 1024 * 1024 }, 413],
  ['more than 8 GB', { bytes: 8 * 1024 ** 3 + 1 }, 400],
  ['an unknown purpose', { purpose: 'batch_output' }, 400],
  ['no bytes', { bytes: 0 }, 400],
])('an upload of %s is refused', async (_, members, status) => {
  expect((await begin(5, gateway.key, members)).status).toBe(status)
})

test('zero data retention ends uploads and refuses further ones', async () => {
  const key = await createStranger(gateway)
  const { id } = (await begin(3, key)).body
  const body = { retention_type: 'zero_data_retention' }
  expect((await gateway.request('POST', '/v1/organization/data_retention', { key, body })).status).toBe(200)
  expect((await send(id, 'abc', key)).status).toBe(400)
  expect((await begin(3, key)).status).toBe(409)
})
