import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isSettled, pass, RENEW_MS, ScriptedItem, stageWork } from './testing/stage-work.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a shutdown claims nothing more, and items that end within the grace period are not interrupted', async () => {
  const [item, waiting] = [new ScriptedItem(), new ScriptedItem()]
  const { work } = stageWork([item, waiting], { concurrency: 1 })
  work.start()
  await pass(0)
  const closing = work.close({ graceMs: 500 })
  await pass(400)
  item.end()
  expect(await isSettled(closing)).toBe(true)
  expect([item.told, work.items]).toEqual([['wind down'], []])
  expect(vi.getTimerCount()).toBe(0)
})

test('a shutdown waits for the claim in flight and winds down what it brought', async () => {
  const item = new ScriptedItem()
  const claim = Promise.withResolvers<ScriptedItem[]>()
  const { work } = stageWork([], { claim: () => claim.promise })
  work.wake()
  const closing = work.close({ graceMs: 500 })
  expect(await isSettled(closing)).toBe(false)
  claim.resolve([item])
  await pass(0)
  expect(item.told).toEqual(['wind down'])
  item.end()
  expect(await isSettled(closing)).toBe(true)
})

test('what runs longer than the grace period is interrupted and handed back together', async () => {
  const items = [new ScriptedItem(), new ScriptedItem()]
  const handedBack: (readonly ScriptedItem[])[] = []
  const { work } = stageWork([...items], { handBack: async (left) => void handedBack.push(left) })
  work.wake()
  await pass(0)
  const closing = work.close({ graceMs: 500 })
  await pass(499)
  expect(handedBack).toEqual([])
  await pass(1)
  await closing
  expect(handedBack).toEqual([items])
  expect(items.map(({ told }) => told.at(-1))).toEqual(['stop: stopping', 'stop: stopping'])
})

test('a shutdown ends although the database is away and nothing can be handed back', async () => {
  const { work, warnings } = stageWork([new ScriptedItem()], {
    handBack: () => Promise.reject(new Error('the database is away')),
  })
  work.wake()
  await pass(0)
  const closing = work.close({ graceMs: 0 })
  await pass(1)
  await closing
  expect(warnings).toEqual(['tasks could not be handed back'])
})

test('items that hand themselves back are waited for, except cancelled ones', async () => {
  const [staying, leaving] = [new ScriptedItem(), new ScriptedItem()]
  leaving.isLeaving = true
  const { work } = stageWork([staying, leaving])
  work.wake()
  await pass(0)
  const closing = work.close({ graceMs: 500 })
  await pass(500)
  expect(await isSettled(closing)).toBe(false)
  staying.end()
  expect(await isSettled(closing)).toBe(true)
})

test('leases are renewed until the last item has ended, but a shutdown is not disturbed by lost ones', async () => {
  const item = new ScriptedItem()
  const findLost = vi.fn(async (items: readonly ScriptedItem[]) => items)
  const { work } = stageWork([item], { renewal: { everyMs: RENEW_MS, findLost } })
  work.start()
  await pass(0)
  const closing = work.close({ graceMs: 0 })
  await pass(RENEW_MS)
  expect(findLost).toHaveBeenCalledOnce()
  expect(item.told).toEqual(['wind down', 'stop: stopping'])
  item.end()
  expect(await isSettled(closing)).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})
