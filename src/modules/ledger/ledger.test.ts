import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from './testing/ledger-stage.ts'

let stage: LedgerStage
let first: LedgerProcess

beforeEach(async () => {
  stage = await createLedgerStage()
  first = await stage.createProcess()
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
  await stage.close()
})

test('a hold is settled for what was used, and the rest is free again', async () => {
  const payer = await stage.createPayer(1_000n)
  const hold = await first.ledger.hold(payer, { wantedNanoUsd: 600n, leastNanoUsd: 1n })
  expect(hold.amountNanoUsd).toBe(600n)
  await hold.settle({ costNanoUsd: 250n, record: usageOf(payer), isDelivered: false })
  expect((await first.ledger.readBalance(payer.accountId)).balanceNanoUsd).toBe(750n)
  expect(first.ledger.knownBalanceNanoUsd(payer.accountId)).toBe(750n)
})
