import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, uploadText, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const MODEL = 'gpt-4o-mini'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '100' } })
})
afterAll(() => gateway.close())

const chatLine = (custom_id: string, content = `[[sandbox:echo ${custom_id}]]`, members: object = {}) => ({
  custom_id,
  body: { model: MODEL, messages: [{ role: 'user', content }], ...members },
})
const chatLines = (...ids: string[]) =>
  toLines(
    ids.map((id) => chatLine(id)),
    CHAT,
  )
const balanceOf = async (key: string) =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd

describe('a batch with the OpenAI SDK', () => {
  test('is answered line by line, and each line is charged once with batch in its usage', async () => {
    const { key } = await createAccountKey(gateway, { name: 'batcher', credit_usd: 5 })
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const ids = Array.from({ length: 40 }, (_, index) => `line-${index}`)
    const file = await client.files.create({
      file: await toFile(Buffer.from(chatLines(...ids)), 'lines.jsonl'),
      purpose: 'batch',
    })
    const made = await client.batches.create({
      input_file_id: file.id,
      endpoint: CHAT,
      completion_window: '24h',
      metadata: { night: 'first' },
    })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^batch_[0-9a-f]{32}$/),
      object: 'batch',
      endpoint: CHAT,
      input_file_id: file.id,
      completion_window: '24h',
      metadata: { night: 'first' },
    })
    const batch = await eventually(async () => {
      const now = await client.batches.retrieve(made.id)
      expect(now.status).toBe('completed')
      return now
    })
    expect(batch).toMatchObject({
      model: MODEL,
      errors: null,
      error_file_id: null,
      request_counts: { total: 40, completed: 40, failed: 0 },
    })
    expect(batch.usage?.total_tokens).toBeGreaterThan(80)
    const output = await client.files.retrieve(batch.output_file_id ?? '')
    expect(output).toMatchObject({ purpose: 'batch_output', expires_at: null })
    const text = await (await client.files.content(output.id)).text()
    const results = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(results.map(({ custom_id: id }) => String(id)).toSorted()).toEqual(ids.toSorted())
    for (const { id, custom_id, response, error } of results) {
      expect([id.startsWith('batch_req_'), response.status_code, error]).toEqual([true, 200, null])
      expect(response.body.choices[0].message.content).toBe(custom_id)
    }

    const { cost_usd: costUsd } = batch as unknown as { cost_usd: number }
    expect(costUsd).toBeGreaterThan(0)
    expect(5 - (await balanceOf(key))).toBeCloseTo(costUsd, 9)
    const { body: usage } = await gateway.request('GET', '/v1/usage/records?limit=100', { key })
    expect(usage.data.map((record: { batch: boolean }) => record.batch)).toEqual(ids.map(() => true))
    expect(new Set(usage.data.map((record: { request_id: string }) => record.request_id))).toEqual(
      new Set(results.map(({ response }) => response.request_id)),
    )
    const listed = await client.batches.list({ limit: 1 })
    expect(listed.data.map(({ id }) => id)).toEqual([made.id])
  })
})

describe('every endpoint takes batches', () => {
  test.each<[string, object, string]>([
    ['/v1/completions', { model: MODEL, prompt: 'Hi' }, 'choices'],
    ['/v1/responses', { model: MODEL, input: 'Hi' }, 'output'],
    ['/v1/messages', { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }, 'content'],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }, 'data'],
    ['/v1/moderations', { input: 'Hi' }, 'results'],
    ['/v1/rerank', { model: 'rerank-v3.5', query: 'cat', documents: ['a cat', 'a car'] }, 'results'],
  ])('%s', async (endpoint, body, member) => {
    const { body: made } = await createBatch(gateway, toLines([{ custom_id: 'one', body }], endpoint), {
      endpoint,
    })
    const batch = await waitForBatch(gateway, made.id)
    expect([batch.status, batch.errors, batch.request_counts]).toEqual([
      'completed',
      null,
      { total: 1, completed: 1, failed: 0 },
    ])
    const results = await readResults(gateway, batch.output_file_id)
    expect(results.get('one')?.response?.body).toHaveProperty(member)
  })
})

