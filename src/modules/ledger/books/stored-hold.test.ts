import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Cap } from './lend-credit.ts'
import type { Ledger, Payer } from '../ledger.ts'
import { keyScope } from './spend-caps.ts'
import { sweepOnce } from './sweep-ledger.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage
let ledger: Ledger

beforeAll(async () => {
  stage = await createLedgerStage()
  ledger = (await stage.createProcess()).ledger
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

const NOON_MS = Date.UTC(2040, 0, 1, 12)

const open = (
  { accountId }: Payer,
  amountNanoUsd: bigint,
  details: { key?: string; caps?: readonly Cap[] } = {},
) =>
  stage.database.transaction((transaction) =>
    ledger.openHold(transaction, {
      key: `${details.key ?? 'task'}:${accountId}`,
      accountId,
      amountNanoUsd,
      expiresAtMs: NOON_MS,
      caps: details.caps ?? [],
    }),
  )
const settle = (payer: Payer, chargedNanoUsd: bigint) =>
  stage.database.transaction((transaction) =>
    ledger.settleHold(transaction, {
      key: `task:${payer.accountId}`,
      chargedNanoUsd,
      reason: 'a video',
      usage: { writer: 0, record: usageOf(payer, { operation: 'video' }) },
    }),
  )
const release = ({ accountId }: Payer) =>
  stage.database.transaction((transaction) => ledger.releaseHold(transaction, `task:${accountId}`))

test('a hold of a task is opened, settled and released once per key', async () => {
  const payer = await stage.createPayer(100n)
  expect(await open(payer, 60n)).toEqual({ isNew: true })
  expect(await open(payer, 60n)).toEqual({ isNew: false })
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 100n, heldNanoUsd: 60n })
  expect(await settle(payer, 45n)).toEqual({ isNew: true })
  expect(await settle(payer, 45n)).toEqual({ isNew: false })
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 55n, heldNanoUsd: 0n })
  expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 45n })
})

test('a hold is never settled for more than it holds', async () => {
  const payer = await stage.createPayer(100n)
  await open(payer, 60n)
  await expect(settle(payer, 61n)).rejects.toThrow('violates check constraint')
  expect(await release(payer)).toEqual({ isNew: true })
  expect(await release(payer)).toEqual({ isNew: false })
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 100n, heldNanoUsd: 0n })
})

test('a hold that was closed cannot be closed in another way', async () => {
  const payer = await stage.createPayer(100n)
  await open(payer, 60n)
  await settle(payer, 10n)
  await expect(release(payer)).rejects.toThrow('was settled before, with 10 nano-dollars charged')
  await expect(settle(payer, 20n)).rejects.toThrow('was settled before')
})

test('the sweep releases an expired hold, and settling it afterwards is refused', async () => {
  const payer = await stage.createPayer(100n)
  await open(payer, 60n)
  await stage.database.query(
    `UPDATE credit_holds SET expires_at = now() - interval '1 second' WHERE account_id = $1`,
    [payer.accountId],
  )
  await sweepOnce(stage.database)
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 100n, heldNanoUsd: 0n })
  await expect(settle(payer, 10n)).rejects.toThrow('was released before')
})

test('holds of tasks and of requests share the balance', async () => {
  const payer = await stage.createPayer(100n)
  await open(payer, 60n)
  const request = await ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 1n })
  expect(request.amountNanoUsd).toBe(40n)
  await expect(open(payer, 1n, { key: 'other' })).rejects.toMatchObject({ code: 'insufficient_balance' })
  request.release()
  await ledger.recall(payer.accountId)
  expect(await open(payer, 40n, { key: 'other' })).toEqual({ isNew: true })
})

test('a hold of a task counts against its caps until it is closed', async () => {
  const payer = await stage.createPayer(1_000n)
  const capped = { ...payer, limitNanoUsd: 100n }
  const caps = [{ scope: keyScope(payer.keyId), limitNanoUsd: 100n }]
  await open(payer, 70n, { caps })
  await expect(open(payer, 31n, { key: 'other', caps })).rejects.toMatchObject({ code: 'key_limit_reached' })
  const request = await ledger.hold(capped, { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 1n })
  expect(request.amountNanoUsd).toBe(30n)
  request.release()
  await settle(payer, 20n)
  const later = await ledger.hold(capped, { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 1n })
  expect(later.amountNanoUsd).toBe(80n)
  later.release()
})

test('promotional credit of a hold pays first', async () => {
  const payer = await stage.createPayer(100n)
  const order = { key: `gift:${payer.accountId}`, accountId: payer.accountId, reason: 'gift' }
  await stage.database.transaction((transaction) =>
    ledger.grant(transaction, { ...order, amountNanoUsd: 30n, class: 'promotional', book: 'promotion' }),
  )
  await open(payer, 80n)
  await settle(payer, 50n)
  const [row] = await stage.database.query(
    'SELECT promotional_nano_usd AS promotional FROM usage_records WHERE account_id = $1',
    [payer.accountId],
  )
  expect(row).toEqual({ promotional: 30n })
})
