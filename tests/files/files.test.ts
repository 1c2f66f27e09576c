import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { limitEverybody } from '../limits/gateways.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { createStranger } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const AT = '/v1/files'
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

const upload = (members: object = {}, key: string = gateway.key) =>
  gateway.request('POST', AT, { key, body: { purpose: 'user_data', file: 'SGVsbG8=', ...members } })
const statusOf = async (path: string, key: string = gateway.key) =>
  (await gateway.request('GET', `${AT}/${path}`, { key })).status

describe('files with the OpenAI SDK', () => {
  test('a file that is uploaded is listed, read and deleted, and nobody reads it afterwards', async () => {
    const content = Buffer.alloc(3_000, 'a line\n')
    const file = await client.files.create({
      file: await toFile(content, 'línes (1).jsonl'),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    })
    expect(file).toMatchObject({
      id: expect.stringMatching(/^file-[0-9a-f]{32}$/),
      object: 'file',
      bytes: 3_000,
      filename: 'línes (1).jsonl',
      purpose: 'batch',
      status: 'processed',
    })
    expect(file.expires_at).toBe(file.created_at + 3_600)
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id, bytes: 3_000 })
    const read = await client.files.content(file.id)
    expect(read.headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''l%C3%ADnes%20%281%29.jsonl",
    )
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true })
    expect([await statusOf(file.id), await statusOf(`${file.id}/content`)]).toEqual([404, 404])
    await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 404 })
  })

  test('pages follow each other in both orders, filtered by the purpose', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c'])
      ids.push(
        (await client.files.create({ file: await toFile(Buffer.from(name), name), purpose: 'evals' })).id,
      )
    await upload()
    const walk = async (order: 'asc' | 'desc') => {
      const found: string[] = []
      for await (const { id } of client.files.list({ purpose: 'evals', order, limit: 2 })) found.push(id)
      return found
    }
    expect(await walk('asc')).toEqual(ids)
    expect(await walk('desc')).toEqual(ids.toReversed())
  })
})

test('the Anthropic SDK uploads, lists, reads and deletes the same files in its own form', async () => {
  const own = await createStranger(gateway)
  const anthropic = new Anthropic({ apiKey: own, baseURL: gateway.baseUrl, maxRetries: 0 })
  const { files } = anthropic.beta
  const made = []
  for (const name of ['a', 'b', 'c'])
    made.push(await files.upload({ file: await toFile(Buffer.from(`of ${name}`), `${name}.txt`) }))
  const [first] = made
  expect(first).toMatchObject({
    type: 'file',
    id: expect.stringMatching(/^file_[0-9a-f]{32}$/),
    filename: 'a.txt',
    mime_type: 'text/plain',
    size_bytes: 4,
    downloadable: true,
  })
  const listed: string[] = []
  for await (const { id } of files.list({ limit: 2 })) listed.push(id)
  const newestFirst = made.map(({ id }) => id).toReversed()
  expect(listed).toEqual(newestFirst)
  const headers = { 'anthropic-beta': 'files-api-2025-04-14' }
  const before = await gateway.request('GET', `${AT}?before_id=${first?.id}&limit=1`, { key: own, headers })
  expect(before.body).toMatchObject({ first_id: newestFirst[1], last_id: newestFirst[1], has_more: true })
  const id = first?.id ?? ''
  expect(await (await files.download(id)).text()).toBe('of a')
  expect((await gateway.request('GET', `${AT}/${id}`, { key: own })).body).toMatchObject({ object: 'file' })
  expect((await files.retrieveMetadata(id.replace('_', '-'))).id).toBe(id)
  expect(await files.delete(id)).toEqual({ id, type: 'file_deleted' })
  await expect(files.retrieveMetadata(id)).rejects.toMatchObject({
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error' } },
  })
})

