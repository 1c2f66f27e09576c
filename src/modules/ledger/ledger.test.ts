import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { Payer } from './ledger.ts'
import { createLedgerStage, type LedgerProcess, type LedgerStage } from './testing/ledger-stage.ts'
import { hold, settle, spend } from './testing/spend.ts'
import { PLAIN_CHARGE } from './testing/plain-charge.ts'

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

describe('a hold', () => {
  test('is settled for what was used, and the rest is free again', async () => {
    const payer = await stage.createPayer(1_000n)
    const open = await hold(first, payer, 600n, 1n)
    expect(open.amountNanoUsd).toBe(600n)
    await settle(payer, open, 250n)
    expect(await balanceOf(payer)).toBe(750n)
    expect(first.ledger.knownBalanceNanoUsd(payer.accountId)).toBe(750n)
  })

  test('knows the balance of its account, wherever the credit is', async () => {
    const payer = await stage.createPayer(1_000n)
    const { ledger } = first
    expect(await ledger.lookUpBalanceNanoUsd(payer.accountId)).toBe(1_000n)
    const open = await hold(first, payer, 600n)
    expect(open.balanceNanoUsd).toBe(1_000n)
    const other = await hold(second, payer, 100n)
    await ledger.recall(payer.accountId)
    expect(open.balanceNanoUsd).toBe(1_000n)
    expect(await ledger.lookUpBalanceNanoUsd(payer.accountId)).toBe(1_000n)
    await settle(payer, open, 250n)
    expect(open.balanceNanoUsd).toBe(750n)
    expect(ledger.knownBalanceNanoUsd(payer.accountId)).toBe(750n)
    await settle(payer, other, 50n)
    await ledger.postCharges()
    expect(await ledger.lookUpBalanceNanoUsd(payer.accountId)).toBe(700n)
    expect(await second.ledger.lookUpBalanceNanoUsd(payer.accountId)).toBe(700n)
  })

  test('comes from memory once enough is borrowed', async () => {
    const payer = await stage.createPayer(1_000_000n)
    await spend(first, payer, 1n)
    const open = first.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 5n, leastNanoUsd: 5n })
    expect(open).not.toBeInstanceOf(Promise)
    ;(await open).release()
  })

  test('is never charged more than it holds', async () => {
    const payer = await stage.createPayer(1_000n)
    await settle(payer, await hold(first, payer, 100n), 5_000n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 100n })
  })

  test('is reduced to the available amount, and refused below the least amount', async () => {
    const payer = await stage.createPayer(100n)
    const open = await hold(first, payer, 500n, 100n)
    expect(open.amountNanoUsd).toBe(100n)
    open.release()
    await expect(hold(first, payer, 500n, 101n)).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: '0.000000101 USD needed, 0.0000001 USD available. Add credit to go on.',
    })
  })

  test('is not reduced when other requests take the slice that was borrowed for it', async () => {
    const payer = await stage.createPayer(100n)
    const holds = await Promise.all(Array.from({ length: 10 }, () => hold(first, payer, 10n, 1n)))
    expect(holds.map(({ amountNanoUsd }) => amountNanoUsd)).toEqual(holds.map(() => 10n))
    for (const open of holds) open.release()
  })

  test('shares one request for credit with all that ask at the same time', async () => {
    const payer = await stage.createPayer(10_000n)
    await spend(first, payer, 1n)
    const transactions = vi.spyOn(first.database, 'transaction')
    const holds = await Promise.all(Array.from({ length: 90 }, () => hold(first, payer, 100n)))
    // One by one they would need 17: a slice is an eighth of the credit.
    expect(transactions.mock.calls.length).toBeLessThanOrEqual(8)
    transactions.mockRestore()
    for (const open of holds) open.release()
  })

  test('shares it under a cap of its key too', async () => {
    const payer = { ...(await stage.createPayer(10_000n)), limitNanoUsd: 9_500n }
    await spend(first, payer, 1n)
    const transactions = vi.spyOn(first.database, 'transaction')
    const holds = await Promise.all(Array.from({ length: 90 }, () => hold(first, payer, 100n)))
    // One by one they would need 40.
    expect(transactions.mock.calls.length).toBeLessThanOrEqual(16)
    transactions.mockRestore()
    for (const open of holds) open.release()
  })

  test('can be settled or released only once', async () => {
    const payer = await stage.createPayer(100n)
    const open = await hold(first, payer, 50n)
    open.release()
    expect(() => open.release()).toThrow('twice')
    expect(() => settle(payer, open, 1n)).toThrow('twice')
  })

  test('a hold of zero succeeds without credit', async () => {
    const payer = await stage.createPayer(0n)
    await settle(payer, await hold(first, payer, 0n), 0n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 0n })
  })

  test('pays with promotional credit first', async () => {
    const payer = await stage.createPayer(100n)
    const order = { key: `gift:${payer.accountId}`, accountId: payer.accountId, reason: 'gift' }
    await stage.database.transaction((transaction) =>
      first.ledger.grant(transaction, {
        ...order,
        amountNanoUsd: 30n,
        class: 'promotional',
        book: 'promotion',
      }),
    )
    await spend(first, payer, 40n)
    await first.ledger.postCharges()
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
  test('is held by the waiting request as soon as it is free', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(first, payer, 100n)
    const waiting = hold(first, payer, 80n)
    await first.ledger.recall(payer.accountId)
    running.release()
    expect((await waiting).amountNanoUsd).toBe(80n)
    ;(await waiting).release()
  })

  test('in another process is waited for too', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(second, payer, 100n)
    const waiting = hold(first, payer, 80n)
    await settle(payer, running, 20n)
    expect((await waiting).amountNanoUsd).toBe(80n)
    ;(await waiting).release()
  })

  test('leads to a refusal within a second, which names the held amount', async () => {
    const payer = await stage.createPayer(100n)
    const running = await hold(first, payer, 100n)
    await expect(hold(first, payer, 1n)).rejects.toThrow(
      '0.000000001 USD needed, 0.0000001 USD available, of which running requests hold 0.0000001 USD.',
    )
    running.release()
  })

  test('credit in use that is idle in another process is recalled for a request here', async () => {
    const payer = await stage.createPayer(800n)
    await spend(second, payer, 1n)
    // The other process keeps a slice.
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

  test('is recalled once for many concurrent requests', async () => {
    const payer = await stage.createPayer(800n)
    await spend(second, payer, 1n)
    const together = Array.from({ length: 7 }, () => hold(first, payer, 114n))
    for (const open of await Promise.all(together)) await settle(payer, open, 114n)
    expect(await balanceOf(payer)).toBe(1n)
  })

  test('cannot be taken by a cancelled request', async () => {
    const payer = await stage.createPayer(10n)
    const cancellation = new Cancellation()
    const running = await hold(first, payer, 10n)
    const waiting = first.ledger.hold(payer, {
      ...PLAIN_CHARGE,
      wantedNanoUsd: 5n,
      leastNanoUsd: 5n,
      cancellation,
    })
    cancellation.cancel(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    running.release()
  })
})

test('an account whose balance was only read does not count as idle', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const process = await stage.createProcess()
    const { ledger } = process
    const { accountId } = await stage.createPayer(1_000n)
    await ledger.lookUpBalanceNanoUsd(accountId)
    vi.advanceTimersByTime(10_000)
    expect(ledger.knownBalanceNanoUsd(accountId)).toBe(1_000n)
    await process.close()
  } finally {
    vi.useRealTimers()
  }
})
