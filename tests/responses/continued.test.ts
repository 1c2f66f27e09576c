import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { startMessagesGateway } from '../messages/start-messages-gateway.ts'
import { completion, USAGE } from '../upstreams/openai-server.ts'

const RESPONSES = '/v1/responses'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startMessagesGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const send = (members: object = {}) =>
  gateway.request('POST', RESPONSES, { body: { model: 'scripted', input: 'Hi', ...members } })

const lastMessages = () => gateway.upstream.bodies().at(-1).messages

describe('a request that continues a stored response', () => {
  test('is sent with everything before it, but without earlier instructions', async () => {
    const first = await send({ instructions: 'Be brief.', input: 'One' })
    const second = await send({
      input: [{ role: 'user', content: 'Two' }],
      previous_response_id: first.body.id,
    })
    expect(second.body.previous_response_id).toBe(first.body.id)
    await send({ instructions: 'Be long.', input: 'Three', previous_response_id: second.body.id })
    const said = expect.any(String)
    expect(lastMessages()).toEqual([
      { role: 'system', content: 'Be long.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: said },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: said },
      { role: 'user', content: 'Three' },
    ])
    expect(gateway.upstream.bodies().at(-1)).not.toHaveProperty('previous_response_id')
  })

  test('can send the results of earlier calls', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
    gateway.upstream.respondWith(
      completion({ message: { role: 'assistant', content: null, tool_calls: [call] } }),
    )
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
    const { body: first } = await send({ tools })
    const result = { type: 'function_call_output', call_id: 'c1', output: 'A cat.' }
    gateway.upstream.respondWith(completion())
    await send({ tools, input: [result], previous_response_id: first.id })
    expect(lastMessages()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'A cat.' },
    ])
  })

  test('is sent with the items that references name, of answers and of input', async () => {
    const { body: first } = await send({ input: 'One' })
    const { body: items } = await gateway.request('GET', `${RESPONSES}/${first.id}/input_items`)
    const referTo = (id: string) => ({ type: 'item_reference', id })
    const input = [referTo(items.data[0].id), referTo(first.output[0].id), { role: 'user', content: 'Two' }]
    const { body: second } = await send({ input })
    const whole = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: expect.any(String) },
      { role: 'user', content: 'Two' },
    ]
    expect(lastMessages()).toEqual(whole)
    await gateway.request('DELETE', `${RESPONSES}/${first.id}`)
    await send({ input: 'Three', previous_response_id: second.id })
    expect(lastMessages()).toEqual([
      ...whole,
      { role: 'assistant', content: expect.any(String) },
      { role: 'user', content: 'Three' },
    ])
  })

  test.each<[string, (id: string) => object, number, string, string]>([
    [
      'an unknown response',
      () => ({ previous_response_id: 'resp_1' }),
      400,
      'previous_response_not_found',
      'previous_response_id',
    ],
    [
      'an unknown item',
      () => ({ input: [{ type: 'item_reference', id: 'msg_1' }] }),
      404,
      'not_found',
      'input.0.id',
    ],
  ])('is refused if it names %s', async (_, membersOf, status, code, param) => {
    const { body } = await send()
    gateway.upstream.requests.length = 0
    const refused = await send(membersOf(body.id))
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([status, code, param])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('is refused if a part of its history was deleted', async () => {
    const { body: first } = await send()
    const { body: second } = await send({ previous_response_id: first.id })
    await gateway.request('DELETE', `${RESPONSES}/${first.id}`)
    const refused = await send({ previous_response_id: second.id })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'previous_response_not_found'])
    expect(refused.body.error.message).toContain(first.id)
  })

  test('is refused if its history is too long or too large', async () => {
    const database = connectDatabase({
      connectionString: gateway.connectionString,
      poolSize: 1,
      // Rows of this size take long to write on a loaded machine.
      statementTimeoutMs: 120_000,
      prepareStatements: true,
      logger: silentLogger,
    })
    const { body } = await send()
    try {
      await database.query(
        `INSERT INTO responses (account_id, id, previous_id, input, response, item_ids, expires_at)
         SELECT account_id, 'resp_long_' || step, CASE step WHEN 1 THEN NULL ELSE 'resp_long_' || step - 1 END,
           input, response, '{}', expires_at FROM responses, generate_series(1, 501) AS step WHERE id = $1`,
        [body.id],
      )
      await database.query(
        `INSERT INTO responses (account_id, id, input, response, item_ids, expires_at)
         SELECT account_id, 'resp_large', '"' || repeat('x', 40000000) || '"', response, '{}', expires_at
         FROM responses WHERE id = $1`,
        [body.id],
      )
      expect((await send({ previous_response_id: 'resp_long_500' })).status).toBe(200)
      for (const previous of ['resp_long_501', 'resp_large']) {
        const refused = await send({ previous_response_id: previous })
        expect([refused.status, refused.body.error.code]).toEqual([400, 'context_length_exceeded'])
      }
    } finally {
      await database.query(`DELETE FROM responses WHERE id LIKE 'resp_l%'`)
      await database.close()
    }
  })

  test('is held with its whole history', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0.05 })
    const create = (members: object) =>
      gateway.request('POST', RESPONSES, {
        key,
        body: { model: 'scripted', max_output_tokens: 5, ...members },
      })
    gateway.upstream.respondWith(completion({ usage: { ...USAGE, prompt_tokens: 1, completion_tokens: 1 } }))
    const { body: first, status } = await create({ input: 'word '.repeat(2_000) })
    expect(status).toBe(200)
    gateway.upstream.requests.length = 0
    let [previous, refused] = [first.id, 0]
    for (let turn = 0; turn < 40 && refused === 0; turn += 1) {
      const next = await create({ input: 'word '.repeat(2_000), previous_response_id: previous })
      if (next.status === 200) previous = next.body.id
      else refused = next.status
    }
    expect(refused).toBe(402)
  })
})
