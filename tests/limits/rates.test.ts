import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { createKey, limitEverybody, sendChat, startGateways } from './gateways.ts'

let gateways: TestGateway[] = []
let close = async () => {}

afterEach(() => close())

async function start(count: number, settings: Record<string, string> = {}): Promise<TestGateway> {
  const started = await startGateways(count, settings)
  gateways = started.gateways
  close = started.close
  return gatewayNumber(0)
}

function gatewayNumber(index: number): TestGateway {
  const gateway = gateways[index]
  if (!gateway) throw new Error('no such gateway')
  return gateway
}

const countAdmitted = (answers: readonly TestAnswer[]) =>
  answers.filter(({ status }) => status === 200).length

describe('requests per minute', () => {
  test("two processes together admit exactly the requests of the key's limit", async () => {
    const gateway = await start(2)
    const key = await createKey(gateway, { requests_per_minute: 30 })
    const startedMs = performance.now()
    const answers: TestAnswer[] = []
    const hammer = async (on: TestGateway) => {
      for (let index = 0; index < 25; index += 1) answers.push(await sendChat(on, key))
    }
    await Promise.all(Array.from({ length: 8 }, (_, index) => hammer(gatewayNumber(index % 2))))
    const refilled = (performance.now() - startedMs) / 2_000
    expect(countAdmitted(answers)).toBeLessThanOrEqual(30 + Math.ceil(refilled))
    expect(countAdmitted(answers)).toBeGreaterThanOrEqual(30)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  })

  test('a retry after retry-after succeeds, also in another process', async () => {
    const gateway = await start(2)
    const key = await createKey(gateway, { requests_per_minute: 40 })
    const startedMs = performance.now()
    // Makes both processes borrow a part of the bucket.
    await Promise.all([sendChat(gatewayNumber(0), key), sendChat(gatewayNumber(1), key)])
    const answers = await Promise.all(Array.from({ length: 60 }, () => sendChat(gatewayNumber(0), key)))
    const refilled = (performance.now() - startedMs) / 1_500
    expect(countAdmitted(answers)).toBeLessThanOrEqual(38 + Math.ceil(refilled))
    let refused = await sendChat(gatewayNumber(1), key)
    // On a slow machine, the bucket may have refilled by one request.
    while (refused.status === 200) refused = await sendChat(gatewayNumber(1), key)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeLessThanOrEqual(2)
    await delay(seconds * 1000)
    expect((await sendChat(gatewayNumber(1), key)).status).toBe(200)
  })

  test('a changed limit applies at once', async () => {
    const gateway = await start(1)
    const parent = await createKey(gateway, { requests_per_minute: 3, scopes: ['inference', 'manage'] })
    const child = await createKey(gateway, { scopes: ['inference'] }, parent)
    for (let index = 0; index < 2; index += 1) await sendChat(gateway, parent)
    const { status, headers } = await sendChat(gateway, child)
    expect([status, headers.get('x-ratelimit-limit-requests')]).toEqual([200, '3'])
    // The child itself has sent one request of three.
    expect(Number(headers.get('x-ratelimit-remaining-requests'))).toBeLessThan(2)
  })

  test('tokens per minute', async () => {
    const gateway = await start(1)
    const key = await createKey(gateway, { requests_per_minute: 1000 })
    expect((await sendChat(gateway, key)).headers.get('x-ratelimit-limit-requests')).toBe('1000')
    const { body } = await gateway.request('GET', '/v1/tenants/me/api-keys')
    const [{ id }] = body.data.filter((entry: { name: string }) => entry.name === 'a key')
    await gateway.request('PATCH', `/v1/tenants/me/api-keys/${id}`, { body: { requests_per_minute: 1 } })
    const answers = await Promise.all(Array.from({ length: 5 }, () => sendChat(gateway, key)))
    expect(countAdmitted(answers)).toBe(1)
  })
})

