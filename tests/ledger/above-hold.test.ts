import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { readEvents } from '../chat/read-events.ts'
import { createAccount } from '../payments/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { findUnexplainedCharges } from '../support/unexplained-charges.ts'
import { chunk, completion, stream } from '../upstreams/openai-server.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [modelEntry('talker', [{ provider: 'openai', model: 'talker' }])],
  })
})
afterAll(async () => {
  const { connectionString } = gateway
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  const checks = await verifyLedger(database)
  const { unexplained, withoutList } = await findUnexplainedCharges(database)
  await database.close()
  await gateway.close()
  expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([])
  expect([unexplained, withoutList]).toEqual([[], 0])
})

/** Each request asks for ten tokens, which are held; the upstream may report more output tokens than that. */
const usageOf = (output: number) => ({
  prompt_tokens: 11,
  completion_tokens: output,
  total_tokens: 11 + output,
})
const priceOf = (output: number) => (11 + output * 10) / 1e6
/** The whole context of 100,000 tokens, and an answer as long. */
const HIGHEST_USD = (100_000 + 100_000 * 10) / 1e6
const body = (members: object = {}) => chatBody({ model: 'talker', max_tokens: 10, ...members })
const balanceOf = async (key: string) =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd
const uncovered = async () => {
  const { body: text } = await gateway.request('GET', '/metrics', { key: null })
  return Number(/^parkway_uncovered_usd_total (\S+)/m.exec(text)?.[1] ?? 0)
}

describe('usage above the hold', () => {
  test('is charged to the rest of the balance, for complete and streamed answers', async () => {
    const { key } = await createAccount(gateway, { creditUsd: 1 })
    gateway.upstream.respondWith(completion({ usage: usageOf(50_000) }))
    const whole = await gateway.request('POST', CHAT, { key, body: body() })
    expect(whole.body.usage.cost_usd).toBe(priceOf(50_000))
    const { body: records } = await gateway.request('GET', '/v1/usage/records', { key })
    expect(records.data).toMatchObject([{ cost_usd: priceOf(50_000), uncovered_usd: 0 }])
    expect(await balanceOf(key)).toBeCloseTo(1 - priceOf(50_000), 9)
    const said = chunk({ delta: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' })
    gateway.upstream.respondWith(stream([said, chunk({ choices: [], usage: usageOf(20_000) })]))
    const response = await gateway.fetch('POST', CHAT, {
      key,
      body: body({ stream: true, stream_options: { include_usage: true } }),
    })
    const { chunks } = await readEvents(response)
    expect(chunks.at(-1).usage.cost_usd).toBe(priceOf(20_000))
    expect(await balanceOf(key)).toBeCloseTo(1 - priceOf(50_000) - priceOf(20_000), 9)
  })

  test('is owed if the account has no more: nothing can be spent until it is paid', async () => {
    const before = await uncovered()
    const { key, accountId } = await createAccount(gateway, { creditUsd: 0.01 })
    gateway.upstream.respondWith(completion({ usage: usageOf(50_000) }))
    const { status, body: answer } = await gateway.request('POST', CHAT, { key, body: body() })
    expect([status, answer.usage.cost_usd]).toEqual([200, 0.01])
    const owedUsd = priceOf(50_000) - 0.01
    await eventually(async () => expect(await balanceOf(key)).toBeCloseTo(-owedUsd, 9))
    const grant = (amount: number) =>
      gateway.request('POST', `/v1/admin/accounts/${accountId}/credit`, {
        body: { amount_usd: amount, reason: 'paid' },
        headers: { 'idempotency-key': `paid-${accountId}-${amount}` },
      })
    expect((await grant(0.1)).status).toBeLessThan(300)
    const refused = await gateway.request('POST', CHAT, { key, body: body() })
    expect([refused.status, refused.body.error.code]).toEqual([402, 'insufficient_balance'])
    expect(refused.body.error.message).toContain('owes')
    expect((await grant(1)).status).toBeLessThan(300)
    expect(await balanceOf(key)).toBeCloseTo(1.1 - owedUsd, 9)
    gateway.upstream.respondWith(completion({ usage: usageOf(7) }))
    expect((await gateway.request('POST', CHAT, { key, body: body() })).status).toBe(200)
    expect((await uncovered()) - before).toBeCloseTo(priceOf(50_000) - 0.01, 9)
    const { body: records } = await gateway.request('GET', '/v1/usage/records', { key })
    expect(records.data[1]).toMatchObject({ cost_usd: 0.01, uncovered_usd: owedUsd })
  })

  test('is neither charged nor owed beyond what the model can cost at all', async () => {
    const before = await uncovered()
    const [poor, rich] = [
      await createAccount(gateway, { creditUsd: 0.01 }),
      await createAccount(gateway, { creditUsd: 100 }),
    ]
    gateway.upstream.respondWith(completion({ usage: usageOf(1_000_000_000) }))
    for (const { key } of [poor, rich])
      expect((await gateway.request('POST', CHAT, { key, body: body() })).status).toBe(200)
    await eventually(async () => expect(await balanceOf(poor.key)).toBeCloseTo(0.01 - HIGHEST_USD, 9))
    expect(await balanceOf(rich.key)).toBeCloseTo(100 - HIGHEST_USD, 9)
    expect((await uncovered()) - before).toBeGreaterThan(19_000)
  })

  test.each([
    [2, priceOf(50_000)],
    [0.3, 0.3],
  ])('uses all that a cap of %s dollars leaves, and no more', async (limit, cost) => {
    const { accountId, key } = await createAccount(gateway, { creditUsd: 5 })
    const { body: made } = await gateway.request('POST', `/v1/admin/accounts/${accountId}/api-keys`, {
      body: { scopes: ['inference'], limit_usd: limit },
    })
    gateway.upstream.respondWith(completion({ usage: usageOf(50_000) }))
    const { body: answer } = await gateway.request('POST', CHAT, { key: made.key, body: body() })
    expect(answer.usage.cost_usd).toBe(cost)
    expect(await balanceOf(key)).toBeCloseTo(5 - cost, 9)
  })
})
