import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { describePicture, download, paintPng } from '../generation/pictures.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, waitForBatch, type BatchLine } from './run-batch.ts'

const GENERATIONS = '/v1/images/generations'
const EDITS = '/v1/images/edits'
const MODEL = 'gpt-image-1.5'
/** Of a square image of this model. */
const IMAGE_USD = 0.04

let gateway: TestGateway
let picture: Buffer

beforeAll(async () => {
  picture = await paintPng()
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '100' } })
})
afterAll(() => gateway.close())

const newKey = async (creditUsd = 5) =>
  (await createAccountKey(gateway, { name: 'painter', credit_usd: creditUsd })).key
const line = (custom_id: string, members: object = {}): BatchLine => ({
  custom_id,
  body: { model: MODEL, prompt: `A cube, ${custom_id}`, size: '1024x1024', ...members },
})
const balanceOf = async (key: string) =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd
const recordsOf = async (key: string) =>
  (await gateway.request('GET', '/v1/usage/records?limit=100', { key })).body.data

async function run(lines: readonly BatchLine[], endpoint: string, key: string, members: object = {}) {
  const { body: made } = await createBatch(gateway, toLines(lines, endpoint), { endpoint, key, members })
  const batch = await waitForBatch(gateway, made.id, key)
  const results = await readResults(gateway, batch.output_file_id, key)
  const errors = await readResults(gateway, batch.error_file_id, key)
  return { batch, results, errors }
}

test('a batch of images with the OpenAI SDK has them in base64 or by address, and each line is charged once with batch in its usage', async () => {
  const key = await newKey()
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const text = toLines(
    [
      line('inline'),
      line('address', { response_format: 'url', output_format: 'webp' }),
      line('two', { n: 2, response_format: 'url' }),
    ],
    GENERATIONS,
  )
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), 'lines.jsonl'),
    purpose: 'batch',
  })
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: GENERATIONS,
    completion_window: '24h',
  })
  const batch = await eventually(async () => {
    const now = await client.batches.retrieve(made.id)
    expect(now.status).toBe('completed')
    return now
  })
  expect([batch.model, batch.request_counts]).toEqual([MODEL, { total: 3, completed: 3, failed: 0 }])
  const results = await readResults(gateway, batch.output_file_id ?? null, key)
  const dataOf = (id: string) => results.get(id)?.response?.body.data
  const [inline] = dataOf('inline')
  expect(await describePicture(Buffer.from(inline.b64_json, 'base64'))).toBe('png 1024x1024')
  const [address] = dataOf('address')
  expect(address.url.startsWith(`${gateway.baseUrl}/media/`)).toBe(true)
  expect(await describePicture((await download(address.url)).bytes)).toBe('webp 1024x1024')
  expect(dataOf('two').map(({ url }: { url: string }) => url)).toHaveLength(2)

  const records = await recordsOf(key)
  expect(records.map(({ batch: isBatch }: { batch: boolean }) => isBatch)).toEqual([true, true, true])
  expect(new Set(records.map(({ request_id: id }: { request_id: string }) => id))).toEqual(
    new Set([...results.values()].map(({ response }) => response?.request_id)),
  )
  expect((batch as unknown as { cost_usd: number }).cost_usd).toBeCloseTo(4 * IMAGE_USD, 9)
  expect(5 - (await balanceOf(key))).toBeCloseTo(4 * IMAGE_USD, 9)
})

test('the address of an image is valid for as long as results are kept, because a batch is read later than a request', async () => {
  const key = await newKey()
  const { results } = await run([line('one', { response_format: 'url' })], GENERATIONS, key)
  const { headers } = await fetch(results.get('one')?.response?.body.data[0].url)
  const seconds = Number(/max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1])
  expect(seconds).toBeGreaterThan(29 * 86_400)
})

test('lines of a model that takes its time are answered and make no tasks', async () => {
  const key = await newKey()
  const { results } = await run([line('one', { model: 'flux-schnell' })], GENERATIONS, key)
  const url: string = results.get('one')?.response?.body.data[0].url
  expect(await describePicture((await download(url)).bytes)).toMatch(/^(png|jpeg) /)
  expect((await gateway.request('GET', '/v1/tasks', { key })).body.data).toEqual([])
  expect(await recordsOf(key)).toHaveLength(1)
})