describe('are counted by the usage, which replaces an estimate', () => {
  test('stay counted as far as they were used', async () => {
    const gateway = await start(1, limitEverybody({ tokens_per_minute: 5_000 }))
    const first = await sendChat(gateway, gateway.key, { max_tokens: 4_000 })
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('5000')
    // 1,000 tokens are left, plus those that refill while the request runs.
    expect(Number(first.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(4_000)
    // The answer was much shorter than its limit, so most of the estimate is returned immediately.
    const used = first.body.usage.total_tokens
    expect(used).toBeLessThan(500)
    for (let request = 0; request < 8; request += 1)
      expect((await sendChat(gateway, gateway.key, { max_tokens: 4_000 })).status).toBe(200)
  })

  test('one request larger than the limit waits for all of it, and is not refused forever', async () => {
    const gateway = await start(1, limitEverybody({ tokens_per_minute: 5_000 }))
    const messages = [{ role: 'user', content: 'word '.repeat(3_600) }]
    const first = await sendChat(gateway, gateway.key, { messages, max_tokens: 1 })
    expect(first.status).toBe(200)
    expect(first.body.usage.total_tokens).toBeGreaterThan(3_500)
    // The same number of tokens refills only after most of a minute.
    const second = await sendChat(gateway, gateway.key, { messages, max_tokens: 1 })
    expect([second.status, second.body.error?.code]).toEqual([429, 'rate_limit_exceeded'])
  })

  test('are refused with the time until there are enough', async () => {
    const gateway = await start(1, limitEverybody({ tokens_per_minute: 2_000 }))
    expect((await sendChat(gateway, gateway.key, { max_tokens: 100_000 })).status).toBe(200)
  })

  test('spend per minute', async () => {
    const gateway = await start(1, limitEverybody({ tokens_per_minute: 3_000 }))
    const leaving = new AbortController()
    const askSlowly = () =>
      gateway.request('POST', '/v1/chat/completions', {
        signal: leaving.signal,
        body: {
          model: 'gpt-4o-mini',
          max_tokens: 2_500,
          messages: [{ role: 'user', content: '[[sandbox:latency ms=60000]] Hi' }],
        },
      })
    const answers = [askSlowly(), askSlowly()]
    // The budget is enough for one request; the other one is refused immediately.
    const refused = await Promise.race(answers)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    leaving.abort()
    await Promise.allSettled(answers)
  })
})

describe('stops an account that spends too fast, in every process', () => {
  test('stops an account that spends faster than it may, in every process', async () => {
    const settings = {
      ...limitEverybody({ spend_usd_per_minute: 0.01 }),
      PARKWAY_BOOTSTRAP_CREDIT_USD: '100',
    }
    await start(2, settings)
    const content = 'word '.repeat(4_000)
    let refused: TestAnswer | null = null
    let spentUsd = 0
    for (let index = 0; index < 60 && refused === null; index += 1) {
      const answer = await sendChat(gatewayNumber(index % 2), undefined, {
        messages: [{ role: 'user', content }],
        max_tokens: 200,
      })
      if (answer.status === 200) spentUsd += answer.body.usage.cost_usd
      else refused = answer
    }
    expect([refused?.status, refused?.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(refused?.body.error.message).toContain('spent')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(spentUsd).toBeLessThan(0.02)
  })
})

describe('follow the balance, and the account can read its tier', () => {
  test('new credit raises the tier', async () => {
    const gateway = await start(1, { PARKWAY_BOOTSTRAP_CREDIT_USD: '25' })
    const { body } = await gateway.request('GET', '/v1/tenants/me')
    expect([body.limits_tier, body.limits]).toEqual([
      'tier_2',
      {
        requests_per_minute: 120_000,
        tokens_per_minute: 2_000_000_000,
        concurrent_requests: 4_096,
        spend_usd_per_minute: 200,
        media_bytes_max: 200_000_000_000,
        task_bytes_max: 20_000_000_000,
        dataset_bytes_max: 20_000_000_000,
        file_bytes_max: 200_000_000_000,
        response_bytes_max: 20_000_000_000,
        stored_response_bytes_max: 20_000_000_000,
      },
    ])
    const key = await createKey(gateway, { requests_per_minute: 7 })
    const own = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(own.body.limits.requests_per_minute).toBe(7)
  })

  test('a credit moves the account up', async () => {
    const gateway = await start(1, { PARKWAY_BOOTSTRAP_CREDIT_USD: '0.5' })
    expect((await sendChat(gateway)).headers.get('x-ratelimit-limit-requests')).toBe('6000')
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    const granted = await gateway.request('POST', `/v1/admin/accounts/${me.id}/credit`, {
      body: { amount_usd: 5, reason: 'a test' },
    })
    expect(granted.status).toBeLessThan(300)
    await expect
      .poll(async () => (await sendChat(gateway)).headers.get('x-ratelimit-limit-requests'))
      .toBe('30000')
  })
})
