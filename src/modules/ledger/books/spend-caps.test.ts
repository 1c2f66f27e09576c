import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import type { Payer } from '../ledger.ts'
import { budgetScope } from './spend-caps.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage
let processes: [LedgerProcess, LedgerProcess]
let nowMs = Date.UTC(2030, 0, 31, 23, 59)

beforeAll(async () => {
  stage = await createLedgerStage()
  const createProcess = () => stage.createProcess({ nowMs: () => nowMs, holdWaitMs: 50 })
  processes = [await createProcess(), await createProcess()]
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

/** The charged amount, or the error code of the refusal. */
async function spend(process: LedgerProcess, payer: Payer, costNanoUsd: bigint): Promise<bigint | string> {
  try {
    const hold = await process.ledger.hold(payer, {
      ...PLAIN_CHARGE,
      wantedNanoUsd: costNanoUsd,
      leastNanoUsd: costNanoUsd,
    })
    const record = usageOf(payer, { createdAtMs: nowMs })
    await hold.settle({ costNanoUsd, record, isDelivered: false })
    return costNanoUsd
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

/** Many concurrent requests in both processes, then single ones until none fits. */
async function spendAll(payer: Payer, costs: readonly bigint[]): Promise<void> {
  await Promise.all(
    costs.map((cost, index) => spend(index % 2 === 0 ? processes[0] : processes[1], payer, cost)),
  )
  for (const process of processes)
    for (const cost of [7n, 3n, 1n]) await spendWhileItFits(process, payer, cost)
}

async function spendWhileItFits(process: LedgerProcess, payer: Payer, costNanoUsd: bigint): Promise<void> {
  for (let count = 0; count < 100; count += 1) {
    if (typeof (await spend(process, payer, costNanoUsd)) === 'string') return
  }
}

const COSTS = Array.from({ length: 60 }, (_, index) => BigInt((index * 7) % 23))

describe('a cap is used up to the last nano-dollar and not beyond, by two processes', () => {
  test('a cap is used up to the last nano-dollar and not beyond, by two processes of a key', async () => {
    const payer = { ...(await stage.createPayer(10_000n)), limitNanoUsd: 300n }
    await spendAll(payer, COSTS)
    expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(300n)
    expect(await spend(processes[0], payer, 1n)).toBe('key_limit_reached')
  })

  test.each(['day', 'month'] as const)(
    'a cap is used up to the last nano-dollar and not beyond, by two processes of an account by %s',
    async (period) => {
      const payer = await stage.createPayer(10_000n)
      await processes[0].ledger.setBudget(payer.accountId, period, 300n)
      await spendAll(payer, COSTS)
      expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(300n)
      expect(await spend(processes[1], payer, 1n)).toBe('insufficient_balance')
      expect(await processes[1].ledger.readBudgets(payer.accountId)).toEqual([
        { period, limitNanoUsd: 300n, spentNanoUsd: 300n },
      ])
    },
  )

  test('a cap is used up to the last nano-dollar and not beyond, by two processes of all kinds together, the smallest first', async () => {
    const payer = { ...(await stage.createPayer(250n)), limitNanoUsd: 200n }
    await processes[0].ledger.setBudget(payer.accountId, 'day', 150n)
    await processes[0].ledger.setBudget(payer.accountId, 'month', 220n)
    await spendAll(payer, COSTS)
    expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(150n)
  })
})

test('a refusal says which limit is reached', async () => {
  const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 10n }
  const hold = async (wanted: bigint) =>
    processes[0].ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: wanted, leastNanoUsd: wanted })
  await expect(hold(11n)).rejects.toThrow(
    `The key's limit of 0.00000001 USD is reached: 0.000000011 USD needed, 0.00000001 USD left.`,
  )
  await processes[0].ledger.setBudget(payer.accountId, 'day', 5n)
  await expect(hold(6n)).rejects.toThrow(
    `The account's daily budget of 0.000000005 USD is reached: 0.000000006 USD needed, 0.000000005 USD left.`,
  )
})

test('a new month is a new budget', async () => {
  const payer = await stage.createPayer(1_000n)
  await processes[0].ledger.setBudget(payer.accountId, 'month', 100n)
  expect(await spend(processes[0], payer, 100n)).toBe(100n)
  expect(await spend(processes[1], payer, 1n)).toBe('insufficient_balance')
  const before = nowMs
  nowMs = Date.UTC(2030, 1, 1)
  try {
    expect(await spend(processes[1], payer, 100n)).toBe(100n)
    expect(await spend(processes[0], payer, 1n)).toBe('insufficient_balance')
  } finally {
    nowMs = before
  }
})

test('a request counts for the day it began, even when it holds its credit on the next', async () => {
  const payer = await stage.createPayer(1_000n)
  await processes[0].ledger.setBudget(payer.accountId, 'day', 100n)
  const request = { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 100n }
  const yesterday = await processes[0].ledger.hold(payer, { ...request, atMs: nowMs - 86_400_000 })
  const today = await processes[0].ledger.hold(payer, request)
  await yesterday.settle({
    costNanoUsd: 100n,
    record: usageOf(payer, { createdAtMs: nowMs - 86_400_000 }),
    isDelivered: false,
  })
  today.release()
  expect(await spend(processes[1], payer, 100n)).toBe(100n)
})

describe('a limit that changes while it is in use', () => {
  test('a limit that changes while it is in use and is lowered holds at once in every process, also for what they had borrowed', async () => {
    const payer = { ...(await stage.createPayer(100_000n)), limitNanoUsd: 8_000n }
    for (const process of processes) expect(await spend(process, payer, 10n)).toBe(10n)
    const lowered = { ...payer, limitNanoUsd: 50n }
    await Promise.all(processes.map((process) => spendWhileItFits(process, lowered, 7n)))
    const spent = (await stage.sumOfCharges(payer.accountId)).costNanoUsd
    expect(spent).toBeLessThanOrEqual(50n)
    expect(spent).toBeGreaterThan(43n)
  })

  test('a limit that changes while it is in use and is raised lets requests through again', async () => {
    const payer = { ...(await stage.createPayer(100_000n)), limitNanoUsd: 10n }
    expect(await spend(processes[0], payer, 10n)).toBe(10n)
    expect(await spend(processes[0], payer, 1n)).toBe('key_limit_reached')
    expect(await spend(processes[0], { ...payer, limitNanoUsd: 20n }, 10n)).toBe(10n)
  })

  test('works the same for budgets, which can be taken away again', async () => {
    const payer = await stage.createPayer(100_000n)
    const { ledger } = processes[0]
    await ledger.setBudget(payer.accountId, 'day', 8_000n)
    for (const process of processes) expect(await spend(process, payer, 10n)).toBe(10n)
    await ledger.setBudget(payer.accountId, 'day', 50n)
    await Promise.all(processes.map((process) => spendWhileItFits(process, payer, 10n)))
    expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(50n)
    await ledger.setBudget(payer.accountId, 'day', null)
    expect(await spend(processes[1], payer, 500n)).toBe(500n)
  })
})

describe('an answer delivered by a process that was declared dead', () => {
  const deliver = async (payer: Payer, meanwhile: () => Promise<void>): Promise<void> => {
    const process = await stage.createProcess({ nowMs: () => nowMs, holdWaitMs: 50 })
    const hold = await process.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 60n, leastNanoUsd: 60n })
    await stage.declareDead(process.borrower.id)
    await meanwhile()
    const record = usageOf(payer, { createdAtMs: nowMs })
    await hold.settle({ costNanoUsd: 60n, record, isDelivered: true }).catch(() => {})
    await process.close()
  }

  test("is charged under the key's cap, with room recalled from another process", async () => {
    const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 100n }
    await deliver(payer, async () => {
      const all = await processes[0].ledger.hold(payer, {
        ...PLAIN_CHARGE,
        wantedNanoUsd: 100n,
        leastNanoUsd: 100n,
      })
      all.release()
    })
    await spendWhileItFits(processes[0], payer, 10n)
    expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(100n)
  })

  test('is charged beyond the cap if other requests have used it up', async () => {
    const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 100n }
    await deliver(payer, () => spendWhileItFits(processes[0], payer, 10n))
    expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(160n)
  })
})

