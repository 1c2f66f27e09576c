import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { eventually } from '../support/eventually.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { until } from '../app/call.ts'
import { CHAT, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createRecordingFetch } from '../clients/recording-fetch.ts'
import { balanceOf, createAccount, type TestAccount } from '../payments/accounts.ts'
import {
  chunksOf,
  completion,
  failure,
  heldBack,
  json,
  silence,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { usageOf } from './metered-upstream.ts'
import { chatOf, MODEL, readCharges, type ChargeRow } from './start-fleet.ts'

/** Upper limit of what the prompt of these tests costs by the gateway's estimate, with a margin. */
const PROMPT_USD_MAX = 0.002

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  const dear = { price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10_000 } }
  gateway = await startChatGateway({
    models: [
      modelEntry(MODEL, [{ provider: 'openai', model: MODEL }]),
      modelEntry('dear', [{ provider: 'openai', model: 'dear' }], dear),
    ],
    settings: { PARKWAY_DRAINS_MAX: '0' },
  })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  const checks = await verifyLedger(database)
  expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([])
  await database.close()
  await gateway.close()
})
beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const ask = ({ key }: TestAccount, members: object = {}) =>
  gateway.request('POST', CHAT, { key, body: chatOf('Hi', members) })
const chargesOf = ({ accountId }: TestAccount) => readCharges(database, accountId)
const payerWith = (creditUsd: number) => createAccount(gateway, { creditUsd })
const tokensAsked = (index = -1) => gateway.upstream.bodies().at(index)?.max_completion_tokens

/** Expects that a request can use the whole balance, minus the maximum cost of its prompt. */
async function takesAll(payer: TestAccount, balanceUsd: number): Promise<void> {
  const tokens = Math.floor((balanceUsd - PROMPT_USD_MAX) * 100_000)
  gateway.upstream.respondWith(completion())
  const answer = await ask(payer, { max_tokens: tokens })
  expect([answer.status, tokensAsked()]).toEqual([200, tokens])
}

async function soleCharge(payer: TestAccount): Promise<ChargeRow> {
  const charges = await until(async () => {
    const found = await chargesOf(payer)
    return found.length > 0 && found
  })
  expect(charges).toHaveLength(1)
  const [charge] = charges
  if (charge === undefined) throw new Error('no charge')
  return charge
}

