import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../../../../tests/support/long-or.ts'
import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { createLocalBus } from '../testing/local-bus.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'
import { setBudget, spentInWindow } from '../testing/test-budget.ts'
import type { WindowPeriod } from './budget-window.ts'

const HISTORIES = longOr(300, 6)
const CLIENTS = 50
/** The number of histories limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_800_000
/** Monday, the first of April: a day, a week and a month begin. */
const TURN_MS = Date.UTC(2030, 3, 1)
/** The clocks of processes differ by less than a second. */
const SKEWS_MS = [0, 900, -900]
const STEP_MS = 100

let stage: LedgerStage
let processes: readonly LedgerProcess[]
let nowMs = TURN_MS

beforeAll(async () => {
  stage = await createLedgerStage()
  const shared = { database: stage.database, messageBus: createLocalBus() }
  processes = await Promise.all(
    SKEWS_MS.map((skewMs) => stage.createProcess({ nowMs: () => nowMs + skewMs, holdWaitMs: 5, shared })),
  )
})
afterAll(() => stage.close())

const turn = fc.record({
  process: fc.nat({ max: SKEWS_MS.length - 1 }),
  wanted: fc.bigInt(0n, 40n),
  /** It may cost more than it holds. */
  cost: fc.bigInt(0n, 60n),
  /** Requests of other clients that begin before it ends. */
  outlives: fc.nat({ max: CLIENTS }),
  isReleased: fc.nat({ max: 9 }).map((number) => number === 0),
})
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

const budgetOrder = fc.record({
  subject: fc.constantFrom('account', 'key', 'tag:team=search'),
  period: fc.constantFrom<WindowPeriod>('day', 'week', 'month'),
  limitNanoUsd: fc.bigInt(0n, 1_500n),
})

const history = fc.record({
  budgets: fc.array(budgetOrder, { minLength: 1, maxLength: 4 }),
  turns: fc.array(turn, { minLength: 2 * CLIENTS, maxLength: 4 * CLIENTS }),
  /** The request after which one process loses its leases, as if it had stood still. */
  dies: fc.option(fc.record({ after: fc.nat({ max: 2 * CLIENTS }), process: fc.nat({ max: 2 }) })),
})

interface Charged {
  readonly atMs: number
  readonly costNanoUsd: bigint
}

const LABELS = ['tag:team=search']

test(
  `when a day, a week and a month turn under load, each window keeps to its limit and every charge counts in one of them, in ${HISTORIES} histories`,
  () =>
    fc.assert(
      fc.asyncProperty(history, async ({ budgets, turns, dies }) => {
        const payer = await stage.createPayer(100_000n)
        nowMs = TURN_MS - (turns.length / 2) * STEP_MS
        const made = []
        for (const order of budgets) {
          const subject = order.subject === 'key' ? `key:${payer.keyId}` : order.subject
          made.push({ ...order, id: await setBudget(first(), payer, { ...order, subject }) })
        }
        const answered = await runClients(payer, turns, dies)
        const charged = await readCharges(payer)
        if (dies === null) expect(sumOf(charged)).toBe(sumOf(answered))
        for (const atMs of [TURN_MS - 1, TURN_MS]) {
          const drained = await useUp(payer, atMs)
          const ofWindow = (one: Charged) => one.atMs < TURN_MS === atMs < TURN_MS
          const expected = sumOf(charged.filter(ofWindow)) + drained
          const left = []
          for (const { id, period, limitNanoUsd } of made) {
            const spent = await spentInWindow(stage.database, id, { period, atMs })
            expect(spent).toBe(expected)
            left.push(limitNanoUsd - spent)
          }
          // Nothing is lost: the tightest budget is used up exactly.
          expect(left.toSorted((a, b) => Number(a - b))[0]).toBe(0n)
        }
        expect(await stage.findDifferences()).toEqual([])
      }),
      // A history takes long, so that looking for the smallest one would not end.
      { numRuns: HISTORIES, endOnFailure: true },
    ),
  FAR_AWAY_MS,
)

/** Requests of fifty clients, each of which takes the next turn. The clock goes on with every request that begins. */
async function runClients(
  payer: Payer,
  turns: readonly Turn[],
  dies: { readonly after: number; readonly process: number } | null,
): Promise<Charged[]> {
  const charged: Charged[] = []
  let begun = 0
  const client = async (): Promise<void> => {
    for (;;) {
      const number = begun
      const next = turns[number]
      if (next === undefined) return
      begun += 1
      nowMs += STEP_MS
      if (number === dies?.after) await stage.declareDead(processAt(dies.process).borrower.id)
      const one = await request(payer, next, () => begun >= Math.min(number + next.outlives, turns.length))
      if (one !== null) charged.push(one)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return charged
}

async function request(
  payer: Payer,
  { process, ...asked }: Turn,
  isOver: () => boolean,
): Promise<Charged | null> {
  const { ledger } = processAt(process)
  const atMs = nowMs + (SKEWS_MS[process] ?? 0)
  try {
    const hold = await ledger.hold(payer, {
      ...PLAIN_CHARGE,
      labels: LABELS,
      wantedNanoUsd: asked.wanted,
      leastNanoUsd: asked.wanted / 2n,
      atMs,
    })
    while (!isOver()) await new Promise(setImmediate)
    if (asked.isReleased) {
      hold.release()
      return null
    }
    await hold.cover(asked.cost)
    const costNanoUsd = asked.cost < hold.amountNanoUsd ? asked.cost : hold.amountNanoUsd
    const record = usageOf(payer, { id: createId().replaceAll('-', ''), createdAtMs: atMs, labels: LABELS })
    await hold.settle({ costNanoUsd: asked.cost, record, isDelivered: true })
    return { atMs, costNanoUsd }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Takes what is left of the windows at a time, with requests that accept any part of what they want. */
async function useUp(payer: Payer, atMs: number): Promise<bigint> {
  let usedNanoUsd = 0n
  for (;;) {
    try {
      const wanted = { wantedNanoUsd: 10_000n, leastNanoUsd: 1n, labels: LABELS, atMs }
      const hold = await first().ledger.hold(payer, { ...PLAIN_CHARGE, ...wanted })
      const costNanoUsd = hold.amountNanoUsd
      const record = usageOf(payer, { createdAtMs: atMs, labels: LABELS })
      await hold.settle({ costNanoUsd, record, isDelivered: true })
      usedNanoUsd += costNanoUsd
    } catch (error) {
      if (error instanceof AppError && error.code === 'budget_exceeded') return usedNanoUsd
      throw error
    }
  }
}

async function readCharges({ accountId }: Payer): Promise<Charged[]> {
  await first().ledger.postCharges()
  const rows = await stage.database.query<{ at: Date; cost: bigint }>(
    'SELECT created_at AS at, cost_nano_usd AS cost FROM usage_records WHERE account_id = $1',
    [accountId],
  )
  return rows.map(({ at, cost }) => ({ atMs: at.getTime(), costNanoUsd: cost }))
}

const sumOf = (charges: readonly Charged[]): bigint =>
  charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)

function processAt(index: number): LedgerProcess {
  const process = processes[index]
  if (process === undefined) throw new Error(`there is no process ${index}`)
  return process
}

const first = () => processAt(0)