describe('a line that edits an image', () => {
  const dataUri = () => `data:image/png;base64,${picture.toString('base64')}`
  const upload = async (key: string, purpose = 'vision') => {
    const body = { purpose, filename: 'cube.png', file: picture.toString('base64') }
    return (await gateway.request('POST', '/v1/files', { key, body })).body.id
  }
  const makeUrl = async (key: string) => {
    const body = { model: MODEL, prompt: 'A cube', response_format: 'url' }
    return (await gateway.request('POST', GENERATIONS, { key, body })).body.data[0].url
  }

  test('names it by the id of a file, by an address of the gateway, or brings it as a data URI', async () => {
    const key = await newKey()
    const [file_id, url] = [await upload(key), await makeUrl(key)]
    const lines = [
      line('file', { images: [{ file_id }], mask: { file_id } }),
      line('own', { image: url }),
      line('data', { images: [{ image_url: dataUri() }, { file_id }] }),
    ]
    const { batch, results } = await run(lines, EDITS, key)
    expect([batch.errors, batch.request_counts]).toEqual([null, { total: 3, completed: 3, failed: 0 }])
    for (const { response } of results.values())
      expect(await describePicture(Buffer.from(response?.body.data[0].b64_json, 'base64'))).toMatch(/^png /)
    // Each image that an edit reads costs, too.
    expect(batch.cost_usd).toBeGreaterThan(3 * IMAGE_USD)
    // The copies that vendors got are gone.
    const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(5 - account.balance_usd).toBeCloseTo(batch.cost_usd + IMAGE_USD, 9)
  })

  test('cannot read files of another account or project, or of another purpose, and is not charged', async () => {
    const key = await newKey()
    const stranger = await newKey()
    const project = await createProjectKey(gateway, await createProject(gateway))
    const lines = [
      line('account', { images: [{ file_id: await upload(stranger) }] }),
      line('project', { images: [{ file_id: await upload(project) }] }),
      line('address', { image: await makeUrl(stranger) }),
      line('purpose', { images: [{ file_id: await upload(key, 'evals') }] }),
      line('none', { images: [{ file_id: 'file-01a1f453a9a9711e9615a634c727deac' }] }),
    ]
    const { batch, errors } = await run(lines, EDITS, key)
    const said = [...errors].map(([id, { response }]) => [id, response?.status_code])
    expect(Object.fromEntries(said)).toEqual({
      account: 404,
      project: 404,
      address: 404,
      purpose: 400,
      none: 404,
    })
    expect(errors.get('account')?.response?.body.error.param).toBe('images.0.file_id')
    expect([batch.cost_usd, await balanceOf(key)]).toEqual([0, 5])
  })
})

test('requests name uploaded files in the same way', async () => {
  const body = { purpose: 'vision', filename: 'cube.png', file: picture.toString('base64') }
  const { body: file } = await gateway.request('POST', '/v1/files', { body })
  const edit = { model: MODEL, prompt: 'Make it green', images: [{ file_id: file.id }] }
  const { status, body: answer } = await gateway.request('POST', EDITS, { body: edit })
  expect([status, answer.data?.length]).toEqual([200, 1])
  const wrong = await gateway.request('POST', EDITS, { body: { ...edit, images: [{ file_id: 'file-abc' }] } })
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'images.0.file_id'])
  const many = { ...edit, image: Array.from({ length: 16 }, () => ({ file_id: file.id })) }
  const refused = await gateway.request('POST', EDITS, { body: many })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'images'])
})

test('wrong lines are found before any is asked, with their numbers', async () => {
  const key = await newKey()
  const lines = [
    line('fine'),
    line('size', { size: '12x9000' }),
    line('form', { size: 'large' }),
    line('number', { n: 11 }),
    line('model', { model: 'no-such-model' }),
    line('chat', { model: 'gpt-4o-mini' }),
    line('quality', { quality: 'splendid' }),
    line('prompt', { prompt: undefined }),
    line('task', { webhook_url: 'https://example.com/' }),
    line('stream', { stream: true }),
  ]
  const { batch } = await run(lines, GENERATIONS, key)
  expect([batch.status, batch.output_file_id]).toEqual(['failed', null])
  expect(batch.errors.data.map((one: { line: number; param: string }) => [one.line, one.param])).toEqual([
    [2, 'body.size'],
    [3, 'body.size'],
    [4, 'body.n'],
    [5, 'body.model'],
    [6, 'body.model'],
    [7, 'body.quality'],
    [8, 'body.prompt'],
    [9, 'body.webhook_url'],
    [10, 'body'],
  ])
  const edits = await run(
    [line('bare'), line('flux', { model: 'flux-schnell', image: 'aGVsbG8=' })],
    EDITS,
    key,
  )
  expect(
    edits.batch.errors.data.map((one: { line: number; param: string }) => [one.line, one.param]),
  ).toEqual([
    [1, 'body.image'],
    [2, 'body.model'],
  ])
  expect(await balanceOf(key)).toBe(5)
})

test('an account whose credit covers half of the images is refused, or gets those that it pays for', async () => {
  const key = await newKey(4.5 * IMAGE_USD)
  // The number and the size of the images count.
  const lines = Array.from({ length: 4 }, (_, index) => line(`l${index}`, { n: 2 }))
  const refused = await run(lines, GENERATIONS, key)
  expect([refused.batch.status, refused.batch.errors.data[0].code]).toEqual([
    'failed',
    'insufficient_balance',
  ])
  const { batch, errors } = await run(lines, GENERATIONS, key, { run_as_far_as_credit_goes: true })
  expect([batch.status, batch.request_counts]).toEqual(['completed', { total: 4, completed: 2, failed: 2 }])
  expect([...errors.values()].map(({ error }) => error?.code)).toEqual(Array(2).fill('insufficient_balance'))
  expect(batch.cost_usd).toBeCloseTo(4 * IMAGE_USD, 9)
  expect(await balanceOf(key)).toBeCloseTo(0.5 * IMAGE_USD, 9)
})

test('a line that the model refuses has its error, is not charged, and the others are answered', async () => {
  const key = await newKey()
  const lines = [
    line('fine'),
    line('refused', { prompt: '[[sandbox:error status=400]] A cube' }),
    line('again', { prompt: '[[sandbox:error status=503 times=1]] A cube' }),
  ]
  const { batch, errors } = await run(lines, GENERATIONS, key)
  expect(batch.request_counts).toEqual({ total: 3, completed: 2, failed: 1 })
  expect(errors.get('refused')?.response?.status_code).toBe(400)
  expect(5 - (await balanceOf(key))).toBeCloseTo(2 * IMAGE_USD, 9)
})
