import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const AT = '/v1/messages/batches'
const MODEL = 'claude-sonnet-5'

let gateway: TestGateway
let client: Anthropic
let key: string

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BODY_BYTES_MAX: '65536' } })
  key = (await createAccountKey(gateway, { name: 'batcher', credit_usd: 5 })).key
  client = new Anthropic({ apiKey: key, baseURL: gateway.baseUrl, maxRetries: 0 })
})
afterAll(() => gateway.close())

const request = (custom_id: string, content = `[[sandbox:echo ${custom_id}]]`, members: object = {}) => ({
  custom_id,
  params: { model: MODEL, max_tokens: 32, messages: [{ role: 'user' as const, content }], ...members },
})
const untilEnded = (id: string) =>
  eventually(async () => {
    const batch = await client.messages.batches.retrieve(id)
    expect(batch.processing_status).toBe('ended')
    return batch
  })

describe('message batches with the Anthropic SDK', () => {
  test('every request has one result, and what is wrong is an error beside the others', async () => {
    const made = await client.messages.batches.create({
      requests: [request('a'), request('b'), request('c', 'Hi', { model: 'no-such-model' })],
    })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^msgbatch_[0-9a-f]{32}$/),
      type: 'message_batch',
      request_counts: { processing: 3, succeeded: 0 },
      ended_at: null,
      results_url: null,
    })
    const batch = await untilEnded(made.id)
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 })
    const results = new Map<string, Anthropic.Messages.MessageBatchResult>()
    for await (const { custom_id: id, result } of await client.messages.batches.results(made.id))
      results.set(id, result)
    expect([...results.keys()].toSorted()).toEqual(['a', 'b', 'c'])
    expect(results.get('a')).toMatchObject({
      type: 'succeeded',
      message: { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
    })
    expect(results.get('c')).toMatchObject({
      type: 'errored',
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    })
    const { body: usage } = await gateway.request('GET', '/v1/usage/records', { key })
    expect(usage.data.map((record: { batch: boolean }) => record.batch)).toEqual([true, true])

    expect(await client.messages.batches.delete(made.id)).toEqual({
      id: made.id,
      type: 'message_batch_deleted',
    })
    await expect(client.messages.batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    expect((await gateway.request('GET', '/v1/files', { key })).body.data).toEqual([])
  })

  test('one that is cancelled keeps what was answered', async () => {
    const requests = Array.from({ length: 100 }, (_, index) =>
      request(`r${index}`, '[[sandbox:latency ms=150]] Hi'),
    )
    const { id } = await client.messages.batches.create({ requests })
    await eventually(async () => {
      expect((await client.messages.batches.retrieve(id)).request_counts.succeeded).toBeGreaterThan(0)
    })
    await expect(client.messages.batches.delete(id)).rejects.toMatchObject({ status: 409 })
    expect((await client.messages.batches.cancel(id)).cancel_initiated_at).not.toBeNull()
    const { request_counts: counts } = await untilEnded(id)
    expect([counts.succeeded + counts.canceled, counts.canceled > 0]).toEqual([100, true])
    const types: string[] = []
    for await (const { result } of await client.messages.batches.results(id)) types.push(result.type)
    expect(types.filter((type) => type === 'succeeded')).toHaveLength(counts.succeeded)
    expect(types.filter((type) => type === 'canceled')).toHaveLength(counts.canceled)
  })

  test('pages follow each other in both directions', async () => {
    const { key: lister } = await createAccountKey(gateway, { name: 'lister', credit_usd: 1 })
    const other = new Anthropic({ apiKey: lister, baseURL: gateway.baseUrl, maxRetries: 0 })
    const ids: string[] = []
    for (const id of ['one', 'two', 'three'])
      ids.unshift((await other.messages.batches.create({ requests: [request(id)] })).id)
    const found: string[] = []
    for await (const { id } of other.messages.batches.list({ limit: 2 })) found.push(id)
    expect(found).toEqual(ids)
    const before = await other.messages.batches.list({ before_id: ids[2] ?? '', limit: 1 })
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[ids[1]], true])
  })
})

describe('a message batch', () => {
  test.each<[string, object[], string]>([
    ['two requests of one id', [request('a'), request('a')], 'requests.1.custom_id'],
    ['an id that is none', [request('a b')], 'requests.0.custom_id'],
    ['no requests', [], 'requests'],
  ])('with %s is refused', async (_, requests, param) => {
    const { status, body } = await gateway.request('POST', AT, { key, body: { requests } })
    expect([status, body.type, body.error.param]).toEqual([400, 'error', param])
  })

  test('may have a larger body than other requests', async () => {
    const requests = Array.from({ length: 20 }, (_, index) =>
      request(`r${index}`, `[[sandbox:echo fine]] ${'x'.repeat(50_000)}`),
    )
    const { id } = await client.messages.batches.create({ requests })
    expect((await untilEnded(id)).request_counts).toMatchObject({ succeeded: 20, errored: 0 })
  })

  test.each([
    ['broken JSON', '{"requests":[{"custom_id":"a","params":{}}', {}, 400],
    ['another type', '{"requests":[]}', { 'content-type': 'text/plain' }, 415],
    ['a compressed body', 'zip', { 'content-encoding': 'gzip' }, 415],
    ['nothing', '', {}, 400],
  ])('with %s is refused, and nothing is stored', async (_, body, headers, expected) => {
    const { status, body: answer } = await gateway.request('POST', AT, { key, body, headers })
    expect([status, answer.type]).toEqual([expected, 'error'])
    const files = await gateway.request('GET', '/v1/files?limit=100', { key })
    expect(files.body.data.filter(({ bytes }: { bytes: number }) => bytes < 10)).toEqual([])
  })

  test('is made once for an idempotency key, and another body under it is refused', async () => {
    const send = (id: string) =>
      gateway.request('POST', AT, {
        key,
        body: { requests: [request(id)] },
        headers: { 'idempotency-key': 'nightly' },
      })
    const first = await send('same')
    expect((await send('same')).body.id).toBe(first.body.id)
    expect((await send('other')).status).toBe(422)
  })

  test('is not found by others, nor as a batch of the other form', async () => {
    const { body: made } = await gateway.request('POST', AT, { key, body: { requests: [request('mine')] } })
    const { key: stranger } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/results'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const)
      expect((await gateway.request(method, `${AT}/${made.id}${path}`, { key: stranger })).status).toBe(404)
    const asOther = made.id.replace('msgbatch_', 'batch_')
    expect((await gateway.request('GET', `/v1/batches/${asOther}`, { key })).status).toBe(404)
    expect((await gateway.request('GET', '/v1/batches', { key })).body.data).toEqual([])
  })
})
