import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { sweepResponses } from '../../src/modules/responses/responses.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { limitEverybody } from '../limits/gateways.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let other: TestGateway
let client: OpenAI
let elsewhere: OpenAI
let database: Database

const clientOf = ({ baseUrl, key }: Pick<TestGateway, 'baseUrl' | 'key'>) =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 })

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  client = clientOf(gateway)
  elsewhere = clientOf(other)
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
    logger: silentLogger,
  })
})

afterAll(async () => {
  await database.close()
  await other.close()
  await gateway.close()
})

const MODEL = 'gpt-5.4-mini'
const hello = { model: MODEL, input: 'Hello' }
const storedBytes = async () => (await gateway.request('GET', '/v1/tenants/me')).body.stored.response_bytes

describe('a stored response', () => {
  test('is read as it was answered, complete or streamed, from another process at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const whole = await client.responses.create(hello)
      expect(whole).toMatchObject({ store: true, id: expect.stringMatching(/^resp_[0-9a-f]{32}$/) })
      expect(await elsewhere.responses.retrieve(whole.id)).toEqual(whole)
    }
    const ids = new Set<string>()
    let last: OpenAI.Responses.Response | null = null
    for await (const event of await client.responses.create({ ...hello, stream: true }))
      if ('response' in event) {
        ids.add(event.response.id)
        last = event.response
      }
    expect([...ids]).toEqual([last?.id])
    expect(await elsewhere.responses.retrieve(last?.id ?? '')).toMatchObject({ ...last })
  })

  test('is gone after it was deleted, and frees its bytes', async () => {
    const before = await storedBytes()
    const { id } = await client.responses.create(hello)
    expect(await storedBytes()).toBeGreaterThan(before + 100)
    const { body } = await gateway.request('DELETE', `/v1/responses/${id}`)
    expect(body).toEqual({ id, object: 'response', deleted: true })
    expect(await storedBytes()).toBe(before)
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 404 })
  })

  test('is not visible to another account', async () => {
    const { id } = await client.responses.create(hello)
    const key = await createStranger(gateway, 5)
    const stranger = clientOf({ baseUrl: gateway.baseUrl, key })
    const never = `resp_${'0'.repeat(32)}`
    const failures = async (responseId: string) =>
      Promise.all([
        stranger.responses.retrieve(responseId).catch(String),
        stranger.responses.delete(responseId).catch(String),
        stranger.responses.inputItems.list(responseId).catch(String),
        stranger.responses
          .create({ ...hello, previous_response_id: responseId })
          .catch((error: unknown) => String(error).replace(responseId, 'it')),
      ])
    const told = await failures(id)
    expect(told).toEqual(await failures(never))
    expect(told.map(String).join()).toMatch(
      /^Error: 404 No such response\.(,Error: 404 No such response\.){2},Error: 400/,
    )
    expect((await client.responses.retrieve(id)).id).toBe(id)
  })

  test('is kept until it expires, and as history while a response continues it', async () => {
    const first = await client.responses.create(hello)
    const second = await client.responses.create({ ...hello, previous_response_id: first.id })
    const expire = (id: string) =>
      database.query(`UPDATE responses SET expires_at = now() - interval '1 second' WHERE id = $1`, [id])
    await expire(first.id)
    await sweepResponses(database)
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
    const third = await client.responses.create({ ...hello, previous_response_id: second.id })
    for (const { id } of [second, third]) await expire(id)
    expect(await sweepResponses(database)).toBe(3)
    expect(await database.query('SELECT FROM responses WHERE id = $1', [first.id])).toEqual([])
  })

  test('does not exist if it was not to be stored', async () => {
    const { id, ...unstored } = await client.responses.create({ ...hello, store: false })
    expect(unstored).toMatchObject({ store: false })
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })
})

