import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, chunksOf, failure, pacedStream, silence, stream } from '../upstreams/openai-server.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'

const CONVERSATIONS = '/v1/compare/conversations'
const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'broken'])
  stranger = await createStranger(gateway)
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(
    speakers({
      red: ({ messages }) => `red heard ${messages.at(-1).content}`,
      blue: ({ messages }) => `blue heard ${messages.length}`,
    }),
  )
})

const begin = async (body: object = { models: ['red', 'blue'] }) => {
  const { status, body: conversation } = await gateway.request('POST', CONVERSATIONS, { body })
  expect(status).toBe(201)
  return conversation
}
const tell = (id: string, body: object) => gateway.request('POST', `${CONVERSATIONS}/${id}/turns`, { body })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd

describe('a turn', () => {
  test('sends every lane its own history, returns the replies together and charges each as a chat', async () => {
    const { id, lanes } = await begin()
    const before = await balance()
    const first = await tell(id, { content: 'one' })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      object: 'compare.turn',
      conversation_id: id,
      index: 0,
      messages: [{ role: 'user', content: 'one' }],
      replies: [
        {
          lane_id: lanes[0].id,
          model: 'red',
          status: 'completed',
          output: 'red heard one',
          finish_reason: 'stop',
          error: null,
        },
        { lane_id: lanes[1].id, model: 'blue', output: 'blue heard 1', provider: 'openai' },
      ],
    })
    // 11 input and 7 output tokens, twice.
    const cost = 2 * (11e-6 + 70e-6)
    expect(first.body.cost_usd).toBeCloseTo(cost, 9)
    expect(Number(first.headers.get('x-gateway-cost-usd'))).toBe(first.body.cost_usd)
    expect(first.headers.get('x-gateway-provider')).toBe('openai')
    expect(first.headers.get('x-gateway-model')).toBe('red, blue')
    expect(Number(first.headers.get('x-gateway-balance-usd'))).toBeGreaterThan(0)
    expect(Number(first.headers.get('x-gateway-latency-ms'))).toBeGreaterThanOrEqual(0)
    expect(first.headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    const second = await tell(id, { role: 'user', content: [{ type: 'text', text: 'two' }] })
    expect(second.body.replies[1].output).toBe('blue heard 3')
    const asked = gateway.upstream.bodies().filter(({ model }) => model === 'red')
    expect(asked[1].messages).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'red heard one' },
      { role: 'user', content: [{ text: 'two' }] },
    ])
    expect(await balance()).toBeCloseTo(before - 2 * cost, 9)
    const { body: read } = await gateway.request('GET', `${CONVERSATIONS}/${id}`)
    expect([read.turns_total, read.turns.length]).toEqual([2, 2])
    expect(read.cost_usd).toBeCloseTo(2 * cost, 9)
    const { body: records } = await gateway.request('GET', '/v1/usage/records?limit=2')
    const requestIds = second.body.replies.map((reply: { request_id: string }) => reply.request_id)
    expect(records.data.map((record: { request_id: string }) => record.request_id).toSorted()).toEqual(
      requestIds.toSorted(),
    )
  })

  test('in which one lane fails keeps the other replies, and that lane gets the message with the next turn', async () => {
    const { id } = await begin({ models: ['red', 'broken'] })
    const { status, body } = await tell(id, { content: 'one' })
    expect(status).toBe(200)
    expect(body.replies[0]).toMatchObject({ status: 'completed', output: 'red heard one' })
    expect(body.replies[1]).toMatchObject({
      status: 'failed',
      output: '',
      cost_usd: 0,
      error: { code: 'provider_error', type: 'upstream_error' },
    })
    gateway.upstream.respondWith(speakers({ red: () => 'r', broken: () => 'works again' }))
    await tell(id, { content: 'two' })
    const asked = gateway.upstream.bodies().findLast(({ model }) => model === 'broken')
    expect(asked.messages.map(({ content }: { content: string }) => content)).toEqual(['one', 'two'])
  })

  test('a turn that no lane could answer is an error, is free and is not stored', async () => {
    const { id } = await begin()
    const before = await balance()
    gateway.upstream.respondWith(failure(400, { code: 'context_length_exceeded' }))
    for (const isStream of [false, true]) {
      const { status, body } = await tell(id, { content: 'one', stream: isStream })
      expect([status, body.error.code]).toEqual([400, 'context_length_exceeded'])
    }
    const { body: read } = await gateway.request('GET', `${CONVERSATIONS}/${id}`)
    expect([read.turns, read.status]).toEqual([[], 'idle'])
    expect(await balance()).toBe(before)
  })

  test('a turn of an account without credit is refused with 402', async () => {
    const { body: made } = await gateway.request('POST', CONVERSATIONS, {
      key: stranger,
      body: { models: ['red', 'blue'] },
    })
    const { status, body } = await gateway.request('POST', `${CONVERSATIONS}/${made.id}/turns`, {
      key: stranger,
      body: { content: 'Hi' },
    })
    expect([status, body.error.code]).toEqual([402, 'insufficient_balance'])
    expect(gateway.upstream.requests).toHaveLength(0)
    await gateway.request('DELETE', `${CONVERSATIONS}/${made.id}`, { key: stranger })
  })

  test('is refused while another one runs, and so is deleting the conversation', async () => {
    const { id } = await begin()
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply, stream(chunksOf('quick')))
    const running = tell(id, { content: 'slow' })
    await gateway.upstream.requestNumber(1)
    const refused = await tell(id, { content: 'impatient' })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await gateway.request('DELETE', `${CONVERSATIONS}/${id}`)).status).toBe(409)
    expect((await gateway.request('GET', `${CONVERSATIONS}/${id}`)).body.status).toBe('running')
    for (const entry of chunksOf('at last')) paced.release(entry)
    paced.finish()
    expect((await running).status).toBe(200)
    expect((await tell(id, { content: 'next' })).status).toBe(200)
  })

  test('a turn of ten concurrent ones is answered once', async () => {
    const { id } = await begin()
    gateway.upstream.respondWith(silence, silence)
    const client = new AbortController()
    const sent = Array.from({ length: 10 }, () =>
      gateway
        .fetch('POST', `${CONVERSATIONS}/${id}/turns`, { body: { content: 'Hi' }, signal: client.signal })
        .then(
          ({ status }) => status,
          () => 'gone',
        ),
    )
    await gateway.upstream.requestNumber(1)
    const statuses = await Promise.race([
      Promise.all(sent),
      new Promise<void>((resolve) => {
        let refused = 0
        for (const one of sent) void one.then((status) => status === 409 && (refused += 1) === 9 && resolve())
      }),
    ])
    expect(statuses).toBeUndefined()
    client.abort()
    expect((await Promise.all(sent)).filter((status) => status === 'gone')).toHaveLength(1)
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('may be sent to some lanes only, such as the result of a tool that one of them called', async () => {
    const { id, lanes } = await begin({ models: ['red', 'blue'] })
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const calling = stream([
      chunk({ delta: { role: 'assistant', tool_calls: [call] } }),
      chunk({ finish_reason: 'tool_calls' }),
    ])
    gateway.upstream.respondWith(speakers({ red: calling, blue: () => 'no tools' }))
    const { body } = await tell(id, { content: 'look' })
    expect(body.replies[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{}' } }] },
    })
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(speakers({ red: () => 'seen' }))
    const second = await tell(id, {
      role: 'tool',
      tool_call_id: 'call_1',
      content: 'a cat',
      lane_ids: [lanes[0].id],
    })
    expect(second.body.replies).toMatchObject([{ lane_id: lanes[0].id, output: 'seen' }])
    expect(gateway.upstream.bodies()).toMatchObject([
      {
        messages: [
          {},
          { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
          { role: 'tool', content: 'a cat' },
        ],
      },
    ])
  })

  test.each([
    ['nothing to say', {}, 'content', 'missing_required_parameter'],
    ['a role that is none', { role: 'king', content: 'Hi' }, 'role', 'invalid_value'],
    [
      'both content and messages',
      { content: 'Hi', messages: [{ role: 'user', content: 'Hi' }] },
      'messages',
      'invalid_value',
    ],
    [
      'the answer of a tool without its call',
      { role: 'tool', content: 'x' },
      'messages.0.tool_call_id',
      'missing_required_parameter',
    ],
    ['a lane of another', { content: 'x', lane_ids: [NOBODY] }, 'lane_ids.0', 'invalid_value'],
  ])('with %s is refused', async (_name, body, param, code) => {
    const { id } = await begin()
    const answer = await tell(id, body)
    expect([answer.status, answer.body.error.param, answer.body.error.code]).toEqual([400, param, code])
    expect((await gateway.request('GET', `${CONVERSATIONS}/${id}`)).body).toMatchObject({
      turns: [],
      status: 'idle',
    })
  })

  test('sent twice with one Idempotency-Key is done once', async () => {
    const { id } = await begin()
    const headers = { 'idempotency-key': `turn-${id}` }
    const send = () =>
      gateway.request('POST', `${CONVERSATIONS}/${id}/turns`, { body: { content: 'Hi' }, headers })
    const [first, second] = [await send(), await send()]
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('x-gateway-cost-usd')).toBe('0')
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('a turn that the upstream refuses is reported in that lane only', async () => {
    const { id } = await begin()
    const tooLong = failure(400, { code: 'context_length_exceeded', type: 'invalid_request_error' })
    gateway.upstream.respondWith(speakers({ red: () => 'fine', blue: tooLong }))
    const { body } = await tell(id, { content: 'Hi' })
    expect(body.replies).toMatchObject([{ output: 'fine' }, { error: { code: 'context_length_exceeded' } }])
  })
})
