import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { Hold, Payer } from './ledger.ts'
import { sweepOnce } from './sweep-ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from './testing/ledger-stage.ts'

let stage: LedgerStage
let first: LedgerProcess
let second: LedgerProcess

beforeAll(async () => {
  stage = await createLedgerStage()
  first = await stage.createProcess()
  second = await stage.createProcess()
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

const hold = async (
  process: LedgerProcess,
  payer: Payer,
  wantedNanoUsd: bigint,
  leastNanoUsd = wantedNanoUsd,
) => process.ledger.hold(payer, { wantedNanoUsd, leastNanoUsd })
const settle = (payer: Payer, open: Hold, costNanoUsd: bigint) =>
  open.settle({ costNanoUsd, record: usageOf(payer), isDelivered: false })
const spend = async (process: LedgerProcess, payer: Payer, costNanoUsd: bigint) =>
  settle(payer, await hold(process, payer, costNanoUsd), costNanoUsd)
const balanceOf = async ({ accountId }: Payer) => (await first.ledger.readBalance(accountId)).balanceNanoUsd

describe('a hold', () => {
  test('is settled for what was used, and the rest is free again', async () => {
    const payer = await stage.createPayer(1_000n)
    const open = await hold(first, payer, 600n, 1n)
    expect(open.amountNanoUsd).toBe(600n)
    await settle(payer, open, 250n)
    expect(await balanceOf(payer)).toBe(750n)
    expect(first.ledger.knownBalanceNanoUsd(payer.accountId)).toBe(750n)
  })

  test('comes from memory once enough is borrowed', async () => {
    const payer = await stage.createPayer(1_000_000n)
    await spend(first, payer, 1n)
    const open = first.ledger.hold(payer, { wantedNanoUsd: 5n, leastNanoUsd: 5n })
    expect(open).not.toBeInstanceOf(Promise)
    ;(await open).release()
  })

  test('is never charged more than it holds', async () => {
    const payer = await stage.createPayer(1_000n)
    await settle(payer, await hold(first, payer, 100n), 5_000n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 100n })
  })

  test('is cut to what there is, and refused below the least', async () => {
    const payer = await stage.createPayer(100n)
    const open = await hold(first, payer, 500n, 100n)
    expect(open.amountNanoUsd).toBe(100n)
    open.release()
    await expect(hold(first, payer, 500n, 101n)).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: '0.000000101 USD needed, 0.0000001 USD available. Add credit to go on.',
    })
  })

  test('is not cut short because others take what was borrowed for it', async () => {
    const payer = await stage.createPayer(100n)
    const holds = await Promise.all(Array.from({ length: 10 }, () => hold(first, payer, 10n, 1n)))
    expect(holds.map(({ amountNanoUsd }) => amountNanoUsd)).toEqual(holds.map(() => 10n))
    for (const open of holds) open.release()
  })

  test('ends once', async () => {
    const payer = await stage.createPayer(100n)
    const open = await hold(first, payer, 50n)
    open.release()
    expect(() => open.release()).toThrow('twice')
    expect(() => settle(payer, open, 1n)).toThrow('twice')
  })

  test('of nothing is free of charge, even without credit', async () => {
    const payer = await stage.createPayer(0n)
    await settle(payer, await hold(first, payer, 0n), 0n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 0n })
  })

  test('pays with promotional credit first', async () => {
    const payer = await stage.createPayer(100n)
    await grant(payer, 'gift', 30n, { class: 'promotional' })
    await spend(first, payer, 40n)
    const [row] = await stage.database.query(
      'SELECT cost_nano_usd AS cost, promotional_nano_usd AS promotional FROM usage_records WHERE account_id = $1',
      [payer.accountId],
    )
    expect(row).toEqual({ cost: 40n, promotional: 30n })
    await first.ledger.recall(payer.accountId)
    expect(await first.ledger.readBalance(payer.accountId)).toMatchObject({
      balanceNanoUsd: 90n,
      promotionalNanoUsd: 0n,
    })
  })
})

