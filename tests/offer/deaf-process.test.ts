import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startMutingProxy, type MutingProxy } from '../storage/mute-notifications.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { completion, USAGE } from '../upstreams/openai-server.ts'
import { addModel, askModel, MODELS, PRICE } from './offered-model.ts'

const COST_USD = (USAGE.prompt_tokens + 10 * USAGE.completion_tokens) / 1e6

let gateway: ChatGateway
let proxy: MutingProxy
/** Its database answers, and what others announce never arrives. */
let deaf: TestGateway

beforeAll(async () => {
  gateway = await startChatGateway()
  gateway.upstream.respondWith(completion())
  proxy = await startMutingProxy(gateway.connectionString)
  deaf = await startTestGateway({
    connectionString: proxy.connectionString,
    settings: {
      OPENAI_API_KEY: 'sk-upstream-credential',
      OPENAI_BASE_URL: gateway.upstream.apiUrl,
      OPENAI_WIRES: 'openai-chat',
    },
  })
})
afterAll(async () => {
  await deaf.close()
  await proxy.close()
  await gateway.close()
})

const costOf = async (from: TestGateway) => (await askModel(from, 'heard')).body.usage.cost_usd

test('a process that hears of no change notices it within five seconds, and charges the list that it knows until then', async () => {
  await addModel(gateway, 'heard')
  expect(await costOf(deaf)).toBe(COST_USD)
  proxy.mute()
  const price = { ...PRICE, input_usd_per_1m: 3, output_usd_per_1m: 30 }
  const beganMs = performance.now()
  const changed = gateway.request('POST', `${MODELS}/heard/prices`, { body: { price } })
  const costs: number[] = []
  await expect
    .poll(async () => {
      costs.push(await costOf(deaf))
      return costs.at(-1)
    })
    .toBe(3 * COST_USD)
  expect(performance.now() - beganMs).toBeLessThan(5_000)
  expect(costs.slice(0, -1).every((cost) => cost === COST_USD)).toBe(true)
  expect((await changed).status).toBe(201)
  const { unexplained, withoutList } = await explainCharges(gateway.connectionString)
  expect([unexplained, withoutList]).toEqual([[], 0])
})
