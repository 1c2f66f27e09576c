import { expect, test } from 'vitest'
import { CreditWaiters } from './credit-waiters.ts'

const LONG_MS = 600_000

/** Starts a waiting request for each pair of wanted and least amount, and returns the numbers of those that were woken. */
function startWaiting(waiters: CreditWaiters, amounts: readonly (readonly [bigint, bigint])[]) {
  const woken: number[] = []
  for (const [index, [wantedNanoUsd, leastNanoUsd]] of amounts.entries())
    void waiters.wait(LONG_MS, { wantedNanoUsd, leastNanoUsd }).then(() => woken.push(index))
  return async () => {
    await Promise.resolve()
    return woken
  }
}

test('freed credit wakes the first requests that it is enough for', async () => {
  const waiters = new CreditWaiters()
  const woken = startWaiting(waiters, [
    [50n, 50n],
    [50n, 50n],
    [50n, 50n],
  ])
  waiters.wake({ heldNanoUsd: 1n, freeNanoUsd: 49n })
  expect(await woken()).toEqual([])
  waiters.wake({ heldNanoUsd: 1n, freeNanoUsd: 100n })
  expect(await woken()).toEqual([0, 1])
  waiters.wakeAll()
})

test('a request that needs more than is free does not hold up smaller ones behind it', async () => {
  const waiters = new CreditWaiters()
  const woken = startWaiting(waiters, [
    [500n, 400n],
    [50n, 20n],
    [50n, 20n],
  ])
  waiters.wake({ heldNanoUsd: 1n, freeNanoUsd: 75n })
  // The third takes the 25 that are left, which is a part of what it wants.
  expect(await woken()).toEqual([1, 2])
  waiters.wakeAll()
})

test('all requests are woken when no request holds credit', async () => {
  const waiters = new CreditWaiters()
  const woken = startWaiting(waiters, [
    [500n, 400n],
    [50n, 50n],
  ])
  waiters.wake({ heldNanoUsd: 0n, freeNanoUsd: 0n })
  expect(await woken()).toEqual([0, 1])
})

test('a wait ends after its timeout', async () => {
  const waiters = new CreditWaiters()
  await expect(waiters.wait(1, { wantedNanoUsd: 5n, leastNanoUsd: 5n })).resolves.toBeUndefined()
})
