import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Payer } from '../ledger.ts'
import { sweepOnce } from './sweep-ledger.ts'
import { createLedgerStage, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { hold, settle, spend } from '../testing/spend.ts'

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

const balanceOf = async ({ accountId }: Payer) => (await first.ledger.readBalance(accountId)).balanceNanoUsd

describe('a reversal', () => {
  test('a reversal of spent credit leaves a debt, which suspends spending until it is paid', async () => {
    const payer = await stage.createPayer(100n)
    await spend(first, payer, 60n)
    expect(await reverse(payer, 'refund', 100n)).toEqual({ isNew: true, debtNanoUsd: 60n })
    expect(await balanceOf(payer)).toBe(-60n)
    await expect(hold(first, payer, 1n)).rejects.toThrow(
      '0.000000001 USD needed, -0.00000006 USD available. The account owes 0.00000006 USD; spending is suspended until it is paid.',
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

  test('a reversal and every other movement happens once under its key', async () => {
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

  test('is given back by processes and then written off', async () => {
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
