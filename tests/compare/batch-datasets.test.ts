import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createBatch, toLines, waitForBatch } from '../batches/run-batch.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const DATASETS = '/v1/compare/datasets'
const MODEL = 'gpt-5.4-mini'

let gateway: TestGateway
let key: string

beforeAll(async () => {
  gateway = await startTestGateway()
})
beforeEach(async () => {
  key = (await createAccountKey(gateway, { name: 'collector', credit_usd: 5 })).key
})
afterAll(() => gateway.close())

const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, by = key) =>
  gateway.request(method, path, { key: by, ...(body === undefined ? {} : { body }) })

async function runBatch(lines: readonly { custom_id: string; body: object }[], endpoint: string) {
  const { body } = await createBatch(gateway, toLines(lines, endpoint), { key, endpoint })
  return waitForBatch(gateway, body.id, key)
}

const make = (batchId: string, members: object = {}, by = key) =>
  ask('POST', DATASETS, { from_batch: { batch_id: batchId, ...members } }, by)
const promptsOf = async (id: string) => (await ask('GET', `${DATASETS}/${id}`)).body.prompts

const messages = (content: string) => [{ role: 'user', content }]

test.each([
  ['/v1/chat/completions', (text: string) => ({ model: MODEL, messages: messages(text) })],
  ['/v1/messages', (text: string) => ({ model: MODEL, max_tokens: 50, messages: messages(text) })],
  ['/v1/responses', (text: string) => ({ model: MODEL, input: text })],
])('a batch of %s becomes a dataset of its prompts with its answers', async (endpoint, bodyOf) => {
  const texts = ['first', 'second', 'third']
  const batch = await runBatch(
    texts.map((text) => ({ custom_id: `id of ${text}`, body: bodyOf(text) })),
    endpoint,
  )
  const { status, body: dataset } = await make(batch.id)
  expect([status, dataset.prompts_total, dataset.name]).toEqual([201, 3, `Answers of ${batch.id}`])
  const prompts = await promptsOf(dataset.id)
  expect(prompts.map(({ id }: { id: string }) => id)).toEqual(texts.map((text) => `id of ${text}`))
  for (const [index, prompt] of prompts.entries()) {
    expect(JSON.stringify(prompt.messages)).toContain(texts[index])
    expect(prompt.expected.type).toBe('judge')
    expect(prompt.expected.value.length).toBeGreaterThan(0)
  }
})

test('answers are compared as asked, only so many are taken, and lines without an answer are left out', async () => {
  const bodies = ['one', 'two', 'three'].map((text) => ({ model: MODEL, messages: messages(text) }))
  const tooLong = { model: MODEL, max_tokens: 50, messages: messages('x'.repeat(4_000_000)) }
  const batch = await runBatch(
    [tooLong, ...bodies].map((body, index) => ({ custom_id: `line ${index}`, body })),
    '/v1/chat/completions',
  )
  expect(batch.request_counts).toMatchObject({ completed: 3, failed: 1 })
  const exact = await make(batch.id, { expected: 'exact', limit: 2 })
  const found = await promptsOf(exact.body.id)
  expect(
    found.map(({ id, expected }: { id: string; expected: { type: string } }) => [id, expected.type]),
  ).toEqual([
    ['line 1', 'exact'],
    ['line 2', 'exact'],
  ])
  const plain = await make(batch.id, { expected: 'none' })
  for (const { expected } of await promptsOf(plain.body.id)) expect(expected).toBeNull()
})

test('what has no prompts, no answers, or is of another account is refused', async () => {
  const vectors = await runBatch(
    [{ custom_id: 'a', body: { model: 'text-embedding-3-small', input: 'x' } }],
    '/v1/embeddings',
  )
  const embedded = await make(vectors.id)
  expect([embedded.status, embedded.body.error.param]).toEqual([400, 'from_batch.batch_id'])

  const batch = await runBatch(
    [{ custom_id: 'a', body: { model: MODEL, messages: messages('x') } }],
    '/v1/chat/completions',
  )
  const { key: other } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
  expect((await make(batch.id, {}, other)).status).toBe(404)
  expect((await make('batch_unknown')).status).toBe(404)
  const both = await ask('POST', DATASETS, { prompts: ['x'], from_batch: { batch_id: batch.id } })
  expect(both.status).toBe(400)
  await ask('DELETE', `/v1/files/${batch.output_file_id}`)
  expect((await make(batch.id)).status).toBe(404)

  const failed = await createBatch(gateway, 'no json\n', { key })
  await waitForBatch(gateway, failed.body.id, key)
  const unanswered = await make(failed.body.id)
  expect([unanswered.status, unanswered.body.error.code]).toEqual([409, 'conflict'])
})
