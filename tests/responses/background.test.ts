import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

type StreamEvent = OpenAI.Responses.ResponseStreamEvent

let gateway: TestGateway
let other: TestGateway
let client: OpenAI
let elsewhere: OpenAI

const clientOf = ({ baseUrl, key }: Pick<TestGateway, 'baseUrl' | 'key'>) =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 })

beforeAll(async () => {
  const settings = { PARKWAY_SANDBOX_TOKENS_PER_SECOND: '100' }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: { ...settings, PARKWAY_ROLE: 'api' },
  })
  client = clientOf(gateway)
  elsewhere = clientOf(other)
})

afterAll(async () => {
  await other.close()
  await gateway.close()
})

const hello = { model: 'gpt-5.4-mini', input: 'Hello', background: true }
const LONG = { ...hello, input: 'Say much. [[sandbox:tokens n=300]]' }

async function collect(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

async function untilEnded(id: string) {
  await eventually(async () => {
    const { status } = await elsewhere.responses.retrieve(id)
    expect(status).not.toMatch(/^(queued|in_progress)$/)
  })
  return elsewhere.responses.retrieve(id)
}

async function chargesOf(id: string): Promise<{ cost_usd: number; outcome: string }[]> {
  const { body } = await gateway.request('GET', '/v1/usage/records?limit=100')
  const digits = id.replace('resp_', '')
  return body.data.filter((record: { id: string }) => record.id.replaceAll('-', '').endsWith(digits))
}

describe('a background response', () => {
  test('is queued, made by a worker, read from another process and charged once', async () => {
    const queued = await client.responses.create(hello)
    expect(queued).toMatchObject({ status: 'queued', background: true, store: true, output: [] })
    const done = await untilEnded(queued.id)
    expect(done).toMatchObject({ id: queued.id, status: 'completed', background: true })
    expect(done.output_text).toContain('Hello')
    const charges = await chargesOf(queued.id)
    expect(charges).toMatchObject([{ operation: 'responses', outcome: 'completed' }])
    expect(done.usage).toMatchObject({ cost_usd: charges[0]?.cost_usd })
    const next = await client.responses.create({
      model: hello.model,
      input: 'And?',
      previous_response_id: queued.id,
    })
    expect(next.status).toBe('completed')
  })

  test('is streamed, and its stream can be resumed in any process without a gap', async () => {
    const events = await collect(await client.responses.create({ ...LONG, stream: true }))
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    const first = events[0]
    const last = events.at(-1)
    if (first?.type !== 'response.created' || last?.type !== 'response.completed')
      throw new Error('no whole stream')
    expect(last.response.id).toBe(first.response.id)
    const { id } = first.response
    expect(await elsewhere.responses.retrieve(id)).toMatchObject({
      output: last.response.output,
      status: 'completed',
    })
    for (const from of [0, 7, events.length - 2, events.length - 1]) {
      const rest = await elsewhere.responses.retrieve(id, { stream: true, starting_after: from })
      expect(await collect(rest)).toEqual(events.slice(from + 1))
    }
    expect(await chargesOf(id)).toHaveLength(1)
  })

  test('continues when its client disconnects, which can resume while it runs', async () => {
    const seen: StreamEvent[] = []
    for await (const event of await client.responses.create({ ...LONG, stream: true })) {
      seen.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    const [first] = seen
    if (first?.type !== 'response.created') throw new Error('it did not begin')
    const { id } = first.response
    const from = seen.length - 1
    const rest = await collect(await elsewhere.responses.retrieve(id, { stream: true, starting_after: from }))
    expect([...seen, ...rest].map(({ sequence_number: number }) => number)).toEqual(
      [...seen, ...rest].map((_, index) => index),
    )
    expect(rest.at(-1)?.type).toBe('response.completed')
    expect(await chargesOf(id)).toMatchObject([{ outcome: 'completed' }])
  })

  test('is cancelled at once from any process, costs what was made, and its stream ends', async () => {
    const whole = await untilEnded((await client.responses.create(LONG)).id)
    const [wholeCharge] = await chargesOf(whole.id)
    const seen: StreamEvent[] = []
    let cancelled: OpenAI.Responses.Response | null = null
    for await (const event of await client.responses.create({ ...LONG, stream: true })) {
      seen.push(event)
      if (event.type === 'response.output_text.delta' && cancelled === null) {
        const [first] = seen
        if (first?.type !== 'response.created') throw new Error('it did not begin')
        cancelled = await elsewhere.responses.cancel(first.response.id)
      }
    }
    expect(cancelled?.status).toBe('cancelled')
    expect(seen.map(({ sequence_number: number }) => number)).toEqual(seen.map((_, index) => index))
    expect(seen.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } })
    const id = cancelled?.id ?? ''
    expect(await elsewhere.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    await eventually(async () => expect(await chargesOf(id)).toHaveLength(1))
    const [charge] = await chargesOf(id)
    expect(charge?.cost_usd).toBeGreaterThan(0)
    expect(charge?.cost_usd).toBeLessThan(wholeCharge?.cost_usd ?? 0)
    const again = await collect(await elsewhere.responses.retrieve(id, { stream: true }))
    expect(again).toEqual(seen)
  })

  test('a background response that fails has the reason, and is free', async () => {
    const { id } = await client.responses.create({ ...hello, input: 'Fail. [[sandbox:error status=400]]' })
    const failed = await untilEnded(id)
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.any(String) } })
    expect((await chargesOf(id)).every(({ cost_usd: cost }) => cost === 0)).toBe(true)
  })

  test('is the same for every try of its Idempotency-Key', async () => {
    const send = (members: object) =>
      gateway.request('POST', '/v1/responses', {
        body: { ...hello, ...members },
        headers: { 'idempotency-key': `background ${JSON.stringify(members)}` },
      })
    const [first, again] = [await send({}), await send({})]
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body.id).toBe(first.body.id)
    await untilEnded(first.body.id)
    expect(await chargesOf(first.body.id)).toHaveLength(1)
    const [streamed, replayed] = [await send({ stream: true }), await send({ stream: true })]
    expect(replayed.body).toBe(streamed.body)
  })

  test('is the same for a client that disconnected and repeats its Idempotency-Key', async () => {
    const key = { headers: { 'idempotency-key': 'hangs up' } }
    let first = ''
    for await (const event of await client.responses.create({ ...LONG, stream: true }, key)) {
      if (event.type === 'response.created') first = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    let again: StreamEvent[] = []
    await eventually(async () => {
      again = await collect(await client.responses.create({ ...LONG, stream: true }, key))
    })
    expect(again[0]).toMatchObject({ type: 'response.created', response: { id: first } })
    expect(again.at(-1)).toMatchObject({ type: 'response.completed', response: { id: first } })
    expect(await chargesOf(first)).toHaveLength(1)
  })

  test('is refused if it cannot be stored, without a model, and without credit', async () => {
    const send = (members: object, key?: string) =>
      gateway.request('POST', '/v1/responses', { body: { ...hello, ...members }, ...(key && { key }) })
    expect((await send({ store: false })).body.error.param).toBe('store')
    expect((await send({ model: 'nobody' })).status).toBe(404)
    expect((await send({ input: [{ role: 'nobody', content: 'x' }] })).status).toBe(400)
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'poor' } })
    const { body: poor } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev' },
    })
    expect((await send({}, poor.key)).status).toBe(402)
    const { id } = await client.responses.create({ model: hello.model, input: 'Hi' })
    expect((await gateway.request('POST', `/v1/responses/${id}/cancel`)).status).toBe(400)
  })

  test('is deleted with its events while it runs', async () => {
    const { id } = await client.responses.create(LONG)
    await client.responses.delete(id)
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  test('is not visible to another account', async () => {
    const { id } = await client.responses.create(hello)
    const key = await createStranger(gateway, 5)
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?stream=true'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const theirs = await gateway.request(method, `/v1/responses/${id}${path}`, { key })
      const nobodys = await gateway.request(method, `/v1/responses/resp_${'0'.repeat(32)}${path}`, { key })
      expect([theirs.status, theirs.body.error.message]).toEqual([404, nobodys.body.error.message])
    }
    expect(await untilEnded(id)).toMatchObject({ status: 'completed' })
  })

  test('a background response whose worker died mid-stream fails, without a gap, and is free if no word was delivered', async () => {
    const idle = await startTestGateway({ settings: { PARKWAY_ROLE: 'api' } })
    const { connectionString } = idle
    const database = connectDatabase({
      connectionString,
      poolSize: 1,
      statementTimeoutMs: 10_000,
      prepareStatements: true,
      logger: silentLogger,
    })
    try {
      const response = await idle.fetch('POST', '/v1/responses', { body: { ...hello, stream: true } })
      await response.body?.cancel()
      const told = [0, 1].map((number) => `{"type":"response.in_progress","sequence_number":${number}}`)
      const [row] = await database.query<{ id: string }>(
        `INSERT INTO response_events (account_id, response_id, sequence, events)
         SELECT account_id, id, 0, $1 FROM responses RETURNING response_id AS id`,
        [told.join('\n')],
      )
      const worker = await startTestGateway({ connectionString })
      try {
        const stream = await clientOf(worker).responses.retrieve(row?.id ?? '', { stream: true })
        const events = await collect(stream)
        expect(events.map(({ sequence_number: number }) => number)).toEqual([0, 1, 2])
        expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
        const { body } = await worker.request('GET', '/v1/usage/records')
        expect(body.data).toMatchObject([{ outcome: 'failed', cost_usd: 0 }])
      } finally {
        await worker.close()
      }
    } finally {
      await database.close()
      await idle.close()
    }
  })
})