describe('credit in use', () => {
  test('is waited for, and given as soon as it is free', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(first, payer, 100n)
    const waiting = hold(first, payer, 80n)
    await first.ledger.recall(payer.accountId)
    running.release()
    expect((await waiting).amountNanoUsd).toBe(80n)
    ;(await waiting).release()
  })

  test('of another process is waited for as well', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(second, payer, 100n)
    const waiting = hold(first, payer, 80n)
    await settle(payer, running, 20n)
    expect((await waiting).amountNanoUsd).toBe(80n)
    ;(await waiting).release()
  })

  test('is refused after a second, with what is held', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(first, payer, 100n)
    await expect(hold(first, payer, 1n)).rejects.toThrow(
      '0.000000001 USD needed, 0.0000001 USD available, of which running requests hold 0.0000001 USD.',
    )
    running.release()
  })

  test('that lies idle in another process is given back for a request here', async () => {
    const payer = await stage.createPayer(800n)
    await spend(second, payer, 1n)
    // The other process kept a slice.
    const [row] = await stage.database.query<{ remaining: bigint }>(
      'SELECT sum(remaining_nano_usd)::bigint AS remaining FROM credit_lots WHERE account_id = $1',
      [payer.accountId],
    )
    expect(row?.remaining).toBeLessThan(799n)
    const open = await hold(first, payer, 799n)
    expect(open.amountNanoUsd).toBe(799n)
    await settle(payer, open, 799n)
    expect(await balanceOf(payer)).toBe(0n)
  })

  test('is recalled once for many that need it at the same time', async () => {
    const payer = await stage.createPayer(800n)
    await spend(second, payer, 1n)
    const together = Array.from({ length: 7 }, () => hold(first, payer, 114n))
    for (const open of await Promise.all(together)) await settle(payer, open, 114n)
    expect(await balanceOf(payer)).toBe(1n)
  })

  test('cannot be taken by somebody who stopped waiting', async () => {
    const payer = await stage.createPayer(10n)
    const cancellation = new Cancellation()
    const running = await hold(first, payer, 10n)
    const waiting = first.ledger.hold(payer, { wantedNanoUsd: 5n, leastNanoUsd: 5n, cancellation })
    cancellation.cancel(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    running.release()
  })
})

describe('a reversal', () => {
  test('of spent credit leaves a debt, which suspends spending until it is made good', async () => {
    const payer = await stage.createPayer(100n)
    await spend(first, payer, 60n)
    expect(await reverse(payer, 'refund', 100n)).toEqual({ isNew: true, debtNanoUsd: 60n })
    expect(await balanceOf(payer)).toBe(-60n)
    await expect(hold(first, payer, 1n)).rejects.toThrow(
      '0.000000001 USD needed, -0.00000006 USD available. A payment was reversed; spending is suspended until it is made good.',
    )
    await grant(payer, 'top-up', 50n)
    await expect(hold(second, payer, 1n)).rejects.toMatchObject({ code: 'insufficient_balance' })
    await grant(payer, 'more', 30n)
    expect(await first.ledger.readBalance(payer.accountId)).toMatchObject({
      balanceNanoUsd: 20n,
      debtNanoUsd: 0n,
    })
    expect((await hold(first, payer, 99n, 1n)).amountNanoUsd).toBe(20n)
  })

  test('suspends processes that have borrowed already, and takes what their requests free', async () => {
    const payer = await stage.createPayer(1_000n)
    const running = await hold(second, payer, 500n)
    await reverse(payer, 'dispute', 700n)
    await expect(hold(second, payer, 1n)).rejects.toMatchObject({ code: 'insufficient_balance' })
    running.release()
    expect((await hold(second, payer, 1_000n, 1n)).amountNanoUsd).toBe(300n)
  })

  test('and every other movement happens once under its key', async () => {
    const payer = await stage.createPayer(100n)
    expect(await grant(payer, 'twice', 10n)).toEqual({ isNew: true })
    expect(await grant(payer, 'twice', 10n)).toEqual({ isNew: false })
    expect(await reverse(payer, 'back', 20n)).toEqual({ isNew: true, debtNanoUsd: 0n })
    expect(await reverse(payer, 'back', 20n)).toEqual({ isNew: false, debtNanoUsd: 0n })
    expect(await balanceOf(payer)).toBe(90n)
  })
})

