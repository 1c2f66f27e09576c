import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { paintPng } from '../generation/pictures.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { sweepExpired } from '../../src/modules/idempotency/sweep-expired.ts'
import { sweepMedia } from '../../src/modules/media/sweep-media.ts'
import { sweepResults } from '../../src/modules/tasks/results/sweep-results.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { foldStoredBytes } from '../../src/storage/stored-bytes/fold-stored-bytes.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { limitEverybody, startGateways } from './gateways.ts'

const DATASETS = '/v1/compare/datasets'
const IMAGES = '/v1/images/generations'
const IMAGE = { model: 'gpt-image-1.5', prompt: 'A cube', response_format: 'url' }
const QUOTAS = {
  media_bytes_max: 2_000,
  dataset_bytes_max: 1_000,
  task_bytes_max: 5_000,
  stored_response_bytes_max: 600,
}

let gateway: TestGateway
let other: TestGateway
let close: () => Promise<void>
let database: Database
let picture: Buffer

beforeAll(async () => {
  const started = await startGateways(2, { ...limitEverybody(QUOTAS), PARKWAY_SANDBOX_JOB_MS: '0' })
  const [first, second] = started.gateways
  if (first === undefined || second === undefined) throw new Error('two gateways were asked for')
  gateway = first
  other = second
  close = started.close
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
    logger: silentLogger,
  })
  picture = await paintPng()
})

afterAll(async () => {
  await database.close()
  await close()
})

const account = () => createStranger(gateway, 5)
const storedOf = async (key: string) => (await gateway.request('GET', '/v1/tenants/me', { key })).body.stored

function makeDataset(key: string, characters: number, where = gateway): Promise<TestAnswer> {
  const body = { name: 'Pack', prompts: ['x'.repeat(characters)] }
  return where.request('POST', DATASETS, { key, body })
}

const chat = (key: string, idempotencyKey: string) =>
  gateway.request('POST', '/v1/chat/completions', {
    key,
    headers: { 'idempotency-key': idempotencyKey },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
  })

test('the quotas are shown with the stored bytes', async () => {
  const { body } = await gateway.request('GET', '/v1/tenants/me', { key: await account() })
  expect(body.limits).toMatchObject(QUOTAS)
  expect(body.stored).toEqual({
    media_bytes: 0,
    dataset_bytes: 0,
    task_bytes: 0,
    stored_response_bytes: 0,
    response_bytes: 0,
    file_bytes: 0,
  })
})

describe('datasets', () => {
  test('datasets that do not fit are 413, and deleting one frees its bytes', async () => {
    const key = await account()
    const made = await makeDataset(key, 600)
    expect(made.status).toBe(201)
    const { dataset_bytes: bytes } = await storedOf(key)
    expect(bytes).toBeGreaterThan(600)

    const refused = await makeDataset(key, 600)
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      413,
      'request_too_large',
      'prompts',
    ])
    expect(refused.body.error.message).toContain(`take ${bytes} bytes of the 1000`)
    expect(refused.body.error.message).toContain('dataset_bytes_max')
    expect(refused.body.error.message).toContain('Delete a dataset')
    expect((await makeDataset(await account(), 600)).status).toBe(201)

    await gateway.request('DELETE', `${DATASETS}/${made.body.id}`, { key })
    expect((await storedOf(key)).dataset_bytes).toBe(0)
    expect((await makeDataset(key, 600)).status).toBe(201)
  })

  test('count with every version, and an existing version takes nothing', async () => {
    const key = await account()
    const { body: dataset } = await makeDataset(key, 300)
    const change = (characters: number) =>
      gateway.request('PATCH', `${DATASETS}/${dataset.id}`, {
        key,
        body: { prompts: ['x'.repeat(characters)] },
      })
    const statuses = []
    for (const characters of [400, 300, 400, 200]) statuses.push((await change(characters)).status)
    expect(statuses).toEqual([200, 200, 200, 413])
  })

  test('created at the same time by several processes stay within the quota', async () => {
    const key = await account()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => makeDataset(key, 200, index % 2 === 0 ? gateway : other)),
    )
    const { dataset_bytes: bytes } = await storedOf(key)
    const made = answers.filter(({ status }) => status === 201).length
    expect(answers.every(({ status }) => status === 201 || status === 413)).toBe(true)
    expect(bytes).toBeLessThanOrEqual(1_000)
    expect(bytes + bytes / made).toBeGreaterThan(1_000)
  })
})

describe('files', () => {
  const edit = (key: string, image: Buffer) =>
    gateway.request('POST', '/v1/images/upscale', {
      key,
      body: { image: `data:image/png;base64,${image.toString('base64')}` },
    })

  test('a result is stored although it exceeds the quota, and the next request is 429 and free', async () => {
    const key = await account()
    const { status } = await gateway.request('POST', IMAGES, { key, body: IMAGE })
    const { media_bytes: bytes } = await storedOf(key)
    expect([status, bytes > 2_000]).toEqual([200, true])
    const before = (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd

    const refused = await gateway.request('POST', IMAGES, { key, body: IMAGE })
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect([refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
      '3600',
      'false',
    ])
    expect(refused.body.error.message).toContain(`take ${bytes} bytes of the 2000`)
    expect((await edit(key, picture)).status).toBe(429)
    const inline = await gateway.request('POST', IMAGES, {
      key,
      body: { ...IMAGE, response_format: 'b64_json' },
    })
    expect(inline.status).toBe(200)
    const after = (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd
    expect(before - after).toBeCloseTo(inline.body.usage.cost_usd, 9)
    expect((await gateway.request('POST', IMAGES, { key: await account(), body: IMAGE })).status).toBe(200)

    await database.query('UPDATE media SET expires_at = now() WHERE bytes = $1', [bytes])
    await sweepMedia(database, { delete: async () => {} })
    expect((await storedOf(key)).media_bytes).toBe(0)
    expect((await gateway.request('POST', IMAGES, { key, body: IMAGE })).status).toBe(200)
  })

  test('a client’s file that does not fit is 413, and nothing of it is stored', async () => {
    const key = await account()
    const large = await paintPng(1_400, 1_400)
    expect(large.length).toBeGreaterThan(2_000)
    const refused = await edit(key, large)
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      413,
      'request_too_large',
      'image',
    ])
    expect(await storedOf(key)).toMatchObject({ media_bytes: 0, task_bytes: 0 })
    expect((await edit(key, picture)).status).toBe(202)
  })
})

