import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { makeRun, readCells, RUNS } from './wait-for-run.ts'

const CONVERSATIONS = '/v1/compare/conversations'
const OURS = 'byom-01890000-0000-7000-8000-00000000aaaa'
const NOBODYS = 'byom-01890000-0000-7000-8000-00000000bbbb'
const SERVED_AS = 'acme/tuned-7b'
/** The cost of 11 input tokens at $2 and 7 output tokens at $4 per million. Both servers always report this usage. */
const OURS_USD = (11 * 2 + 7 * 4) / 1e6
const OTHER_USD = 0.000081

let vllm: OpenAiServer
let gateway: ChatGateway

beforeAll(async () => {
  vllm = await startOpenAiServer()
  const price = { unit: 'token', input_usd_per_1m: 2, output_usd_per_1m: 4 }
  gateway = await startChatGateway({
    models: [
      modelEntry('red', [{ provider: 'openai', model: 'red' }]),
      modelEntry(OURS, [{ provider: 'vllm', model: SERVED_AS }], { price }),
    ],
    settings: { VLLM_BASE_URL: vllm.apiUrl },
  })
})

afterAll(async () => {
  await gateway.close()
  await vllm.close()
})

beforeEach(() => {
  vllm.requests.length = 0
  gateway.upstream.respondWith(stream(chunksOf('from a vendor')))
  vllm.respondWith(stream(chunksOf('from our own')))
})

const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
/** Returns the error of a chat request that names the model. */
const refusalOfChat = async () => {
  const body = { model: NOBODYS, messages: [{ role: 'user', content: 'Hi' }] }
  const { status, body: answer } = await gateway.request('POST', CHAT, { body })
  const { type, code, message } = answer.error
  return { status, error: { type, code, message, param: 'lanes.1.model' } }
}

describe("a lane with a model on the operator's server", () => {
  test('runs beside others, on its own server, at the price in the catalog', async () => {
    const before = await balance()
    const run = await makeRun(gateway, {
      prompts: ['one', 'two'],
      lanes: [{ model: 'red' }, { model: OURS, temperature: 0.5 }],
    })
    expect(run).toMatchObject({ status: 'completed', cells_done: 4, models: ['red', OURS] })
    expect(vllm.bodies()).toMatchObject([
      { model: SERVED_AS, temperature: 0.5 },
      { model: SERVED_AS, temperature: 0.5 },
    ])
    const cells = await readCells(gateway, run.id, `&lane_id=${run.lanes[1].id}`)
    for (const cell of cells)
      expect(cell).toMatchObject({
        model: OURS,
        provider: 'vllm',
        output: 'from our own',
        cost_usd: OURS_USD,
      })
    expect(run.cost_usd).toBeCloseTo(2 * (OURS_USD + OTHER_USD), 9)
    expect(before - (await balance())).toBeCloseTo(run.cost_usd, 9)
  })

  test('takes part in a conversation', async () => {
    const before = await balance()
    const { body: conversation } = await gateway.request('POST', CONVERSATIONS, {
      body: { models: ['red', OURS] },
    })
    const { status, body: turn } = await gateway.request(
      'POST',
      `${CONVERSATIONS}/${conversation.id}/turns`,
      { body: { content: 'Hi' } },
    )
    expect([status, turn.replies[1].output, turn.replies[1].cost_usd]).toEqual([
      200,
      'from our own',
      OURS_USD,
    ])
    expect(vllm.bodies()).toMatchObject([{ model: SERVED_AS }])
    expect(before - (await balance())).toBeCloseTo(OURS_USD + OTHER_USD, 9)
  })
})

describe('a lane with a model that no provider serves', () => {
  test.each([
    ['run', RUNS, { prompt: 'one' }],
    ['conversation', CONVERSATIONS, {}],
  ])('is refused in a %s as in a chat, with the name of the field', async (_, path, members) => {
    const { status, body } = await gateway.request('POST', path, {
      body: { ...members, models: ['red', NOBODYS] },
    })
    const expected = await refusalOfChat()
    expect(expected).toMatchObject({ status: 404, error: { code: 'model_not_found' } })
    expect({ status, error: body.error }).toMatchObject(expected)
    expect(vllm.requests).toHaveLength(0)
  })
})