test('a deduction never goes below zero', async () => {
  const payer = await stage.createPayer(100n)
  const deduct = (key: string, amountNanoUsd: bigint) =>
    stage.database.transaction((transaction) =>
      first.ledger.deduct(transaction, { ...orderOf(payer, key), amountNanoUsd }),
    )
  await expect(deduct('much', 101n)).rejects.toMatchObject({ code: 'conflict' })
  expect(await deduct('all', 100n)).toEqual({ isNew: true })
  expect(await deduct('all', 100n)).toEqual({ isNew: false })
  expect(await balanceOf(payer)).toBe(0n)
})

describe('credit that expires', () => {
  test('is written off, in an entry of its own', async () => {
    const payer = await stage.createPayer(100n)
    await grant(payer, 'gift', 50n, { class: 'promotional', expiresAtMs: Date.now() + 3_600_000 })
    expect(await balanceOf(payer)).toBe(150n)
    await letExpire(payer)
    expect(await balanceOf(payer)).toBe(100n)
    await sweepOnce(stage.database)
    const { items } = await first.ledger.listEntries(payer.accountId, { limit: 10, afterId: null })
    expect(items.map(({ kind, amountNanoUsd }) => [kind, amountNanoUsd])).toEqual([
      ['expire', -50n],
      ['grant', 50n],
      ['grant', 100n],
    ])
  })

  test('comes back from processes and is written off then', async () => {
    const payer = await stage.createPayer(0n)
    await grant(payer, 'gift', 100n, { class: 'promotional', expiresAtMs: Date.now() + 3_600_000 })
    const open = await hold(first, payer, 60n)
    await letExpire(payer)
    await sweepOnce(stage.database)
    await settle(payer, open, 25n)
    await first.ledger.recall(payer.accountId)
    await sweepOnce(stage.database)
    expect(await balanceOf(payer)).toBe(0n)
    const { items } = await first.ledger.listEntries(payer.accountId, { limit: 10, afterId: null })
    expect(items.filter(({ kind }) => kind === 'expire').map(({ amountNanoUsd }) => amountNanoUsd)).toEqual([
      -35n,
      -40n,
    ])
  })
})

test('entries are listed newest first, page by page', async () => {
  const payer = await stage.createPayer(5n)
  for (const key of ['a', 'b', 'c']) await grant(payer, key, 1n)
  const page = await first.ledger.listEntries(payer.accountId, { limit: 3, afterId: null })
  expect(page).toMatchObject({ total: 4, hasMore: true })
  expect(page.items.map(({ key }) => key[0])).toEqual(['c', 'b', 'a'])
  const rest = await first.ledger.listEntries(payer.accountId, {
    limit: 3,
    afterId: page.items[2]?.id ?? null,
  })
  expect(rest).toMatchObject({ items: [{ amountNanoUsd: 5n }], hasMore: false })
})

function orderOf({ accountId }: Payer, key: string) {
  return { key: `${key}:${accountId}`, accountId, reason: 'test' }
}

async function grant(
  payer: Payer,
  key: string,
  amountNanoUsd: bigint,
  details: { class?: 'paid' | 'promotional'; expiresAtMs?: number } = {},
) {
  const order = {
    ...orderOf(payer, key),
    amountNanoUsd,
    class: 'paid' as const,
    book: 'cash' as const,
    ...details,
  }
  const granted = await stage.database.transaction((transaction) => first.ledger.grant(transaction, order))
  await first.ledger.announceChange(payer.accountId)
  return granted
}

async function reverse(payer: Payer, key: string, amountNanoUsd: bigint) {
  await first.ledger.recall(payer.accountId)
  const order = { ...orderOf(payer, key), amountNanoUsd, book: 'cash' as const }
  const reversed = await stage.database.transaction((transaction) => first.ledger.reverse(transaction, order))
  await first.ledger.announceChange(payer.accountId)
  return reversed
}

async function letExpire({ accountId }: Payer): Promise<void> {
  await stage.database.query(
    `UPDATE credit_lots SET expires_at = now() - interval '1 second' WHERE account_id = $1 AND expires_at IS NOT NULL`,
    [accountId],
  )
}
