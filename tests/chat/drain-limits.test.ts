import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { chunk, completion, heldBack, pacedStream } from '../upstreams/openai-server.ts'
import { readPieces } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const MODELS = [modelEntry('thinker', [{ provider: 'openai', model: 'thinker' }])]

let gateway: ChatGateway

const start = (settings: Record<string, string>) => startChatGateway({ models: MODELS, settings })

async function spentUsd({ accountId }: TestAccount): Promise<number> {
  const { body } = await gateway.request('GET', `/v1/admin/accounts/${accountId}/ledger`)
  return body.data
    .filter(({ kind }: { kind: string }) => kind === 'charge')
    .reduce((sum: number, { amount_usd: amountUsd }: { amount_usd: number }) => sum - amountUsd, 0)
}

async function untilDraining(): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.request('GET', '/metrics', { key: null })
    expect(body).toMatch(/^parkway_drains_running(\{[^}]*\})? [1-9]/m)
  })
}

describe('where a limit ends the reading of an answer that was left', () => {
  test('the most that the vendor can have written is charged, also if it reported usage before', async () => {
    gateway = await start({ PARKWAY_DRAINS_PER_ACCOUNT_MAX: '0' })
    onTestFinished(() => gateway.close())
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const early = { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 }
    paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' }, usage: early }))
    const account = await createAccount(gateway, { creditUsd: 5 })
    const body = chatBody({ model: 'thinker', stream: true, max_tokens: 200 })
    const reader = readPieces(await gateway.fetch('POST', CHAT, { key: account.key, body }))
    await reader.until(/Hello/)
    // 200 tokens take a hundredth of a second at the rate that no vendor reaches.
    await setTimeout(20)
    await reader.cancel()
    await eventually(async () => expect(await spentUsd(account)).toBeCloseTo((11 * 1 + 200 * 10) / 1e6, 9))
  })

  test('an account gets 429 for models that reason until one has ended, and goes on with others', async () => {
    gateway = await start({ PARKWAY_DRAINS_PER_ACCOUNT_MAX: '1' })
    onTestFinished(() => gateway.close())
    const answer = heldBack(completion())
    gateway.upstream.respondWith(answer.reply)
    const account = await createAccount(gateway, { creditUsd: 5 })
    const other = await createAccount(gateway, { creditUsd: 5 })
    const ask = ({ key }: TestAccount, model: string) =>
      gateway.request('POST', CHAT, { key, body: chatBody({ model, max_tokens: 20 }) })
    const client = new AbortController()
    const asked = gateway.upstream.requestNumber(0)
    const leaving = gateway.fetch('POST', CHAT, {
      key: account.key,
      body: chatBody({ model: 'thinker' }),
      signal: client.signal,
    })
    await asked
    client.abort()
    await expect(leaving).rejects.toThrow()
    await untilDraining()
    gateway.upstream.respondWith(completion())
    const refused = await ask(account, 'thinker')
    expect([refused.status, refused.body.error.code]).toEqual([429, 'concurrency_limit_reached'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(account, 'gpt-4o-mini')).status).toBe(200)
    expect((await ask(other, 'thinker')).status).toBe(200)
    answer.release()
    await eventually(async () => expect((await ask(account, 'thinker')).status).toBe(200))
  })
})
