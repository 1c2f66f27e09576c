import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { longOr } from '../support/long-or.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { findUnexplainedCharges } from '../support/unexplained-charges.ts'
import { completion } from '../upstreams/openai-server.ts'
import { addModel, askModel, MODELS, PRICE, startTwoGateways, type TwoGateways } from './offered-model.ts'

const SEED = 20_261_119
const ROUNDS = longOr(400, 60)

let both: TwoGateways
let gateway: TwoGateways['gateway']
let second: TestGateway
let database: Database

beforeAll(async () => {
  both = await startTwoGateways([])
  ;({ gateway, second } = both)
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 30_000,
  })
})
afterAll(async () => {
  await database.close()
  await both.close()
})

interface UsageRow {
  readonly model: string
  readonly price_version: string | null
  readonly created_at: string
  readonly cost_usd: number
}

async function recordsOf(model: string): Promise<UsageRow[]> {
  const records: UsageRow[] = []
  let after = ''
  for (;;) {
    const { body } = await gateway.request('GET', `/v1/usage/records?limit=100&model=${model}${after}`)
    records.push(...body.data)
    if (!body.has_more) return records
    after = `&after=${body.next_cursor}`
  }
}

const verify = () => findUnexplainedCharges(database)

const setPrice = (id: string, factor: number, effectiveFrom?: string) =>
  gateway.request('POST', `${MODELS}/${id}/prices`, {
    body: {
      price: { ...PRICE, input_usd_per_1m: factor, output_usd_per_1m: 10 * factor },
      ...(effectiveFrom === undefined ? {} : { effective_from: effectiveFrom }),
    },
  })

test('a request that began before the moment has the list of before, and one from the moment on the next, in every process', async () => {
  gateway.upstream.respondWith(completion())
  // Short answers hold little, so that four clients never wait for each other's credit.
  const { body: model } = await addModel(gateway, 'crossing', { max_output_tokens: 100 })
  const momentMs = Date.now() + 1_500
  const set = await setPrice('crossing', 7, new Date(momentMs).toISOString())
  expect(set.status).toBe(201)
  const client = async (from: TestGateway): Promise<void> => {
    while (Date.now() < momentMs + 300) expect((await askModel(from, 'crossing')).status).toBe(200)
  }
  await Promise.all([gateway, second, gateway, second].map(client))
  const records = await recordsOf('crossing')
  const wrong = records.filter(
    ({ created_at: at, price_version: version }) =>
      version !== (Date.parse(at) < momentMs ? model.price_version : set.body.id),
  )
  expect(wrong).toEqual([])
  expect(new Set(records.map(({ price_version: version }) => version)).size).toBe(2)
})

test(`every charge of ${ROUNDS} random requests and price changes is explained by exactly the price list that it names`, async () => {
  const random = createRandom(SEED)
  const models = ['random-1', 'random-2', 'gpt-4o-mini'] as const
  for (const id of models.slice(0, 2)) await addModel(gateway, id)
  const running: Promise<unknown>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const prompt = random.below(5_000)
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: random.below(3_000),
      prompt_tokens_details: {
        cached_tokens: random.below(prompt + 10),
        cache_write_tokens: random.below(50),
      },
      completion_tokens_details: { reasoning_tokens: random.below(20) },
    }
    gateway.upstream.respondWith(
      completion({ usage: { ...usage, total_tokens: prompt + usage.completion_tokens } }),
    )
    if (random.next() < 0.3) running.push(setPrice(random.pick(models), random.below(900) / 100))
    running.push(askModel(random.pick([gateway, second]), random.pick(models)))
    if (running.length >= 8) await Promise.all(running.splice(0))
  }
  await Promise.all(running)
  const { unexplained, checked, withoutList } = await verify()
  expect([unexplained, withoutList]).toEqual([[], 0])
  expect(checked).toBeGreaterThanOrEqual(ROUNDS)
})

test('a charge, a count or a price list that was altered is named, and nothing else', async () => {
  await addModel(gateway, 'altered')
  await askModel(gateway, 'altered')
  await askModel(gateway, 'altered')
  const [newest] = (await gateway.request('GET', '/v1/usage/records?model=altered&limit=1')).body.data
  expect((await verify()).unexplained).toEqual([])
  const { id, price_version: version } = newest
  const add = (column: string, amount: number) =>
    `UPDATE usage_records SET ${column} = ${column} + ${amount} WHERE id = $1`
  const name = (from: string, to: string) =>
    `UPDATE usage_records SET details = replace(details, ';${from}', ';${to}') WHERE id = $1`
  for (const [alter, restore, problem] of [
    [add('cost_nano_usd', -1), add('cost_nano_usd', 1), 'by the price list'],
    [add('prompt_tokens', 1), add('prompt_tokens', -1), 'by the price list'],
    [add('cached_tokens', 1), add('cached_tokens', -1), null],
    [name(`${version};t`, '999999;t'), name('999999;t', `${version};t`), 'which is not stored'],
    [name(`${version};t`, `${version};u+1`), name(`${version};u+1`, `${version};t`), 'has no price for'],
  ] as const) {
    await database.query(alter, [id])
    const { unexplained } = await verify()
    if (problem === null) expect(unexplained).toEqual([])
    else expect([unexplained.length, unexplained[0]]).toEqual([1, expect.stringContaining(problem)])
    expect(unexplained.every((one) => one.startsWith(id))).toBe(true)
    await database.query(restore, [id])
  }
  expect((await verify()).unexplained).toEqual([])
})
