import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'

const CONVERSATIONS = '/v1/compare/conversations'
const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
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

describe('a conversation', () => {
  test('starts with lanes that may differ in any chat parameter', async () => {
    const conversation = await begin({
      name: 'Colours',
      system: 'Be brief.',
      lanes: [
        { model: 'red', temperature: 0.2, tools: [], name: 'cold' },
        { model: 'red', system: 'Be long.', top_k: 5, n: 3, stream: true },
      ],
    })
    expect(conversation).toMatchObject({
      object: 'compare.conversation',
      name: 'Colours',
      system: 'Be brief.',
      status: 'idle',
      models: ['red', 'red'],
      turns_total: 0,
      cost_usd: 0,
      turns: [],
      lanes: [
        { model: 'red', name: 'cold', params: { temperature: 0.2 } },
        { model: 'red', name: 'red', params: { system: 'Be long.', top_k: 5 } },
      ],
    })
    await tell(conversation.id, { content: 'Hi' })
    const bodies = gateway.upstream.bodies()
    expect(bodies).toHaveLength(2)
    const [cold, long] = [0.2, undefined].map((heat) =>
      bodies.find(({ temperature }) => temperature === heat),
    )
    expect(cold.messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect(long).toMatchObject({ top_k: 5, messages: [{ content: 'Be long.' }, { content: 'Hi' }] })
    expect(long.n).toBeUndefined()
  })

  test.each([
    ['no lanes', {}, 'lanes', 'missing_required_parameter'],
    ['one lane', { models: ['red'] }, 'models', 'invalid_value'],
    ['eleven lanes', { models: Array.from({ length: 11 }, () => 'red') }, 'models', 'invalid_value'],
    [
      'both ways',
      { models: ['red', 'blue'], lanes: [{ model: 'red' }, { model: 'blue' }] },
      'models',
      'invalid_value',
    ],
    [
      'a temperature of 3',
      { lanes: [{ model: 'red', temperature: 3 }, { model: 'red' }] },
      'lanes.0.temperature',
      'invalid_value',
    ],
    [
      'a model that writes no text',
      { models: ['red', 'text-embedding-3-small'] },
      'lanes.1.model',
      'invalid_value',
    ],
    ['a model that is none', { models: ['red', 'nobody'] }, 'lanes.1.model', 'model_not_found'],
    ['a name that is not text', { models: ['red', 'blue'], name: 'a\0b' }, 'name', 'invalid_value'],
  ])('is refused with %s', async (_name, body, param, code) => {
    const answer = await gateway.request('POST', CONVERSATIONS, { body })
    expect([answer.body.error.param, answer.body.error.code]).toEqual([param, code])
    expect(answer.status).toBe(code === 'model_not_found' ? 404 : 400)
  })

  test('is listed newest first, read with its turns, renamed and deleted', async () => {
    const [first, second] = [await begin(), await begin()]
    await tell(first.id, { content: 'Hi' })
    const { body: list } = await gateway.request('GET', `${CONVERSATIONS}?limit=2`)
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
    expect(list.conversations).toEqual(list.data)
    expect(list.data[1].turns).toBeUndefined()
    const { body: renamed } = await gateway.request('PATCH', `${CONVERSATIONS}/${first.id}`, {
      body: { name: 'New', system: 'Mind.' },
    })
    expect(renamed).toMatchObject({ name: 'New', system: 'Mind.', turns_total: 1 })
    const { body: kept } = await gateway.request('PATCH', `${CONVERSATIONS}/${first.id}`, {
      body: { name: null },
    })
    expect(kept).toMatchObject({ name: null, system: 'Mind.' })
    const { body: whole } = await gateway.request('GET', `${CONVERSATIONS}/${first.id}`)
    expect(whole.turns).toMatchObject([{ index: 0, replies: [{ output: 'red heard Hi' }, {}] }])
    const { body: gone } = await gateway.request('DELETE', `${CONVERSATIONS}/${first.id}`)
    expect(gone).toEqual({ id: first.id, object: 'compare.conversation', deleted: true })
    expect((await gateway.request('GET', `${CONVERSATIONS}/${first.id}`)).status).toBe(404)
  })

  test.each(['GET', 'PATCH', 'DELETE', 'POST'])(
    'a conversation of another account is not found by %s, like one that does not exist',
    async (method) => {
      const { id } = await begin()
      const path = method === 'POST' ? '/turns' : ''
      const body = method === 'PATCH' ? { name: 'x' } : { content: 'x' }
      for (const name of [id, NOBODY, 'not-an-id']) {
        const options = { key: stranger, ...(method === 'PATCH' || method === 'POST' ? { body } : {}) }
        const answer = await gateway.request(method, `${CONVERSATIONS}/${name}${path}`, options)
        expect([answer.status, answer.body.error.message]).toEqual([404, 'No such conversation.'])
      }
      expect((await gateway.request('GET', CONVERSATIONS, { key: stranger })).body.data).toEqual([])
      expect(gateway.upstream.requests).toHaveLength(0)
    },
  )
})
