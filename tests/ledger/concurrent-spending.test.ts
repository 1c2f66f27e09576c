import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { startMeteredUpstream, type MeteredUpstream } from './metered-upstream.ts'
import { createCaller, type Call } from './spending-client.ts'
import { chatOf, startFleet, type ChargeRow, type Fleet } from './start-fleet.ts'

const CLIENTS = 200
/** One process lends to nobody, and of four each borrows from the others. */
const PROCESSES = longOr([1, 2, 4], [1, 4])
/** A request holds 0.2 cents and costs a random part of it. */
const TOKENS_MAX = 200
const DOLLAR = 1_000_000_000n

let upstream: MeteredUpstream

beforeAll(async () => {
  upstream = await startMeteredUpstream()
})
afterAll(() => upstream.close())

describe.each(PROCESSES)('200 clients that share one dollar over %i processes', (processes) => {
  let fleet: Fleet
  let calls: Call[]
  let charges: ChargeRow[]

  beforeAll(async () => {
    fleet = await startFleet({ upstream })
    const { url } = await fleet.start({ processes })
    const { key, accountId } = await fleet.createSpender({ creditUsd: 1 })
    calls = await spendUntilRefused(url, key)
    charges = await fleet.readCharges(accountId)
  })
  afterAll(() => fleet.close())

  test('spend all of it and not one nano-dollar more', () => {
    const spent = charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)
    expect(spent).toBeLessThanOrEqual(DOLLAR)
    expect(spent).toBeGreaterThanOrEqual((DOLLAR * 99n) / 100n)
  })

  test('get only answers and refusals for lack of credit', () => {
    const outcomes = new Set(calls.map(({ status, code, isComplete }) => `${status} ${code} ${isComplete}`))
    expect(outcomes).toEqual(new Set(['200 null true', '402 insufficient_balance true']))
    expect(calls.filter(({ status }) => status === 402)).toHaveLength(CLIENTS)
  })

  test('are charged once for each answer, by the reported usage, and for nothing else', () => {
    const answered = calls.filter(({ status }) => status === 200).map(({ requestId }) => String(requestId))
    expect(charges.map(({ requestId }) => requestId).toSorted()).toEqual(answered.toSorted())
    const expected = charges.map(({ requestId }) => priceOf(requestId))
    expect(charges.map(({ costNanoUsd }) => costNanoUsd)).toEqual(expected)
  })

  test('leave a ledger that verifies', async () => {
    expect(await fleet.findDifferences()).toEqual([])
    if (processes > 1) return
    // The same check with the command that an operator runs.
    const { code, stdout } = await fleet.workplace.run(['ledger', 'verify'], {
      environment: { DATABASE_URL: fleet.connectionString },
    })
    expect([code, stdout.includes('BROKEN')]).toEqual([0, false])
  })
})

async function spendUntilRefused(url: string, key: string): Promise<Call[]> {
  const caller = createCaller()
  const calls: Call[] = []
  const spend = async (client: number) => {
    for (let turn = 0; ; turn += 1) {
      const isStream = (client + turn) % 2 === 0
      const content = `${client}.${turn}`
      const call = await caller.call(url, key, chatOf(content, { max_tokens: TOKENS_MAX, stream: isStream }))
      calls.push(call)
      if (call.status !== 200) return
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => spend(client)))
  caller.close()
  return calls
}

function priceOf(requestId: string): bigint {
  const { promptTokens, completionTokens } = upstream.reported.get(requestId) ?? {
    promptTokens: 0,
    completionTokens: 0,
  }
  return BigInt(promptTokens) * 1_000n + BigInt(completionTokens) * 10_000n
}
