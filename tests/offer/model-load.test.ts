import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { completion } from '../upstreams/openai-server.ts'
import { addModel, askModel, MODELS, PRICE, startTwoGateways, type TwoGateways } from './offered-model.ts'

const CLIENTS = longOr(32, 6)
const CHANGES = longOr(200, 20)

let both: TwoGateways

beforeAll(async () => {
  both = await startTwoGateways([])
  both.gateway.upstream.respondWith(completion())
})
afterAll(() => both.close())

test(`no request fails while a model and its price change ${CHANGES} times, and every process follows before a change is answered`, async () => {
  const { gateway, second } = both
  await addModel(gateway, 'loaded')
  const refused: unknown[] = []
  const load = { isOver: false, answered: 0 }
  const client = async (from: TestGateway): Promise<void> => {
    while (!load.isOver) {
      const answer = await askModel(from, 'loaded')
      load.answered += 1
      // An account's requests a minute are limited.
      if (answer.status !== 200 && answer.status !== 429) refused.push(answer.body)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index % 2 === 0 ? gateway : second))
  for (let round = 1; round <= CHANGES; round += 1) {
    const price = { ...PRICE, input_usd_per_1m: round }
    const changed = await (round % 2 === 0 ? gateway : second).request('PATCH', `${MODELS}/loaded`, {
      body: { price, max_output_tokens: 1_000 + round },
    })
    expect([round, changed.status]).toEqual([round, 200])
    for (const one of [gateway, second]) {
      const { body } = await one.request('GET', '/v1/models/loaded')
      expect([body.price.input_usd_per_1m, body.max_output_tokens]).toEqual([round, 1_000 + round])
    }
  }
  load.isOver = true
  await Promise.all(clients)
  expect([refused, load.answered > 0]).toEqual([[], true])
  const { unexplained, withoutList } = await explainCharges(gateway.connectionString)
  expect([unexplained, withoutList]).toEqual([[], 0])
})
