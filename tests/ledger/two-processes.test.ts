import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, until } from '../app/call.ts'
import { completion, silence, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { usageOf } from './metered-upstream.ts'
import { createCaller, type Call } from './spending-client.ts'
import { chatOf, startFleet, type Fleet, type Gateway, type Spender } from './start-fleet.ts'
import { randomShare } from '../support/random-share.ts'

const LEASE_MS = 5_000
const CLIENTS = 20
/** Upper limit of what a prompt of these tests costs by the gateway's estimate, with a margin. */
const PROMPT_NANO_USD_MAX = 2_000_000n

let upstream: OpenAiServer
let fleet: Fleet
let first: Gateway
let second: Gateway
const caller = createCaller()

beforeAll(async () => {
  upstream = await startOpenAiServer()
  fleet = await startFleet({ upstream, environment: { PARKWAY_LEASE_MS: String(LEASE_MS) } })
  first = await fleet.start()
  second = await fleet.start()
})
afterAll(async () => {
  expect(await fleet.findDifferences()).toEqual([])
  expect(fleet.findDefects()).toEqual([])
  caller.close()
  await fleet.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.requests.length = 0
  upstream.respondWith(({ body }) => {
    const { max_completion_tokens: tokens } = { max_completion_tokens: 400, ...Object(body) }
    return completion({ usage: usageOf(1 + Math.floor(randomShare() * tokens)) })
  })
})

const ask = ({ url }: Gateway, { key }: Spender, members: object = {}) =>
  caller.call(url, key, chatOf('Hi', { max_tokens: 100, ...members }))
const tokensAsked = (): unknown => upstream.bodies().at(-1)?.max_completion_tokens

test('idle credit of one process is available to another at once', async () => {
  const spender = await fleet.createSpender({ creditUsd: 1 })
  upstream.respondWith(completion({ usage: usageOf(10) }))
  expect((await ask(first, spender, { max_tokens: 99_000 })).status).toBe(200)
  const [lent] = await fleet.database.query<{ lent: bigint }>(
    'SELECT sum(amount_nano_usd - spent_nano_usd)::bigint AS lent FROM credit_leases WHERE account_id = $1',
    [spender.accountId],
  )
  expect(lent?.lent).toBeGreaterThan(990_000_000n)
  expect((await ask(second, spender, { max_tokens: 99_000 })).status).toBe(200)
  expect(tokensAsked()).toBe(99_000)
  expect((await ask(first, spender, { max_tokens: 99_000 })).status).toBe(200)
  expect(tokensAsked()).toBe(99_000)
})

// Concurrent, because each test waits until the holds of its last requests are released.
describe.concurrent('a cap', () => {
  test('a cap of a key applies to both processes together and is never exceeded', async () => {
    const spender = await fleet.createSpender({ creditUsd: 10, limitUsd: 0.05 })
    const calls = await spendAtBoth(spender)
    expect(refusalsOf(calls)).toEqual(['402 key_limit_reached'])
    await expectSpent(spender, 50_000_000n)
    expect(calls.find(({ status }) => status === 402)?.message).toMatch(/limit of 0\.05 USD is reached/)
  })

  test.each([
    ['monthly', 'monthly_usd'],
    ['daily', 'daily_usd'],
  ])(
    'a cap of an account, %s, applies to both processes together and is never exceeded',
    async (period, member) => {
      const spender = await fleet.createSpender({ creditUsd: 10 })
      await setBudget(spender, { [member]: 0.05 })
      const calls = await spendAtBoth(spender)
      expect(refusalsOf(calls)).toEqual(['402 insufficient_balance'])
      await expectSpent(spender, 50_000_000n)
      expect(calls.find(({ status }) => status === 402)?.message).toContain(`${period} budget of 0.05 USD`)
    },
  )

  test('a cap that is lowered while requests run applies at once, and one that is raised admits more requests', async () => {
    const spender = await fleet.createSpender({ creditUsd: 10, limitUsd: 1 })
    await Promise.all([ask(first, spender), ask(second, spender)])
    const keys = `/v1/admin/accounts/${spender.accountId}/api-keys`
    const { body: manager } = await fleet.manage('POST', keys, { scopes: ['inference', 'manage'] })
    const limit = async (limitUsd: number) => {
      const path = `/v1/tenants/me/api-keys/${spender.keyId}`
      const answer = await call('PATCH', first.url + path, {
        key: manager.key,
        body: { limit_usd: limitUsd },
      })
      expect(answer.status).toBe(200)
    }
    await limit(0.02)
    expect(refusalsOf(await spendAtBoth(spender))).toEqual(['402 key_limit_reached'])
    await expectSpent(spender, 20_000_000n)
    await limit(0.03)
    expect(refusalsOf(await spendAtBoth(spender))).toEqual(['402 key_limit_reached'])
    await expectSpent(spender, 30_000_000n)
  })
})

test('two accounts that share commits are each charged for their own requests', async () => {
  const spenders = await Promise.all([0.05, 0.03].map((creditUsd) => fleet.createSpender({ creditUsd })))
  const calls = await Promise.all(spenders.map((spender) => spendAtBoth(spender)))
  for (const [index, spender] of spenders.entries()) {
    const answered = calls[index]?.filter(({ status }) => status === 200) ?? []
    const charges = await fleet.readCharges(spender.accountId)
    expect(charges.map(({ requestId }) => requestId).toSorted()).toEqual(
      answered.map(({ requestId }) => String(requestId)).toSorted(),
    )
    await expectSpent(spender, index === 0 ? 50_000_000n : 30_000_000n)
  }
})

describe('promotional credit', () => {
  test('is spent before paid credit', async () => {
    const spender = await fleet.createSpender({ creditUsd: 1 })
    await grant(spender, { amount_usd: 0.001, class: 'promotional' })
    upstream.respondWith(completion({ usage: usageOf(40) }))
    for (let turn = 0; turn < 4; turn += 1) expect((await ask(first, spender)).status).toBe(200)
    const charges = await fleet.readCharges(spender.accountId)
    expect(charges.map(({ promotionalNanoUsd }) => promotionalNanoUsd)).toEqual([
      405_000n,
      405_000n,
      190_000n,
      0n,
    ])
  })

  test('is spent completely, whichever process has borrowed it', async () => {
    const spender = await fleet.createSpender({ creditUsd: 0.02 })
    await grant(spender, { amount_usd: 0.02, class: 'promotional' })
    await spendAtBoth(spender)
    await expectSpent(spender, 40_000_000n)
    const charges = await fleet.readCharges(spender.accountId)
    const left = charges.reduce((sum, { promotionalNanoUsd }) => sum - promotionalNanoUsd, 20_000_000n)
    expect(left).toBeLessThan(PROMPT_NANO_USD_MAX)
  })

  test('promotional credit that has expired cannot be spent and is written off', async () => {
    const spender = await fleet.createSpender({ creditUsd: 0.01 })
    const expiresAt = new Date(Date.now() + 1_500).toISOString()
    await grant(spender, { amount_usd: 1, class: 'promotional', expires_at: expiresAt })
    upstream.respondWith(completion({ usage: usageOf(10) }))
    expect((await ask(first, spender, { max_tokens: 90_000 })).status).toBe(200)
    await until(() => Date.now() > Date.parse(expiresAt))
    // May take a little longer, because the database uses its own clock.
    await until(async () => {
      await ask(first, spender, { max_tokens: 90_000 })
      return Number(tokensAsked()) <= 1_000
    })
    const charges = await fleet.readCharges(spender.accountId)
    expect(charges.at(-1)?.promotionalNanoUsd).toBe(0n)
  })
})

test('the credit held by a killed process is available again after its lease expires', async () => {
  const spender = await fleet.createSpender({ creditUsd: 1 })
  const third = await fleet.start()
  upstream.respondWith(silence)
  const dying = ask(third, spender, { max_tokens: 99_000 })
  await upstream.requestNumber(0)
  third.program.kill('SIGKILL')
  expect((await dying).isComplete).toBe(false)
  upstream.respondWith(completion({ usage: usageOf(10) }))
  let answered = 0
  await until(async () => {
    const { status } = await ask(first, spender, { max_tokens: 99_000 })
    expect([200, 402]).toContain(status)
    if (status === 200) answered += 1
    return status === 200 && tokensAsked() === 99_000
  })
  expect(await fleet.readCharges(spender.accountId)).toHaveLength(answered)
})

interface Spree {
  readonly until?: (calls: readonly Call[]) => boolean
}

/** Clients of both processes send requests until they are refused. */
async function spendAtBoth(spender: Spender, { until: isEnough = () => false }: Spree = {}): Promise<Call[]> {
  const calls: Call[] = []
  const spend = async (client: number) => {
    while (!isEnough(calls)) {
      const answer = await ask(client % 2 === 0 ? first : second, spender)
      calls.push(answer)
      if (answer.status !== 200) return
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => spend(client)))
  return calls
}

function refusalsOf(calls: readonly Call[]): string[] {
  const refused = calls.filter(({ status }) => status !== 200)
  return [...new Set(refused.map(({ status, code }) => `${status} ${code}`))]
}

/** Expects that the limit is used up, except for a rest that is too small for a prompt. */
async function expectSpent(spender: Spender, limitNanoUsd: bigint): Promise<void> {
  const charges = await fleet.readCharges(spender.accountId)
  const spent = charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)
  expect(spent).toBeLessThanOrEqual(limitNanoUsd)
  expect(spent).toBeGreaterThan(limitNanoUsd - PROMPT_NANO_USD_MAX)
}

async function setBudget(spender: Spender, budget: object): Promise<void> {
  const { status } = await fleet.manage('PATCH', `/v1/admin/accounts/${spender.accountId}/budget`, budget)
  expect(status).toBe(200)
}

async function grant(spender: Spender, credit: object): Promise<void> {
  const body = { reason: 'a test', ...credit }
  const { status } = await fleet.manage('POST', `/v1/admin/accounts/${spender.accountId}/credit`, body)
  expect([200, 201]).toContain(status)
}