test('tasks beyond the quota are 429 before anything is held, and free their bytes when they expire', async () => {
  const key = await account()
  const make = (where: TestGateway) =>
    where.request('POST', '/v1/audio/music', {
      key,
      body: { prompt: 'x'.repeat(300), duration: 5, metadata: { note: 'y'.repeat(700) } },
    })
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => make(at % 2 === 0 ? gateway : other)),
  )
  const made = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 429)
  expect([made.length > 0, made.length * 1_000 <= 5_000, made.length + refused.length]).toEqual([
    true,
    true,
    10,
  ])
  expect(refused[0]?.body.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
  expect(refused[0]?.body.error.message).toContain('task_bytes_max')
  for (const { body } of made) await waitForTask(gateway, body.task_id, key)

  const ids = made.map(({ body }) => body.task_id)
  await database.query('UPDATE tasks SET expires_at = now() WHERE id = ANY ($1::uuid[])', [ids])
  await sweepResults(database, async () => {})
  expect((await storedOf(key)).task_bytes).toBe(0)
  const task = await gateway.request('GET', `/v1/tasks/${ids[0]}`, { key })
  expect([task.status, task.body.status, task.body.result]).toEqual([200, 'completed', null])
})

test('an Idempotency-Key is refused if no further answer may be stored, and stored answers are still returned', async () => {
  const key = await account()
  const first = await chat(key, 'one')
  expect(first.status).toBe(200)
  let refused = await chat(key, 'two')
  for (let index = 3; refused.status === 200 && index < 10; index += 1) refused = await chat(key, `${index}`)
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(refused.body.error.message).toContain('stored_response_bytes_max')
  expect(refused.body.error.message).toContain('without an Idempotency-Key')

  const repeated = await chat(key, 'one')
  expect([repeated.status, repeated.body, repeated.headers.get('idempotent-replayed')]).toEqual([
    200,
    first.body,
    'true',
  ])
  expect((await chat(await account(), 'one')).status).toBe(200)
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
  expect((await gateway.request('POST', '/v1/chat/completions', { key, body })).status).toBe(200)

  await database.query('UPDATE idempotency_keys SET expires_at = now()')
  await sweepExpired(database)
  expect((await storedOf(key)).stored_response_bytes).toBe(0)
  expect((await chat(key, 'again')).status).toBe(200)
})

test('the counted bytes equal those of the rows, before and after they are added up', async () => {
  const key = await account()
  const task = { prompt: 'Rain', duration: 5 }
  const stored = [
    await makeDataset(key, 100),
    await gateway.request('POST', '/v1/audio/music', { key, body: task }),
    await gateway.request('POST', IMAGES, { key, body: IMAGE }),
    await chat(key, 'one'),
  ]
  expect(stored.map(({ status }) => status)).toEqual([201, 202, 200, 200])
  const { id } = (await gateway.request('GET', '/v1/tenants/me', { key })).body
  const counted = `SELECT account_id, kind, stored_bytes_of(account_id, kind) AS bytes FROM (
      SELECT account_id, kind FROM stored_bytes UNION SELECT account_id, kind FROM stored_byte_changes) AS known
    WHERE stored_bytes_of(account_id, kind) <> 0 ORDER BY 1, 2`
  const held = `
    SELECT account_id, 'media' AS kind, sum(bytes)::bigint AS bytes FROM media WHERE bytes > 0 GROUP BY 1
    UNION ALL SELECT account_id, 'stored_response', sum(octet_length(answer)) FROM idempotency_keys
      WHERE answer IS NOT NULL GROUP BY 1
    UNION ALL SELECT account_id, 'task', sum(task_bytes(work, result, metadata))::bigint FROM tasks
      WHERE work <> 'null' GROUP BY 1
    UNION ALL SELECT account_id, 'dataset', sum(octet_length(prompts::text)) FROM compare_dataset_versions
      JOIN compare_datasets ON id = dataset_id GROUP BY 1
    ORDER BY 1, 2`
  interface Count {
    account_id: string
    kind: string
  }
  const read = () =>
    database.transaction(async (transaction) => {
      await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      return { counted: await transaction.query<Count>(counted), held: await transaction.query(held) }
    })
  const before = await read()
  const kinds = before.counted.filter(({ account_id: owner }) => owner === id).map(({ kind }) => kind)
  expect(kinds).toEqual(['dataset', 'media', 'stored_response', 'task'])
  expect(before.counted).toEqual(before.held)
  await Promise.all([foldStoredBytes(database), foldStoredBytes(database)])
  const after = await read()
  expect(after.counted).toEqual(after.held)
})