describe('lines without an answer', () => {
  test('stand in the error file with the answer that a request would have got', async () => {
    const text = toLines(
      [chatLine('fine'), chatLine('broken', '[[sandbox:error status=400 code=invalid_value]]')],
      CHAT,
    )
    const { body: made } = await createBatch(gateway, text)
    const batch = await waitForBatch(gateway, made.id)
    expect([batch.status, batch.request_counts]).toEqual(['completed', { total: 2, completed: 1, failed: 1 }])
    expect([...(await readResults(gateway, batch.output_file_id)).keys()]).toEqual(['fine'])
    const errors = await readResults(gateway, batch.error_file_id)
    expect(errors.get('broken')).toMatchObject({
      response: { status_code: 400, body: { error: { code: 'invalid_value' } } },
      error: null,
    })
  })

  test('a batch without enough credit ends with an error for the rest, and never below zero', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0.002 })
    const text = toLines(
      Array.from({ length: 30 }, (_, index) =>
        chatLine(`l${index}`, '[[sandbox:tokens n=20]]', { model: 'gpt-5.4', max_tokens: 20 }),
      ),
      CHAT,
    )
    const made = await createBatch(gateway, text, { key, members: { run_as_far_as_credit_goes: true } })
    const batch = await waitForBatch(gateway, made.body.id, key)
    const { completed, failed, total } = batch.request_counts
    expect([batch.status, completed + failed, completed > 0, failed > 0]).toEqual([
      'completed',
      total,
      true,
      true,
    ])
    const errors = await readResults(gateway, batch.error_file_id, key)
    expect(new Set([...errors.values()].map(({ error }) => error?.code))).toEqual(
      new Set(['insufficient_balance']),
    )
    const balance = await balanceOf(key)
    expect(balance).toBeGreaterThanOrEqual(0)
    expect(0.002 - balance).toBeCloseTo(batch.cost_usd, 9)
  })

  test('a key that is revoked asks nothing more', async () => {
    const created = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'short' } })
    const key = created.body.key
    const lines = Array.from({ length: 200 }, (_, index) =>
      chatLine(`l${index}`, '[[sandbox:latency ms=200]]'),
    )
    const made = await createBatch(gateway, toLines(lines, CHAT), { key })
    await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/batches/${made.body.id}`)
      expect(body.request_counts.completed).toBeGreaterThan(0)
    })
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${created.body.id}`)
    const batch = await waitForBatch(gateway, made.body.id)
    expect([batch.status, batch.request_counts.failed > 0]).toEqual(['completed', true])
    const errors = await readResults(gateway, batch.error_file_id)
    expect(new Set([...errors.values()].map(({ error }) => error?.code))).toEqual(
      new Set(['invalid_api_key']),
    )
  })
})

describe('a batch that is cancelled', () => {
  test('keeps what was answered, and the rest is batch_cancelled', async () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      chatLine(`l${index}`, '[[sandbox:latency ms=150]]'),
    )
    const { body: made } = await createBatch(gateway, toLines(lines, CHAT))
    await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/batches/${made.id}`)
      expect(body.request_counts.completed).toBeGreaterThan(0)
    })
    const cancelling = await gateway.request('POST', `/v1/batches/${made.id}/cancel`)
    expect([cancelling.status, ['cancelling', 'cancelled'].includes(cancelling.body.status)]).toEqual([
      200,
      true,
    ])
    const batch = await waitForBatch(gateway, made.id)
    expect(batch.status).toBe('cancelled')
    const answered = await readResults(gateway, batch.output_file_id)
    const unasked = await readResults(gateway, batch.error_file_id)
    expect([answered.size, answered.size + unasked.size]).toEqual([batch.request_counts.completed, 300])
    expect(unasked.size).toBeGreaterThan(0)
    for (const { response, error } of unasked.values())
      expect([response, error?.code]).toEqual([null, 'batch_cancelled'])
    const again = await gateway.request('POST', `/v1/batches/${made.id}/cancel`)
    expect([again.status, again.body.status]).toEqual([200, 'cancelled'])
  })

  test('one that is completed stays so', async () => {
    const { body: made } = await createBatch(gateway, chatLines('only'))
    await waitForBatch(gateway, made.id)
    const refused = await gateway.request('POST', `/v1/batches/${made.id}/cancel`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  })
})

describe('a batch', () => {
  test('a batch of another account or project is not found, and cannot use their files', async () => {
    const file = await uploadText(gateway, chatLines('mine'))
    const { body: mine } = await createBatch(gateway, chatLines('mine'))
    const { key: stranger } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
    const project = await createProjectKey(gateway, await createProject(gateway))
    for (const key of [stranger, project]) {
      const order = { input_file_id: file, endpoint: CHAT, completion_window: '24h' }
      const refused = await gateway.request('POST', '/v1/batches', { key, body: order })
      expect([refused.status, refused.body.error.param]).toEqual([404, 'input_file_id'])
      expect((await gateway.request('GET', `/v1/batches/${mine.id}`, { key })).status).toBe(404)
      expect((await gateway.request('POST', `/v1/batches/${mine.id}/cancel`, { key })).status).toBe(404)
      expect((await gateway.request('GET', '/v1/batches', { key })).body.data).toEqual([])
    }
  })

  test.each([
    ['an endpoint without batches', { endpoint: '/v1/audio/speech' }, 'endpoint'],
    ['another window', { completion_window: '1h' }, 'completion_window'],
    ['an id that is none of a file', { input_file_id: 'batch_1' }, 'input_file_id'],
  ])('a batch with %s is refused', async (_, members, param) => {
    const { status, body } = await createBatch(gateway, chatLines('a'), { members })
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('a batch needs a file with the purpose batch', async () => {
    const file = await gateway.request('POST', '/v1/files', { body: { purpose: 'evals', file: 'SGVsbG8=' } })
    const { status, body } = await createBatch(gateway, chatLines('a'), {
      members: { input_file_id: file.body.id },
    })
    expect([status, body.error.param]).toEqual([400, 'input_file_id'])
  })
})
