import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from './metered-upstream.ts'
import { startRestartablePostgres, type RestartablePostgres } from './restartable-postgres.ts'
import { createCaller, type Call } from './spending-client.ts'
import { chatOf, startFleet, type ChargeRow, type Fleet, type Gateway, type Spender } from './start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const BREAKS = longOr(32, 3)
/** One break out of this many restarts the database. The others kill a gateway. */
const RESTART_EVERY = longOr(4, 3)
/** The number of breaks limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_200_000
const GATEWAYS = longOr(3, 2)
const CLIENTS_OF_EACH = longOr(24, 6)
const LEASE_MS = 2_000
const TOKENS_MAX = 200
const DOLLAR = 1_000_000_000n
const OUTAGE_MESSAGE = 'the database cannot be reached'

let upstream: MeteredUpstream
let postgres: RestartablePostgres
let fleet: Fleet
const gateways: (Gateway | null)[] = []
const caller = createCaller()

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 20 + randomShare() * 600 })
  postgres = await startRestartablePostgres()
  // No worker processes, because each of them would be a borrower too.
  const environment = { PARKWAY_LEASE_MS: String(LEASE_MS), LOG_LEVEL: 'error', PARKWAY_ROLE: 'api' }
  fleet = await startFleet({ upstream, environment, connectionString: postgres.connectionString })
  for (let count = 0; count < GATEWAYS; count += 1) gateways.push(await fleet.start())
})
afterAll(async () => {
  caller.close()
  await fleet.close()
  await postgres.close()
  await upstream.close()
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
      spendFromMany(rich, () => !isOver),
      spendFromMany(poor, () => !isOver),
      breakThings().finally(() => (isOver = true)),
    ])
    // The holds of killed processes are released when their leases expire.
    await until(async () => (await countDeadBorrowers()) === 0)
    ofRich.push(...(await untilServed(() => spendFromMany(rich, () => false))))
    ofPoor.push(...(await untilSpent(() => spendFromMany(poor, () => true))))
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

/** Each client sends at least one request, and continues while `mayGoOn` returns true and the account has credit. */
async function spendFromMany(spender: Spender, mayGoOn: () => boolean): Promise<Call[]> {
  const calls: Call[] = []
  const spend = async (client: number) => {
    for (;;) {
      const { url } = await until(pickGateway)
      const content = `call ${(callNumber += 1)}`
      const body = chatOf(content, { max_tokens: TOKENS_MAX, stream: client % 2 === 0 })
      const call = await caller.call(url, spender.key, body)
      calls.push(call)
      if (call.status === 402 || !mayGoOn()) return
      // A client retries a failed request after a short delay, as real clients do.
      if (call.status !== 200) await delay(20 + randomShare() * 100)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS_OF_EACH }, (_, client) => spend(client)))
  return calls
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

/** A gateway may refuse a request because another one, which is slow, did not return its unused credit in time. */
async function untilSpent(ask: () => Promise<Call[]>): Promise<Call[]> {
  const calls: Call[] = []
  for (;;) {
    const round = await ask()
    calls.push(...round)
    if (!round.some(isAnswered)) return calls
  }
}

let callNumber = 0

/** Returns any of the gateways, or null if it is being replaced. */
const pickGateway = () => gateways[Math.floor(randomShare() * gateways.length)]

async function breakThings(): Promise<void> {
  const replacing: Promise<void>[] = []
  for (let turn = 1; turn <= BREAKS; turn += 1) {
    await delay(500 + randomShare() * 1_500)
    if (turn % RESTART_EVERY === 0) await postgres.restart(turn % 8 === 0 ? 'fast' : 'immediate')
    else replacing.push(replaceOne())
  }
  await Promise.all(replacing)
}

async function replaceOne(): Promise<void> {
  const victim = await until(pickGateway)
  const index = gateways.indexOf(victim)
  gateways[index] = null
  victim.program.kill('SIGKILL')
  await victim.program.exited
  // A gateway that starts while the database restarts may exit; it is started again, as a supervisor would do.
  gateways[index] = await until(() => fleet.start().catch(() => null))
}

/** Counts open borrowers beyond one for each running gateway: those of killed processes. */
async function countDeadBorrowers(): Promise<number> {
  const [row] = await fleet.database.query<{ open: bigint }>(
    'SELECT count(*) AS open FROM borrowers WHERE closed_at IS NULL',
  )
  return Number(row?.open ?? 0n) - GATEWAYS
}

function isAnswered({ status, isComplete }: Call): boolean {
  return status === 200 && isComplete
}

function priceOf(requestId: string): bigint {
  const reported = upstream.reported.get(requestId)
  if (reported === undefined) throw new Error(`the upstream knows nothing of ${requestId}`)
  return BigInt(reported.promptTokens) * 1_000n + BigInt(reported.completionTokens) * 10_000n
}
