import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBreakingFleet, type BreakingFleet } from './breaking-fleet.ts'
import type { MeteredUpstream } from './metered-upstream.ts'
import { isAnswered, spendFromMany, untilSpent } from './spend-until-refused.ts'
import { createCaller, type Call } from './spending-client.ts'
import type { ChargeRow, Fleet, Spender } from './start-fleet.ts'
import { longOr } from '../support/long-or.ts'

const BREAKS = longOr(32, 3)
/** One break out of this many restarts the database. The others kill a gateway. */
const RESTART_EVERY = longOr(4, 3)
/** The number of breaks limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_200_000
const GATEWAYS = longOr(3, 2)
const CLIENTS_OF_EACH = longOr(24, 6)
const TOKENS_MAX = 200
const DOLLAR = 1_000_000_000n
const OUTAGE_MESSAGE = 'the database cannot be reached'

let breaking: BreakingFleet
let fleet: Fleet
let upstream: MeteredUpstream
const caller = createCaller()

beforeAll(async () => {
  breaking = await startBreakingFleet({ gateways: GATEWAYS })
  ;({ fleet, upstream } = breaking)
})
afterAll(async () => {
  caller.close()
  await breaking.close()
})

describe('killing processes and restarting the database at random', () => {
  let rich: Spender
  let poor: Spender
  const calls = new Map<Spender, Call[]>()
  const charges = new Map<Spender, ChargeRow[]>()

  beforeAll(async () => {
    rich = await fleet.createSpender({ creditUsd: 100 })
    poor = await fleet.createSpender({ creditUsd: 1 })
    let isOver = false
    const [ofRich, ofPoor] = await Promise.all([
      spendFrom(rich, () => !isOver),
      spendFrom(poor, () => !isOver),
      breaking.breakThings({ breaks: BREAKS, restartEvery: RESTART_EVERY }).finally(() => (isOver = true)),
    ])
    // The holds of killed processes are released when their leases expire.
    await breaking.untilReclaimed()
    ofRich.push(...(await untilServed(() => spendFrom(rich, () => false))))
    ofPoor.push(...(await untilSpent(() => spendFrom(poor, () => true))))
    calls.set(rich, ofRich).set(poor, ofPoor)
    for (const spender of [rich, poor]) charges.set(spender, await fleet.readCharges(spender.accountId))
  }, FAR_AWAY_MS)

  const callsOf = (spender: Spender) => calls.get(spender) ?? []
  const chargesOf = (spender: Spender) => charges.get(spender) ?? []
  const bothSpenders = () => [rich, poor]

  test('leaves a ledger that verifies', async () => {
    expect(await fleet.findDifferences()).toEqual([])
  })

  test('leaves no completed answer uncharged, and nothing charged twice', () => {
    for (const spender of bothSpenders()) {
      const completed = callsOf(spender).filter(isAnswered)
      expect(completed.length).toBeGreaterThan(CLIENTS_OF_EACH)
      const ids = chargesOf(spender).map(({ requestId }) => requestId)
      expect(new Set(ids).size).toBe(ids.length)
      const charged = new Set(ids)
      expect(completed.filter(({ requestId }) => !charged.has(String(requestId)))).toEqual([])
    }
  })

  test('charges the reported usage of every completed answer', () => {
    const costs = new Map(chargesOf(rich).map(({ requestId, costNanoUsd }) => [requestId, costNanoUsd]))
    const wrong = callsOf(rich)
      .filter(isAnswered)
      .map(({ requestId }) => String(requestId))
      .filter((requestId) => costs.get(requestId) !== priceOf(requestId))
    expect(wrong).toEqual([])
  })

  test('charges besides that only requests that were cut off', () => {
    for (const spender of bothSpenders()) {
      const answered = new Set(
        callsOf(spender)
          .filter(isAnswered)
          .map(({ requestId }) => String(requestId)),
      )
      const cut = callsOf(spender).filter(({ isComplete }) => !isComplete)
      const cutIds = new Set(cut.flatMap(({ content }) => upstream.requestIdsOf(content)))
      const beyond = chargesOf(spender).filter(({ requestId }) => !answered.has(requestId))
      expect(beyond.filter(({ requestId }) => !cutIds.has(requestId))).toEqual([])
    }
  })

  test('gives clients nothing worse than 503 with retry-after', () => {
    // On a loaded machine the database takes longer to restart than a gateway waits for it, and the gateway reports that.
    const defects = fleet.findDefects().filter((defect) => !defect.startsWith(OUTAGE_MESSAGE))
    expect(defects).toEqual([])
    const complete = [...calls.values()].flat().filter(({ isComplete }) => isComplete)
    const refused = complete.filter(({ status }) => status !== 200 && status !== 402)
    expect(refused.filter(({ status, code }) => status !== 503 || code !== 'service_unavailable')).toEqual([])
    expect(refused.filter(({ headers }) => !/^[1-9]\d*$/.test(String(headers['retry-after'])))).toEqual([])
    expect(callsOf(rich).filter(({ status }) => status === 402)).toEqual([])
  })

  test('returns the holds of dead processes, and all of the dollar can be spent', () => {
    const spent = chargesOf(poor).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)
    expect(spent).toBeLessThanOrEqual(DOLLAR)
    expect(spent).toBeGreaterThanOrEqual((DOLLAR * 99n) / 100n)
  })

  test('does not stop the gateway from serving again', () => {
    const last = callsOf(rich).slice(-CLIENTS_OF_EACH)
    expect(new Set(last.map(({ status, isComplete }) => `${status} ${isComplete}`))).toEqual(
      new Set(['200 true']),
    )
  })
})

function spendFrom({ key }: Spender, mayGoOn: () => boolean): Promise<Call[]> {
  return spendFromMany(breaking, caller, {
    count: CLIENTS_OF_EACH,
    keyOf: () => key,
    tokensMax: TOKENS_MAX,
    mayGoOn,
  })
}

/** A loaded machine may refuse a few for a moment. Only the timeout of the test limits how often all are asked. */
async function untilServed(ask: () => Promise<Call[]>): Promise<Call[]> {
  const calls: Call[] = []
  for (;;) {
    const round = await ask()
    calls.push(...round)
    if (round.every(isAnswered)) return calls
  }
}

function priceOf(requestId: string): bigint {
  const reported = upstream.reported.get(requestId)
  if (reported === undefined) throw new Error(`the upstream knows nothing of ${requestId}`)
  return BigInt(reported.promptTokens) * 1_000n + BigInt(reported.completionTokens) * 10_000n
}
