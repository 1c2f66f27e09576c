import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey, createKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, uploadText, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const MODEL = 'gpt-4o-mini'
const SLOW = '[[sandbox:latency ms=20000]]'

let gateway: TestGateway
let database: Client

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '100' } })
  database = new Client({ connectionString: gateway.connectionString })
  await database.connect()
})
afterAll(async () => {
  await database.end()
  await gateway.close()
})

const chatLine = (custom_id: string, content = `[[sandbox:echo ${custom_id}]]`) => ({
  custom_id,
  body: { model: MODEL, messages: [{ role: 'user', content }] },
})
const newAccount = () => createAccountKey(gateway, { name: 'batcher', credit_usd: 5 })
const uuidOf = (batchId: string) => batchId.replace('batch_', '')
const untilAnswered = (id: string, count: number, key: string) =>
  eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${id}`, { key })
    expect(body.request_counts.completed).toBe(count)
  })
/** As after the death of the process that has the batch. */
const ORPHANED = 'worker_id = NULL, claim = claim + 1'

describe('a batch that was cancelled', () => {
  test('asks no line that waits for a rate, and ends at once', async () => {
    const key = await createKey(gateway, { requests_per_minute: 2 })
    const lines = Array.from({ length: 8 }, (_, index) => chatLine(`l${index}`))
    const { body: made } = await createBatch(gateway, toLines(lines, CHAT), { key })
    await untilAnswered(made.id, 2, key)
    await gateway.request('POST', `/v1/batches/${made.id}/cancel`, { key })
    const batch = await waitForBatch(gateway, made.id, key)
    expect([batch.status, batch.request_counts]).toEqual(['cancelled', { total: 8, completed: 2, failed: 0 }])
    const errors = await readResults(gateway, batch.error_file_id, key)
    expect([...errors.values()].map(({ error }) => error?.code)).toEqual(
      Array.from({ length: 6 }, () => 'batch_cancelled'),
    )
  })

  test('has the answer of a line whose process died after it was charged, once and charged once', async () => {
    const { key } = await newAccount()
    const text = toLines([chatLine('lost'), chatLine('slow', SLOW)], CHAT)
    const { body: made } = await createBatch(gateway, text, { key })
    await untilAnswered(made.id, 1, key)
    const id = uuidOf(made.id)
    await database.query('BEGIN')
    await database.query(
      `UPDATE batch_lines SET status = 'running', result = NULL, http_status = NULL, counted_nano_usd = 0
       WHERE batch_id = $1 AND status = 'completed'`,
      [id],
    )
    await database.query(
      `UPDATE batches SET lines_completed = 0, cost_nano_usd = 0, status = 'cancelling', cancelling_at = now(), ${ORPHANED} WHERE id = $1`,
      [id],
    )
    await database.query('COMMIT')
    const batch = await waitForBatch(gateway, made.id, key)
    expect([batch.status, batch.request_counts]).toEqual(['cancelled', { total: 2, completed: 1, failed: 0 }])
    const results = await readResults(gateway, batch.output_file_id, key)
    expect(results.get('lost')?.response?.body.choices[0].message.content).toBe('lost')
    const { body: usage } = await gateway.request('GET', '/v1/usage/records', { key })
    expect(usage.data.map(({ request_id: requestId }: { request_id: string }) => requestId)).toEqual([
      results.get('lost')?.response?.request_id,
    ])
    const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(batch.cost_usd).toBeGreaterThan(0)
    expect(5 - account.balance_usd).toBeCloseTo(batch.cost_usd, 9)
  })
})

test('a line whose process died each time is not asked any more', async () => {
  const { key } = await newAccount()
  const { body: made } = await createBatch(gateway, toLines([chatLine('deadly', SLOW)], CHAT), { key })
  await eventually(async () => {
    // One more than allowed: this process, which lives, may hand the line back, which takes one try away.
    const { rowCount } = await database.query(
      `UPDATE batch_lines SET tries = 26 WHERE batch_id = $1 AND status = 'running'`,
      [uuidOf(made.id)],
    )
    expect(rowCount).toBe(1)
  })
  await database.query(`UPDATE batches SET ${ORPHANED} WHERE id = $1`, [uuidOf(made.id)])
  const batch = await waitForBatch(gateway, made.id, key)
  expect([batch.status, batch.request_counts.failed]).toEqual(['completed', 1])
  const errors = await readResults(gateway, batch.error_file_id, key)
  expect(errors.get('deadly')?.response?.body.error.message).toContain('interrupted each time')
})

test('answers are not asked and not kept once zero data retention is switched on', async () => {
  const { key } = await newAccount()
  const lines = [chatLine('first'), ...Array.from({ length: 40 }, (_, index) => chatLine(`s${index}`, SLOW))]
  const { body: made } = await createBatch(gateway, toLines(lines, CHAT), { key })
  await untilAnswered(made.id, 1, key)
  const body = { retention_type: 'zero_data_retention' }
  expect((await gateway.request('POST', '/v1/organization/data_retention', { key, body })).status).toBe(200)
  await database.query(`UPDATE batches SET ${ORPHANED} WHERE id = $1`, [uuidOf(made.id)])
  const batch = await waitForBatch(gateway, made.id, key)
  expect([batch.status, batch.output_file_id, batch.error_file_id]).toEqual(['failed', null, null])
  expect(batch.errors.data).toMatchObject([{ code: 'conflict', line: null }])
  expect(batch.errors.data[0].message).toContain('Zero data retention')
})

describe('an account', () => {
  const insert = (accountId: string, count: number, status: string, members = 'NULL, NULL') =>
    database.query(
      `INSERT INTO batches (id, account_id, key_id, wire, endpoint, input_file_id, runs_as_far, status, created_at, expires_at, errors, worker_id)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'batches', '${CHAT}', gen_random_uuid(), false, $3, now(), now() + interval '1 day', ${members}
       FROM generate_series(1, $2)`,
      [accountId, count, status],
    )

  test('has at most 100 batches that have not ended, however many are made at once', async () => {
    const { accountId, key } = await newAccount()
    await insert(
      accountId,
      97,
      'in_progress',
      'NULL, (SELECT id FROM borrowers WHERE closed_at IS NULL LIMIT 1)',
    )
    const input_file_id = await uploadText(gateway, toLines([chatLine('one')], CHAT), key)
    const body = { input_file_id, endpoint: CHAT, completion_window: '24h' }
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => gateway.request('POST', '/v1/batches', { key, body })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      200,
      200,
      ...Array(6).fill(429),
    ])
  })

  test('keeps the newest 10,000 batches that have ended with what webhooks told of them, and all mistakes of the newest 100', async () => {
    const { accountId, key } = await newAccount()
    await insert(accountId, 10_020, 'failed', `(SELECT jsonb_agg(n) FROM generate_series(1, 12) AS n), NULL`)
    await database.query(
      `INSERT INTO account_notices SELECT id, account_id, 'batch.failed', '{}', '', '', now() FROM batches WHERE account_id = $1`,
      [accountId],
    )
    const { body: made } = await createBatch(gateway, toLines([chatLine('one')], CHAT), { key })
    await waitForBatch(gateway, made.id, key)
    const { rows } = await database.query(
      `SELECT count(*)::int AS kept, (count(*) FILTER (WHERE jsonb_array_length(errors) = 12))::int AS whole,
         (SELECT count(*)::int FROM account_notices WHERE account_id = $1) AS told
       FROM batches WHERE account_id = $1 AND status = 'failed'`,
      [accountId],
    )
    expect(rows).toEqual([{ kept: 10_000, whole: 100, told: 10_000 }])
  })
})

test('results of a message batch whose file was deleted are not found', async () => {
  const { key } = await newAccount()
  const params = { model: 'claude-sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const body = { requests: [{ custom_id: 'only', params }] }
  const { body: made } = await gateway.request('POST', '/v1/messages/batches', { key, body })
  await eventually(async () => {
    const { body: now } = await gateway.request('GET', `/v1/messages/batches/${made.id}`, { key })
    expect(now.processing_status).toBe('ended')
  })
  const { body: files } = await gateway.request('GET', '/v1/files?purpose=batch_output', { key })
  await gateway.request('DELETE', `/v1/files/${files.data[0].id}`, { key })
  const gone = await gateway.request('GET', `/v1/messages/batches/${made.id}/results`, { key })
  expect([gone.status, gone.body.type]).toEqual([404, 'error'])
  expect(gone.body.error.message).toContain('were deleted')
})