describe('input items', () => {
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
  ]

  test('are listed with the history, in pages, newest first by default', async () => {
    const first = await client.responses.create({ model: MODEL, input })
    const second = await client.responses.create({ ...hello, previous_response_id: first.id })
    const items = []
    for await (const item of client.responses.inputItems.list(second.id, { limit: 1 })) items.push(item)
    expect(items.map((item) => ('role' in item ? item.role : item.type))).toEqual([
      'user',
      'assistant',
      'user',
      'developer',
    ])
    expect(items[0]).toMatchObject({ type: 'message', content: [{ type: 'input_text', text: 'Hello' }] })
    expect(items[1]).toEqual(first.output[0])
    expect(new Set(items.map(({ id }) => id)).size).toBe(4)
    const { data, has_more: hasMore } = await client.responses.inputItems.list(second.id, {
      order: 'asc',
      limit: 3,
    })
    expect(data).toEqual(items.toReversed().slice(0, 3))
    expect(hasMore).toBe(true)
    await expect(
      client.responses.inputItems.list(second.id, { after: 'msg_of_nobody' }),
    ).rejects.toMatchObject({
      status: 400,
      param: 'after',
    })
  })

  test('are read with the members that `include` can name, and refuse unknown ones', async () => {
    const { id } = await client.responses.create(hello)
    const known = ['reasoning.encrypted_content', 'message.input_image.image_url'] as const
    expect((await client.responses.retrieve(id, { include: [...known] })).id).toBe(id)
    const { data } = await client.responses.inputItems.list(id, { include: [...known] })
    expect(data).toHaveLength(1)
    for (const path of ['', '/input_items'])
      for (const [query, status] of [
        ['include=reasoning.encrypted_content', 200],
        ['include=message.output_text.logprobs&include=web_search_call.results', 200],
        ['include=thoughts', 400],
        ['include[]=reasoning.encrypted_content&include[]=thoughts', 400],
      ] as const) {
        const answer = await gateway.request('GET', `/v1/responses/${id}${path}?${query}`)
        expect([query, answer.status]).toEqual([query, status])
        if (status === 400) expect(answer.body.error.param).toContain('include')
      }
  })

  test('are counted for free, including the history', async () => {
    const count = async (body: object) => {
      const answer = await gateway.request('POST', '/v1/responses/input_tokens', {
        body: { model: MODEL, ...body },
      })
      expect([answer.status, answer.body.object]).toEqual([200, 'response.input_tokens'])
      expect(Number(answer.headers.get('x-ratelimit-remaining-requests'))).toBeGreaterThan(0)
      return answer.body.input_tokens
    }
    const { total } = (await gateway.request('GET', '/v1/usage/records')).body
    const short = await count({ input: 'Hi' })
    expect(await count({ input: 'Hi '.repeat(50) })).toBeGreaterThan(short + 40)
    expect(await count({ input: null, instructions: 'Be short.' })).toBeGreaterThan(0)
    expect(await count({ input: 'Hi', model: null })).toBe(short)
    const { body: withoutModel } = await gateway.request('POST', '/v1/responses/input_tokens', {
      body: { input: 'Hi' },
    })
    expect(withoutModel.input_tokens).toBe(short)
    const { status, body: refused } = await gateway.request('POST', '/v1/responses/input_tokens', {
      body: { input: 'Hi', model: 'no-such-model' },
    })
    expect([status, refused.error.code]).toEqual([404, 'model_not_found'])
    const { id } = await client.responses.create(hello)
    const counted = await client.responses.inputTokens.count({
      model: MODEL,
      input: 'Hi',
      previous_response_id: id,
    })
    expect(counted.input_tokens).toBeGreaterThan(short + 10)
    expect((await gateway.request('GET', '/v1/usage/records')).body.total).toBe(total + 1)
  })
})

describe('a gateway with other settings', () => {
  let special: TestGateway
  afterEach(() => special.close())

  test('stores nothing if storing is off, and says so', async () => {
    special = await startTestGateway({ settings: { PARKWAY_RESPONSE_RETENTION_DAYS: '0' } })
    const { body } = await special.request('POST', '/v1/responses', { body: { ...hello, store: true } })
    expect(body.store).toBe(false)
    expect((await special.request('GET', `/v1/responses/${body.id}`)).status).toBe(404)
    const continued = await special.request('POST', '/v1/responses', {
      body: { ...hello, previous_response_id: body.id },
    })
    expect([continued.status, continued.body.error.param]).toEqual([400, 'previous_response_id'])
    expect(continued.body.error.message).toContain('does not store responses')
  })

  test('refuses to store beyond the quota, serves requests that need not be stored, and stores again when there is room', async () => {
    special = await startTestGateway({ settings: limitEverybody({ response_bytes_max: 1_000 }) })
    const send = (members: object) =>
      special.request('POST', '/v1/responses', { body: { ...hello, ...members } })
    const kept = await send({})
    expect(kept.body.store).toBe(true)
    await eventually(async () => expect((await send({})).body.store).toBe(false))
    const refused = await send({ store: true })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false'])
    expect(refused.body.error.message).toContain('response_bytes_max')
    const { body: tenant } = await special.request('GET', '/v1/tenants/me')
    expect(tenant.stored.response_bytes).toBeGreaterThanOrEqual(tenant.limits.response_bytes_max)
    await special.request('DELETE', `/v1/responses/${kept.body.id}`)
    expect((await send({ store: true })).body.store).toBe(true)
  })

  test('does not store an answer whose client disconnected, and charges what was made', async () => {
    special = await startTestGateway({ settings: { PARKWAY_SANDBOX_TOKENS_PER_SECOND: '20' } })
    const leaving = await clientOf(special).responses.create({ ...hello, stream: true })
    let left = ''
    for await (const event of leaving) {
      if (event.type === 'response.created') left = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    await eventually(async () => {
      const { body } = await special.request('GET', '/v1/usage/records')
      expect(body.data).toMatchObject([{ operation: 'responses', outcome: 'disconnected' }])
    })
    expect((await special.request('GET', `/v1/responses/${left}`)).status).toBe(404)
  })
})
