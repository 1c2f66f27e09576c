import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import type { Ledger, Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'

let stage: LedgerStage
let process: LedgerProcess
let ledger: Ledger
beforeAll(async () => {
  stage = await createLedgerStage()
  process = await stage.createProcess()
  ledger = process.ledger
})
afterAll(() => stage.close())

async function createPayer(lots: readonly { promotional: boolean; amount: bigint }[]): Promise<Payer> {
  const payer = await stage.createPayer(0n)
  for (const { promotional, amount } of lots) {
    await stage.database.transaction((transaction) =>
      ledger.grant(transaction, {
        key: createId(),
        accountId: payer.accountId,
        amountNanoUsd: amount,
        class: promotional ? 'promotional' : 'paid',
        book: promotional ? 'promotion' : 'cash',
        reason: 'test',
      }),
    )
  }
  return payer
}

const holdOf = ({ accountId }: Payer, amountNanoUsd: bigint) => ({
  key: createId(),
  accountId,
  amountNanoUsd,
  expiresAtMs: Date.UTC(2099, 0, 1),
})

const settlementOf = (payer: Payer, key: string, chargedNanoUsd: bigint) => ({
  key,
  chargedNanoUsd,
  reason: 'test',
  usage: { writer: process.borrower.writer, record: usageOf(payer) },
})

const Lot = fc.record({ promotional: fc.boolean(), amount: fc.bigInt({ min: 1n, max: 50n }) })
const Wish = fc.record({
  account: fc.nat({ max: 2 }),
  amount: fc.bigInt({ min: 0n, max: 40n }),
  share: fc.nat({ max: 100 }),
})

describe('holds by the batch', () => {
  test('never exceed the balance, charge the given amounts, and leave a ledger that verifies', async () => {
    const property = fc.asyncProperty(
      fc.tuple(
        fc.array(Lot, { maxLength: 4 }),
        fc.array(Lot, { maxLength: 4 }),
        fc.array(Lot, { maxLength: 4 }),
      ),
      fc.array(Wish, { minLength: 1, maxLength: 12 }),
      async (lots, wishes) => {
        const payers = await Promise.all(lots.map(createPayer))
        const orders = wishes.map(({ account, amount, share }) => {
          const payer = payers[account] ?? payers[0]
          if (payer === undefined) throw new Error('there are payers')
          return { payer, hold: holdOf(payer, amount), charged: (amount * BigInt(share)) / 100n }
        })
        const opened = await stage.database.transaction((transaction) =>
          ledger.openHolds(
            transaction,
            orders.map(({ hold }) => hold),
          ),
        )
        expect(await stage.findDifferences()).toEqual([])
        const settled = orders.filter(({ hold }) => opened.has(hold.key))
        await stage.database.transaction((transaction) =>
          ledger.settleHolds(
            transaction,
            settled.map(({ payer, hold, charged }) => settlementOf(payer, hold.key, charged)),
          ),
        )
        expect(await stage.findDifferences()).toEqual([])
        for (const [index, payer] of payers.entries()) {
          const granted = sum(lots[index]?.map(({ amount }) => amount) ?? [])
          const charged = sum(settled.filter((order) => order.payer === payer).map((order) => order.charged))
          const { balanceNanoUsd } = await ledger.readBalance(payer.accountId)
          expect(balanceNanoUsd).toBe(granted - charged)
        }
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })

  test('use all of the credit, and leave out orders that do not fit', async () => {
    const payer = await createPayer([
      { promotional: true, amount: 10n },
      { promotional: false, amount: 20n },
    ])
    const orders = [8n, 15n, 7n, 1n].map((amount) => holdOf(payer, amount))
    const opened = await stage.database.transaction((transaction) => ledger.openHolds(transaction, orders))
    expect(orders.map(({ key }) => opened.has(key))).toEqual([true, true, true, false])
  })

  test('skip accounts with a budget or a debt', async () => {
    const budgeted = await createPayer([{ promotional: false, amount: 100n }])
    await ledger.setBudget(budgeted.accountId, 'day', 50n)
    const indebted = await createPayer([{ promotional: false, amount: 100n }])
    await stage.database.transaction((transaction) =>
      ledger.reverse(transaction, {
        key: createId(),
        accountId: indebted.accountId,
        amountNanoUsd: 150n,
        book: 'cash',
        reason: 'test',
      }),
    )
    const opened = await stage.database.transaction((transaction) =>
      ledger.openHolds(transaction, [holdOf(budgeted, 10n), holdOf(indebted, 10n)]),
    )
    expect(opened.size).toBe(0)
  })

  test('settled again with the same amount change nothing, and with another are refused as a whole', async () => {
    const payer = await createPayer([{ promotional: false, amount: 100n }])
    const [first, second] = [holdOf(payer, 10n), holdOf(payer, 10n)]
    await stage.database.transaction((transaction) => ledger.openHolds(transaction, [first, second]))
    const settle = (charges: readonly (readonly [string, bigint])[]) =>
      stage.database.transaction((transaction) =>
        ledger.settleHolds(
          transaction,
          charges.map(([key, charged]) => settlementOf(payer, key, charged)),
        ),
      )
    await settle([[first.key, 5n]])
    await settle([[first.key, 5n]])
    await expect(
      settle([
        [first.key, 6n],
        [second.key, 6n],
      ]),
    ).rejects.toThrow('was settled')
    await settle([
      [first.key, 5n],
      [second.key, 7n],
    ])
    expect((await ledger.readBalance(payer.accountId)).balanceNanoUsd).toBe(88n)
    expect(await stage.findDifferences()).toEqual([])
  })
})

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}