describe('a hold covers the answer', () => {
  test('a balance that covers the prompt but not one token of the answer is refused with the required amount', async () => {
    const payer = await payerWith(0.5)
    const { status, body } = await ask(payer, { model: 'dear', n: 60 })
    expect([status, body.error.code]).toEqual([402, 'insufficient_balance'])
    expect(body.error.message).toMatch(/^0\.60\d+ USD needed, 0\.5 USD available/)
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('the price of an answer is held while it is written', async () => {
    const payer = await payerWith(1)
    const answer = heldBack(completion({ usage: usageOf(10) }))
    gateway.upstream.respondWith(answer.reply, completion({ usage: usageOf(10) }))
    const first = ask(payer, { max_tokens: 90_000 })
    await gateway.upstream.requestNumber(0)
    const second = await ask(payer, { max_tokens: 90_000 })
    expect(second.status).toBe(200)
    // The part that the first request does not hold, which is less than a tenth.
    expect(tokensAsked()).toBeLessThan(10_000)
    answer.release()
    expect((await first).status).toBe(200)
  })
})

test('the sum of all holds never exceeds the balance, however large it is', async () => {
  const payer = await payerWith(1_500)
  const answer = heldBack(completion({ usage: usageOf(1) }))
  gateway.upstream.respondWith(answer.reply)
  const asking = [1, 2, 3].map(() => ask(payer, { model: 'dear', max_tokens: 100_000 }))
  await gateway.upstream.requestNumber(1)
  const refused = await Promise.race(asking)
  expect(refused.status).toBe(402)
  const asked = gateway.upstream.bodies().map(({ max_completion_tokens: tokens }) => Number(tokens))
  expect(asked.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(150_000)
  answer.release()
  expect((await Promise.all(asking)).filter(({ status }) => status === 200)).toHaveLength(2)
})

test('a stream without credit is answered with status 402, not with 200 and an error frame', async () => {
  const payer = await payerWith(1)
  const answer = heldBack(completion({ usage: usageOf(1) }))
  gateway.upstream.respondWith(answer.reply)
  const running = ask(payer, { model: 'dear', max_tokens: 100_000 })
  await gateway.upstream.requestNumber(0)
  const refused = await Promise.all(
    Array.from({ length: 50 }, () => ask(payer, { model: 'dear', stream: true, n: 60 })),
  )
  expect(new Set(refused.map(({ status, body }) => `${status} ${body.error?.code}`))).toEqual(
    new Set(['402 insufficient_balance']),
  )
  expect(gateway.upstream.requests).toHaveLength(1)
  answer.release()
  expect((await running).status).toBe(200)
})

test('an upstream that reports too much usage takes no more than the balance, and the account owes the rest', async () => {
  const payer = await payerWith(0.01)
  gateway.upstream.respondWith(completion({ usage: usageOf(5_000_000) }))
  const { status, body } = await ask(payer)
  expect(status).toBe(200)
  expect(body.usage.cost_usd).toBeLessThanOrEqual(0.01)
  expect((await soleCharge(payer)).costNanoUsd).toBeLessThanOrEqual(10_000_000n)
  await eventually(async () => expect(await balanceOf(gateway, payer.key)).toBeLessThan(0))
  expect((await ask(payer)).status).toBe(402)
})

describe('holds are not leaked', () => {
  const broken: [string, Reply, object][] = [
    ['is refused by the upstream', failure(400), {}],
    ['finds the upstream broken', failure(500), {}],
    ['gets garbage', json('not json at all'), {}],
    ['gets an answer without a choice', completion({ choices: [] }), {}],
    ['gets a stream that ends before it begins', stream([], { ending: 'cut' }), { stream: true }],
    ['gets a stream that is cut', stream(chunksOf('Hello').slice(0, 2), { ending: 'cut' }), { stream: true }],
  ]
  test.each(broken)('a request that %s leaves no hold', async (_name, reply, members) => {
    const payer = await payerWith(1)
    gateway.upstream.respondWith(reply)
    await ask(payer, { max_tokens: 90_000, ...members })
    const charged = (await chargesOf(payer)).reduce((sum, { costNanoUsd }) => sum + Number(costNanoUsd), 0)
    await takesAll(payer, 1 - charged / 1e9)
  })

  test('clients that disconnect leave no hold', async () => {
    const payer = await payerWith(1)
    gateway.upstream.respondWith(silence)
    for (const isStream of [false, true]) {
      const client = new AbortController()
      // A complete answer that nobody reads costs as much as it can.
      const body = chatOf('Hi', { max_tokens: 40_000, stream: isStream })
      const asking = gateway.fetch('POST', CHAT, { key: payer.key, body, signal: client.signal })
      const request = await gateway.upstream.requestNumber(gateway.upstream.requests.length)
      client.abort()
      await expect(asking).rejects.toThrow()
      await request.abandoned
    }
    const charges = await eventually(async () => {
      const found = await chargesOf(payer)
      expect(found).toHaveLength(2)
      return found
    })
    await takesAll(payer, 1 - charges.reduce((sum, { costNanoUsd }) => sum + Number(costNanoUsd), 0) / 1e9)
    expect(await chargesOf(payer)).toHaveLength(3)
  })

  test('many failures in a row do not change the balance', async () => {
    const payer = await payerWith(1)
    gateway.upstream.respondWith(failure(400))
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(payer, { max_tokens: 1_000 })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
    expect(await balanceOf(gateway, payer.key)).toBe(1)
    await takesAll(payer, 1)
  })
})

test('the hold of a failed request is released with its answer, not by a later job', async () => {
  const payer = await payerWith(1)
  for (let round = 0; round < 5; round += 1) {
    gateway.upstream.respondWith(failure(400))
    expect((await ask(payer, { max_tokens: 99_000 })).status).toBe(400)
    gateway.upstream.respondWith(json('{}', 400))
    expect((await ask(payer, { max_tokens: 99_000, stream: true })).status).toBe(400)
  }
  await takesAll(payer, 1)
})

describe('an upstream that explicitly reports zero usage', () => {
  const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  test.each([
    ['a whole answer', completion({ usage: zero }), false],
    ['a stream', stream([...chunksOf('Hello').slice(0, -1), { choices: [], usage: zero }]), true],
  ])('%s with zero reported usage is free', async (_name, reply, isStream) => {
    const payer = await payerWith(1)
    gateway.upstream.respondWith(reply)
    expect((await ask(payer, { stream: isStream })).status).toBe(200)
    expect(await soleCharge(payer)).toMatchObject({ costNanoUsd: 0n, completionTokens: 0 })
    expect(await balanceOf(gateway, payer.key)).toBe(1)
  })
})

test.each([
  // 1000 input tokens, 800 of them cached, and 10 output tokens.
  [
    'inside the prompt',
    { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 800 }, completion_tokens: 10 },
  ],
  ['beside the input', { input_tokens: 200, cache_read_input_tokens: 800, output_tokens: 10 }],
])('cached tokens counted %s are charged once each', async (_name, usage) => {
  const payer = await payerWith(1)
  gateway.upstream.respondWith(completion({ usage }))
  const { body } = await ask(payer)
  expect(body.usage.cost_usd).toBe(0.00038)
  expect((await soleCharge(payer)).costNanoUsd).toBe(200n * 1_000n + 800n * 100n + 10n * 10_000n)
})

test('a spent budget is answered with 402, which the OpenAI client does not retry', async () => {
  const payer = await payerWith(0)
  const { fetch, exchanges } = createRecordingFetch()
  const client = new OpenAI({ apiKey: payer.key, baseURL: `${gateway.baseUrl}/v1`, fetch, maxRetries: 3 })
  const asking = client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] })
  await expect(asking).rejects.toMatchObject({
    status: 402,
    code: 'insufficient_balance',
    type: 'billing_error',
  })
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0]?.headers.get('x-should-retry')).toBe('false')
  expect(gateway.upstream.requests).toHaveLength(0)
})

describe('an answer that the balance does not cover', () => {
  test('is limited to what the balance covers', async () => {
    const payer = await payerWith(0.01)
    const { status } = await ask(payer)
    expect(status).toBe(200)
    const tokens = tokensAsked()
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThanOrEqual(1_000)
    // Most of the cent pays for the answer; the prompt costs at most a fifth of it.
    expect(tokens).toBeGreaterThan(800)
  })

  test('is not shortened if it fits', async () => {
    const payer = await payerWith(0.01)
    await ask(payer, { max_tokens: 500 })
    expect(tokensAsked()).toBe(500)
  })

  test('is refused only if not even one token is covered, with the required and the available amount', async () => {
    const payer = await payerWith(0.002)
    const first = await ask(payer)
    expect([first.status, tokensAsked() > 0]).toEqual([200, true])
    const poor = await payerWith(0.0001)
    const { status, body, headers } = await ask(poor)
    expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([
      402,
      'insufficient_balance',
      'false',
    ])
    expect(body.error.message).toMatch(/^0\.00\d+ USD needed, 0\.0001 USD available/)
  })
})