describe('a file', () => {
  test('a file is read in parts, and not again by a client that has it', async () => {
    const { id } = (await upload()).body
    const read = (headers: Record<string, string>) => gateway.fetch('GET', `${AT}/${id}/content`, { headers })
    const part = await read({ range: 'bytes=1-3' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 1-3/5',
      'ell',
    ])
    const behind = await read({ range: 'bytes=5-' })
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */5'])
    const known = await read({ 'if-none-match': part.headers.get('etag') ?? '' })
    expect(known.status).toBe(304)
  })

  test('a file of another account, project or that never was is not found', async () => {
    const { id } = (await upload()).body
    const stranger = await createStranger(gateway)
    const project = await createProjectKey(gateway, await createProject(gateway))
    for (const key of [stranger, project]) {
      expect([await statusOf(id, key), await statusOf(`${id}/content`, key)]).toEqual([404, 404])
      expect((await gateway.request('DELETE', `${AT}/${id}`, { key })).status).toBe(404)
      expect((await gateway.request('GET', AT, { key })).body.data).toEqual([])
    }
    for (const other of ['file-0', id.slice(0, -1), id.toUpperCase(), id.slice('file-'.length)])
      expect(await statusOf(other)).toBe(404)
    expect(await statusOf(id)).toBe(200)
  })

  test.each([
    ['is empty', { file: '' }, 'file'],
    ['has an unknown purpose', { purpose: 'batch_output' }, 'purpose'],
    ['expires too early', { expires_after: { anchor: 'created_at', seconds: 60 } }, 'expires_after.seconds'],
    ['is missing', { file: undefined }, 'file'],
    ['has no purpose', { purpose: undefined }, 'purpose'],
    ['is no base64', { file: '§' }, 'file'],
  ])('a file that %s is refused', async (_, members, param) => {
    const { status, body } = await upload(members)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test.each([
    ['../../etc/passwd', 'passwd', 'passwd'],
    ['C:\\temp\\a.txt', 'a.txt', 'a.txt'],
    ['dir/', 'file', 'file'],
    [
      'a"; filename=b\r\nx-evil: 1',
      'a"; filename=b\r\nx-evil: 1',
      'a%22%3B%20filename%3Db%0D%0Ax-evil%3A%201',
    ],
  ])('the name %j stays a name, also in the header of a download', async (filename, shown, sent) => {
    const { id, filename: kept } = (await upload({ filename })).body
    const { headers } = await gateway.fetch('GET', `${AT}/${id}/content`)
    expect([kept, headers.get('content-disposition'), headers.get('x-evil')]).toEqual([
      shown,
      `attachment; filename*=UTF-8''${sent}`,
      null,
    ])
  })

  test.each(['a\0b', 'a\ud800', 'x'.repeat(256)])(
    'a name that cannot be kept is refused',
    async (filename) => {
      expect((await upload({ filename })).status).toBe(400)
    },
  )

  test('a page that somebody uploaded is never shown as one', async () => {
    const file = Buffer.from('<script>alert(1)</script>').toString('base64')
    const { id } = (await upload({ filename: 'page.html', file: `data:text/html;base64,${file}` })).body
    const { headers } = await gateway.fetch('GET', `${AT}/${id}/content`)
    expect(['content-type', 'x-content-type-options'].map((name) => headers.get(name))).toEqual([
      'application/octet-stream',
      'nosniff',
    ])
  })

  test('an expired file is neither found nor listed', async () => {
    const { id } = (await upload({ expires_after: { anchor: 'created_at', seconds: 3_600 } })).body
    const uuid = id.slice('file-'.length)
    await database.query(`UPDATE parkway.files SET expires_at = now() WHERE id = $1`, [uuid])
    expect([await statusOf(id), await statusOf(`${id}/content`)]).toEqual([404, 404])
    const { data } = (await gateway.request('GET', AT)).body
    expect(data.map((file: { id: string }) => file.id)).not.toContain(id)
  })
})

describe('the quota', () => {
  const big = (bytes: number) => Buffer.alloc(bytes, 'x').toString('base64')
  const storedOf = async (key: string) =>
    (await gateway.request('GET', '/v1/tenants/me', { key })).body.stored.file_bytes

  test('refuses what does not fit, and a deletion makes room', async () => {
    const key = await createStranger(gateway)
    const { id } = (await upload({ file: big(60_000) }, key)).body
    const refused = await upload({ file: big(60_000) }, key)
    expect([refused.status, refused.body.error.code]).toEqual([413, 'request_too_large'])
    expect(await storedOf(key)).toBe(60_000)
    await gateway.request('DELETE', `${AT}/${id}`, { key })
    expect(await storedOf(key)).toBe(0)
    expect((await upload({ file: big(60_000) }, key)).status).toBe(200)
  })

  test('is kept also where several upload at once', async () => {
    const key = await createStranger(gateway)
    const answers = await Promise.all([1, 2, 3, 4].map(() => upload({ file: big(40_000) }, key)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 413, 413])
    expect(await storedOf(key)).toBe(80_000)
  })

  test('refuses no repeated request whose file is what took the room', async () => {
    const key = await createStranger(gateway)
    const form = (bytes: number): FormData => {
      const data = new FormData()
      data.append('purpose', 'user_data')
      data.append('file', new Blob(['x'.repeat(bytes)]), 'half.txt')
      return data
    }
    const send = async (bytes: number, name: string) => {
      const answer = await fetch(`${gateway.baseUrl}${AT}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': name },
        body: form(bytes),
      })
      const { id } = (await answer.json()) as { id?: string }
      return { status: answer.status, id }
    }
    const first = await send(60_000, 'half')
    expect([first.status, await send(60_000, 'half')]).toEqual([200, first])
    expect((await send(60_000, 'other')).status).toBe(413)
    expect((await send(50_000, 'half')).status).toBe(422)
    expect(await storedOf(key)).toBe(60_000)
  })

  test('lets no batch begin while it is used up, because its results are stored in any case', async () => {
    const key = await createStranger(gateway)
    const { id } = (await upload({ purpose: 'batch', file: big(BYTES_MAX) }, key)).body
    const body = { input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' }
    const refused = await gateway.request('POST', '/v1/batches', { key, body })
    expect([refused.status, refused.body.error.message]).toEqual([
      429,
      expect.stringContaining('file_bytes_max'),
    ])
  })

  test('leaves a project half of the bytes', async () => {
    const key = await createProjectKey(gateway, await createProject(gateway, 'Halves'))
    const refused = await upload({ file: big(BYTES_MAX / 2 + 1) }, key)
    expect([refused.status, refused.body.error.message]).toEqual([413, expect.stringContaining('half')])
    expect((await upload({ file: big(BYTES_MAX / 2) }, key)).status).toBe(200)
  })
})

test('zero data retention hides the files at once and refuses further ones', async () => {
  const key = await createStranger(gateway)
  const { id } = (await upload({}, key)).body
  const set = await gateway.request('POST', '/v1/organization/data_retention', {
    key,
    body: { retention_type: 'zero_data_retention' },
  })
  expect([set.status, set.body]).toEqual([200, set.body])
  expect(await statusOf(id, key)).toBe(404)
  expect((await upload({}, key)).status).toBe(409)
})
