import OpenAI, { NotFoundError } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { sweepResponses } from '../../src/modules/responses/responses.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { limitEverybody } from '../limits/gateways.ts'
import { startMessagesGateway } from '../messages/start-messages-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
let client: OpenAI
let stranger: OpenAI
let database: Database

beforeAll(async () => {
  gateway = await startMessagesGateway()
  client = clientOf(gateway)
  const { key } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 5 })
  stranger = clientOf({ baseUrl: gateway.baseUrl, key })
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
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion({ message: { content: 'Hello, Ada.' } }))
})

const clientOf = ({ baseUrl, key }: { baseUrl: string; key: string }) =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 })
const storedBytes = async () => (await gateway.request('GET', '/v1/tenants/me')).body.stored.response_bytes
const user = (content: string) => ({ role: 'user' as const, content })
const FIRST = user('My name is Ada.')

async function textsOf(id: string): Promise<unknown[]> {
  const texts: unknown[] = []
  for await (const item of client.conversations.items.list(id, { order: 'asc' }))
    if (item.type === 'message')
      texts.push([item.role, item.content.map((part) => ('text' in part ? part.text : part.type)).join('')])
  return texts
}

describe('a conversation', () => {
  test('is created, read, changed and deleted', async () => {
    const made = await client.conversations.create({ items: [FIRST], metadata: { topic: 'names' } })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^conv_[0-9a-f]+$/),
      object: 'conversation',
      metadata: { topic: 'names' },
    })
    expect(made.created_at).toBeGreaterThan(1_700_000_000)
    expect(await client.conversations.retrieve(made.id)).toEqual(made)
    const changed = await client.conversations.update(made.id, { metadata: { topic: 'numbers' } })
    expect(changed).toEqual({ ...made, metadata: { topic: 'numbers' } })
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    })
    await expect(client.conversations.retrieve(made.id)).rejects.toThrow(NotFoundError)
    await expect(client.conversations.items.list(made.id)).rejects.toThrow(NotFoundError)
    expect((await client.conversations.create()).metadata).toEqual({})
  })

  test('has items that are added, listed in pages, read and deleted', async () => {
    const { id } = await client.conversations.create({})
    const calls = [
      { type: 'function_call' as const, call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output' as const, call_id: 'c1', output: 'seen' },
    ]
    const added = await client.conversations.items.create(id, { items: [FIRST, ...calls] })
    expect(added).toMatchObject({ object: 'list', has_more: false, data: [{ type: 'message' }, ...calls] })
    const ids = added.data.map((item) => item.id)
    expect(new Set(ids).size).toBe(3)
    const page = await client.conversations.items.list(id, { limit: 2, order: 'asc' })
    expect([page.data.map((item) => item.id), page.has_more, page.last_id]).toEqual([
      ids.slice(0, 2),
      true,
      ids[1],
    ])
    const rest = await client.conversations.items.list(id, { order: 'asc', after: page.last_id })
    expect(rest.data.map((item) => item.id)).toEqual(ids.slice(2))
    const newest = await client.conversations.items.list(id)
    expect(newest.data.map((item) => item.id)).toEqual(ids.toReversed())
    const [first = ''] = ids.map(String)
    const read = await client.conversations.items.retrieve(first, { conversation_id: id })
    expect(read).toEqual({
      id: first,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'My name is Ada.' }],
    })
    expect(await client.conversations.items.delete(first, { conversation_id: id })).toMatchObject({
      id,
      object: 'conversation',
    })
    await expect(client.conversations.items.retrieve(first, { conversation_id: id })).rejects.toThrow(
      NotFoundError,
    )
    await expect(client.conversations.items.list(id, { after: 'nothing' })).rejects.toThrow(/after/)
  })

  test.each([
    ['whole', {}],
    ['not stored', { store: false }],
    ['streamed', { stream: true }],
    ['in the background', { background: true }],
  ])('is continued by a response and grows by it: %s', async (_name, options) => {
    const { id } = await client.conversations.create({ items: [FIRST] })
    const isStream = 'stream' in options
    const isBackground = 'background' in options
    if (isStream || isBackground) gateway.upstream.respondWith(stream(chunksOf('Hello, ', 'Ada.')))
    const body = { model: 'scripted', input: 'Who am I?', conversation: id, ...options }
    const response = await gateway.fetch('POST', '/v1/responses', { body })
    const text = await response.text()
    expect([response.status, text.includes(`"conversation":{"id":"${id}"}`)]).toEqual([200, true])
    const expected = [
      ['user', 'My name is Ada.'],
      ['user', 'Who am I?'],
      ['assistant', 'Hello, Ada.'],
    ]
    await eventually(async () => expect(await textsOf(id)).toEqual(expected))
    expect(gateway.upstream.requests.at(-1)?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'My name is Ada.' },
        { role: 'user', content: 'Who am I?' },
      ],
    })
    expect(gateway.upstream.requests.at(-1)?.text).not.toContain(id)

    gateway.upstream.respondWith(completion({ message: { content: 'Still Ada.' } }))
    const next = await client.responses.create({ model: 'scripted', input: 'And now?', conversation: { id } })
    expect(next.conversation).toEqual({ id })
    expect((await textsOf(id)).slice(3)).toEqual([
      ['user', 'And now?'],
      ['assistant', 'Still Ada.'],
    ])
    const last = await client.conversations.items.list(id, { limit: 1 })
    expect(last.data[0]?.id).toBe(next.output[0]?.id)
  })

  test('a conversation that fails, or a request that continues two things, adds nothing', async () => {
    const { id } = await client.conversations.create({ items: [FIRST] })
    const both = { model: 'scripted', input: 'Hi', conversation: id, previous_response_id: 'resp_1' }
    await expect(client.responses.create(both)).rejects.toMatchObject({ status: 400, param: 'conversation' })
    gateway.upstream.respondWith({
      status: 400,
      headers: { 'content-type': 'application/json' },
      chunks: ['{"error":{"message":"no"}}'],
    })
    await expect(
      client.responses.create({ model: 'scripted', input: 'Hi', conversation: id }),
    ).rejects.toThrow()
    expect(await textsOf(id)).toHaveLength(1)
    const unknown = { model: 'scripted', input: 'Hi', conversation: 'conv_unknown' }
    await expect(client.responses.create(unknown)).rejects.toMatchObject({
      status: 404,
      param: 'conversation',
    })
  })

  test('a conversation of another account does not exist', async () => {
    const { id } = await client.conversations.create({ items: [FIRST] })
    const [item] = (await client.conversations.items.list(id)).data
    const itemId = String(item?.id)
    for (const attempt of [
      () => stranger.conversations.retrieve(id),
      () => stranger.conversations.update(id, { metadata: {} }),
      () => stranger.conversations.delete(id),
      () => stranger.conversations.items.list(id),
      () => stranger.conversations.items.create(id, { items: [FIRST] }),
      () => stranger.conversations.items.retrieve(itemId, { conversation_id: id }),
      () => stranger.conversations.items.delete(itemId, { conversation_id: id }),
      () => stranger.responses.create({ model: 'scripted', input: 'Hi', conversation: id }),
    ])
      await expect(attempt()).rejects.toThrow(NotFoundError)
    expect(await textsOf(id)).toHaveLength(1)
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('counts as stored bytes until it is deleted or has expired', async () => {
    const before = await storedBytes()
    const { id } = await client.conversations.create({ items: [user('x'.repeat(5_000))] })
    expect(await storedBytes()).toBeGreaterThan(before + 5_000)
    await client.conversations.items.create(id, { items: [user('y'.repeat(5_000))] })
    const full = await storedBytes()
    expect(full).toBeGreaterThan(before + 10_000)
    await client.conversations.delete(id)
    expect(await storedBytes()).toBe(before)

    const kept = await client.conversations.create({ items: [FIRST] })
    await database.query(
      `UPDATE response_conversations SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [kept.id],
    )
    await expect(client.conversations.retrieve(kept.id)).rejects.toThrow(NotFoundError)
    await expect(
      client.responses.create({ model: 'scripted', input: 'Hi', conversation: kept.id }),
    ).rejects.toThrow(NotFoundError)
    await sweepResponses(database)
    expect(await storedBytes()).toBe(before)
    expect(
      await database.query('SELECT FROM response_conversation_items WHERE conversation_id = $1', [kept.id]),
    ).toEqual([])
  })

  test('is refused beyond the quota, too many items, and where nothing is stored', async () => {
    const full = await startTestGateway({ settings: limitEverybody({ response_bytes_max: 2_000 }) })
    const none = await startTestGateway({ settings: { PARKWAY_RESPONSE_RETENTION_DAYS: '0' } })
    try {
      const small = clientOf(full)
      const { id } = await small.conversations.create({})
      const big = { items: [user('x'.repeat(3_000))] }
      await expect(small.conversations.items.create(id, big)).rejects.toMatchObject({ status: 413 })
      await expect(small.conversations.create(big)).rejects.toMatchObject({ status: 413 })
      const many = { items: Array.from({ length: 21 }, () => FIRST) }
      await expect(small.conversations.items.create(id, many)).rejects.toMatchObject({
        status: 400,
        param: 'items',
      })
      await expect(clientOf(none).conversations.create({})).rejects.toMatchObject({ status: 400 })
    } finally {
      await full.close()
      await none.close()
    }
  })
})
