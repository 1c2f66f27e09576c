import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CreditClass, Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { hold, settle, spend } from '../testing/spend.ts'

const LATER_MS = Date.UTC(2031, 0, 1)
const MUCH_LATER_MS = Date.UTC(2032, 0, 1)
let stage: LedgerStage
let grants = 0

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterEach(async () => {
  vi.useRealTimers()
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

async function grant(
  { ledger }: LedgerProcess,
  { accountId }: Payer,
  order: { amountNanoUsd: bigint; class: CreditClass; expiresAtMs?: number },
): Promise<void> {
  const key = `grant:${(grants += 1)}`
  await stage.database.transaction((transaction) =>
    ledger.grant(transaction, { key, accountId, book: 'promotion', reason: 'test', ...order }),
  )
  await ledger.announceChange(accountId)
}

/** Cost and promotional part of each request, in the order of the charges. */
async function readCharges({ ledger }: LedgerProcess, { accountId }: Payer): Promise<[bigint, bigint][]> {
  await ledger.postCharges()
  const rows = await stage.database.query<{ cost: bigint; promotional: bigint }>(
    `SELECT cost_nano_usd AS cost, promotional_nano_usd AS promotional FROM usage_records
     WHERE account_id = $1 ORDER BY id`,
    [accountId],
  )
  return rows.map(({ cost, promotional }) => [cost, promotional])
}

async function readSpent({ accountId }: Payer, column: 'class' | 'expires_at'): Promise<Map<string, bigint>> {
  const rows = await stage.database.query<{ name: string; spent: bigint }>(
    `SELECT ${column}::text AS name, sum(granted_nano_usd - remaining_nano_usd)::bigint AS spent
     FROM credit_lots WHERE account_id = $1 GROUP BY 1`,
    [accountId],
  )
  return new Map(rows.map(({ name, spent }) => [name, spent]))
}

describe('promotional credit that arrives', () => {
  test('is spent first by every process, even if each has borrowed paid credit', async () => {
    const processes = [await stage.createProcess(), await stage.createProcess()]
    const [first] = processes
    if (first === undefined) throw new Error('two were started')
    const payer = await stage.createPayer(1_000_000n)
    for (const process of processes) await spend(process, payer, 1n)
    await grant(first, payer, { amountNanoUsd: 500_000n, class: 'promotional' })
    for (const process of processes) await spend(process, payer, 100n)
    expect(await readCharges(first, payer)).toEqual([
      [1n, 0n],
      [1n, 0n],
      [100n, 100n],
      [100n, 100n],
    ])
  })

  test('does not take credit from running holds, and pays for them too', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(1_000n)
    const running = await hold(process, payer, 1_000n)
    await grant(process, payer, { amountNanoUsd: 300n, class: 'promotional' })
    await settle(payer, running, 1_000n)
    await spend(process, payer, 300n)
    const charges = await readCharges(process, payer)
    expect(charges.map(([cost]) => cost)).toEqual([1_000n, 300n])
    expect(charges.reduce((sum, [, promotional]) => sum + promotional, 0n)).toBe(300n)
  })

  test('is spent before credit that expires later', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(0n)
    await grant(process, payer, { amountNanoUsd: 10_000n, class: 'promotional', expiresAtMs: MUCH_LATER_MS })
    await spend(process, payer, 1n)
    await grant(process, payer, { amountNanoUsd: 10_000n, class: 'promotional', expiresAtMs: LATER_MS })
    await spend(process, payer, 50n)
    await process.close()
    const spent = await readSpent(payer, 'expires_at')
    expect([...spent.values()].toSorted((a, b) => Number(a - b))).toEqual([1n, 50n])
  })

  test('is found by a process that missed the message, at its next periodic check', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const process = await stage.createProcess()
    const payer = await stage.createPayer(1_000_000n)
    await spend(process, payer, 1n)
    await stage.database.transaction((transaction) =>
      process.ledger.grant(transaction, {
        key: 'untold',
        accountId: payer.accountId,
        amountNanoUsd: 500_000n,
        class: 'promotional',
        book: 'promotion',
        reason: 'test',
      }),
    )
    await vi.advanceTimersByTimeAsync(5_000)
    vi.useRealTimers()
    await vi.waitFor(
      async () => {
        await spend(process, payer, 10n)
        expect((await readCharges(process, payer)).at(-1)).toEqual([10n, 10n])
      },
      { timeout: 20_000 },
    )
  })
})

test('two hundred requests on an empty account query the database a few times, not once each', async () => {
  let transactions = 0
  const counted = {
    ...stage.database,
    query: stage.database.query.bind(stage.database),
    keepConnection: stage.database.keepConnection.bind(stage.database),
    transaction: ((work) => {
      transactions += 1
      return stage.database.transaction(work)
    }) as typeof stage.database.transaction,
  }
  const { createLocalBus } = await import('../testing/local-bus.ts')
  const process = await stage.createProcess({
    holdWaitMs: 20,
    shared: { database: counted, messageBus: createLocalBus() },
  })
  const payer = await stage.createPayer(100n)
  const running = await hold(process, payer, 100n)
  transactions = 0
  const asked = Array.from({ length: 200 }, () =>
    hold(process, payer, 10n).then(
      () => 'held',
      (error: { code: string }) => error.code,
    ),
  )
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['insufficient_balance']))
  expect(transactions).toBeLessThan(100)
  await running.settle({ costNanoUsd: 100n, record: usageOf(payer), isDelivered: false })
})