test('days and months are in UTC', () => {
  const lastMomentMs = Date.UTC(2030, 11, 31, 23, 59, 59, 999)
  expect(budgetScope('a', 'day', lastMomentMs)).toBe('day:a:2030-12-31')
  expect(budgetScope('a', 'month', lastMomentMs)).toBe('month:a:2030-12')
  expect(budgetScope('a', 'month', lastMomentMs + 1)).toBe('month:a:2031-01')
})

test('after a delivered answer exceeded a cap, later requests are refused until the cap holds again', async () => {
  const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 100n }
  const [, other] = processes
  const late = await stage.createProcess({ holdWaitMs: 50 })
  const answered = await late.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 10n, leastNanoUsd: 10n })
  await stage.declareDead(late.borrower.id)
  await late.borrower.declareLost(late.borrower.id)
  const held = await other.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 100n })
  await answered.settle({ costNanoUsd: 10n, record: usageOf(payer), isDelivered: true })
  // While the cap is exceeded, every process refuses requests and remembers why.
  expect(await spend(other, payer, 1n)).toBe('key_limit_reached')
  await held.settle({ costNanoUsd: 50n, record: usageOf(payer), isDelivered: false })
  expect(await spend(other, payer, 41n)).toBe('key_limit_reached')
  expect(await spend(other, payer, 40n)).toBe(40n)
  expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 3, costNanoUsd: 100n })
})

test('a free request is admitted under a cap that must be read again, even without room', async () => {
  const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 10n }
  const [process] = processes
  for (const cost of [8n, 2n]) {
    expect(await spend(process, payer, cost)).toBe(cost)
    await process.ledger.announceChange(payer.accountId)
    expect(await spend(process, payer, 0n)).toBe(0n)
  }
})
