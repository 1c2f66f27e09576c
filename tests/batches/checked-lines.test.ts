import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'

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

describe('the check of the lines', () => {
  const failed = async (text: string, members: object = {}) => {
    const { key } = await createAccountKey(gateway, { name: 'checked', credit_usd: 1 })
    const made = await createBatch(gateway, text, { key, members })
    const batch = await waitForBatch(gateway, made.body.id, key)
    return { batch, balance: await balanceOf(key) }
  }

  test('names every wrong line, and nothing is asked or charged', async () => {
    const good = chatLines('good')
    const wrong = [
      ['{"custom_id": ', 'invalid_json_line', null],
      ['"text"', 'invalid_json_line', null],
      [chatLines('good').trimEnd(), 'duplicate_custom_id', 'custom_id'],
      [
        JSON.stringify({ ...chatLine(''), method: 'POST', url: CHAT }),
        'missing_required_parameter',
        'custom_id',
      ],
      [JSON.stringify({ ...chatLine('nul\0'), method: 'POST', url: CHAT }), 'invalid_value', 'custom_id'],
      [JSON.stringify({ ...chatLine('get'), method: 'GET', url: CHAT }), 'invalid_method', 'method'],
      [JSON.stringify({ ...chatLine('url'), method: 'POST', url: '/v1/embeddings' }), 'invalid_url', 'url'],
      [JSON.stringify({ custom_id: 'no body', method: 'POST', url: CHAT }), 'invalid_request', 'body'],
      [
        toLines([chatLine('stream', 'Hi', { stream: true })], CHAT).trimEnd(),
        'unsupported_parameter',
        'body',
      ],
      [
        toLines([chatLine('schema', 'Hi', { messages: 'Hi' })], CHAT).trimEnd(),
        'invalid_value',
        'body.messages',
      ],
      [
        toLines([chatLine('model', 'Hi', { model: 'no-such' })], CHAT).trimEnd(),
        'model_not_found',
        'body.model',
      ],
      [
        toLines([chatLine('other', 'Hi', { model: 'gpt-5.4' })], CHAT).trimEnd(),
        'mismatched_model',
        'body.model',
      ],
      ['{"a":"\u0000"}', 'invalid_json_line', null],
    ] as const
    const { batch, balance } = await failed(good + wrong.map(([line]) => `${line}\n`).join(''))
    expect([batch.status, batch.output_file_id, balance]).toEqual(['failed', null, 1])
    expect(
      batch.errors.data.map(({ code, param, line }: Record<string, unknown>) => [code, param, line]),
    ).toEqual(wrong.map(([, code, param], index) => [code, param, index + 2]))
  })

  test('accepts a byte order mark, line ends of Windows, empty lines and a last line without an end', async () => {
    const text = `\uFEFF${chatLines('a', 'b', 'c').trimEnd().replaceAll('\n', '\r\n\r\n')}`
    const { body: made } = await createBatch(gateway, text)
    const batch = await waitForBatch(gateway, made.id)
    expect([batch.status, batch.errors]).toEqual(['completed', null])
    const results = await readResults(gateway, batch.output_file_id)
    expect([...results].map(([id, { response }]) => [id, response?.body.choices[0].message.content])).toEqual(
      [
        ['a', 'a'],
        ['b', 'b'],
        ['c', 'c'],
      ],
    )
  })

  test('ends for lines that quote what cannot be stored, and for limits of output beyond all models', async () => {
    const unstorable = chatLine('odd', 'Hi', { model: 'nul\0half\ud800' })
    const { batch } = await failed(toLines([unstorable], CHAT))
    expect(batch.errors.data).toMatchObject([{ code: 'model_not_found', line: 1 }])
    expect(batch.errors.data[0].message).toContain('nul\ufffdhalf\ufffd')
    const endless = { max_tokens: Number.MAX_SAFE_INTEGER, n: 128, model: 'gpt-5.4' }
    const run = await failed(toLines([chatLine('endless', 'Hi', endless)], CHAT))
    expect(run.batch.errors.data).toMatchObject([{ code: 'insufficient_balance' }])
    const body = { model: 'text-embedding-3-small', input: 'Hi', max_tokens: 'many', n: [] }
    const embeddings = toLines([{ custom_id: 'unknown members', body }], '/v1/embeddings')
    const made = await createBatch(gateway, embeddings, { endpoint: '/v1/embeddings' })
    expect((await waitForBatch(gateway, made.body.id)).status).toBe('completed')
  })

  test('lists up to 1,000 mistakes', async () => {
    const { batch } = await failed('{}\n'.repeat(1_500))
    expect(batch.errors.data).toHaveLength(1_000)
    const made = await createBatch(gateway, '{}\n'.repeat(30))
    await waitForBatch(gateway, made.body.id)
    const { body: listed } = await gateway.request('GET', '/v1/batches?limit=1')
    expect(listed.data[0].errors.data).toHaveLength(10)
  })

  test('refuses a file without lines, and a line that is too long', async () => {
    const long = chatLines('first') + `${' '.repeat(9 * 1024 * 1024)}x\n`
    for (const [text, code, line] of [
      ['\n\n', 'empty_file', null],
      [long, 'line_too_long', 2],
    ] as const) {
      const { batch } = await failed(text)
      expect(batch.errors.data).toMatchObject([{ code, line }])
    }
  })

  test('refuses more than 50,000 lines, archives and text that is no UTF-8, with the line', async () => {
    const line = (index: number) =>
      `{"custom_id":"l${index}","method":"POST","url":"/v1/moderations","body":{"input":"a"}}\n`
    const text = Array.from({ length: 50_001 }, (_, index) => line(index)).join('')
    const { body: made } = await createBatch(gateway, text, { endpoint: '/v1/moderations' })
    const batch = await waitForBatch(gateway, made.id)
    expect([batch.status, batch.cost_usd, batch.errors.data]).toEqual([
      'failed',
      0,
      [expect.objectContaining({ code: 'too_many_lines', line: 50_001 })],
    ])
    for (const bytes of [gzipSync(Buffer.from(chatLines('zipped'))), Buffer.from([0x7b, 0xff, 0xfe, 0x7d])]) {
      const file = bytes.toString('base64')
      const body = { purpose: 'batch', filename: 'lines.jsonl.gz', file }
      const { body: uploaded } = await gateway.request('POST', '/v1/files', { body })
      const order = { input_file_id: uploaded.id, endpoint: CHAT, completion_window: '24h' }
      const { body: wrong } = await gateway.request('POST', '/v1/batches', { body: order })
      const { errors } = await waitForBatch(gateway, wrong.id)
      expect(errors.data[0]).toMatchObject({ code: 'invalid_json_line', line: 1 })
    }
  })

  test('refuses what the balance does not cover, unless the batch may run as far as it goes', async () => {
    const text = toLines(
      Array.from({ length: 20 }, (_, index) =>
        chatLine(`l${index}`, 'Hi', { model: 'gpt-5.4', max_tokens: 9_000 }),
      ),
      CHAT,
    )
    const { batch, balance } = await failed(text)
    expect([batch.status, batch.errors.data[0].code, balance]).toEqual(['failed', 'insufficient_balance', 1])
    const run = await failed(text, { run_as_far_as_credit_goes: true })
    expect([run.batch.status, run.batch.request_counts.total]).toEqual(['completed', 20])
    expect(run.balance).toBeGreaterThanOrEqual(0)
  })
})
