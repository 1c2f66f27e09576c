import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isSettled, pass, POLL_MS, RENEW_MS, ScriptedItem, stageWork } from './testing/stage-work.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('no more is claimed than there is room for, and the end of an item makes room at once', async () => {
  const items = [new ScriptedItem(), new ScriptedItem(), new ScriptedItem()]
  const { work, claimed } = stageWork([...items])
  work.wake()
  await pass(0)
  expect(work.items).toEqual(items.slice(0, 2))
  expect(claimed).toEqual([2])
  items[0]?.end()
  await pass(0)
  expect(work.items).toEqual(items.slice(1))
  expect(claimed).toEqual([2, 1])
})

test('items that are claimed one by one fill the room', async () => {
  const { work, claimed } = stageWork([new ScriptedItem(), new ScriptedItem(), new ScriptedItem()], {
    claimedAtOnceMax: 1,
  })
  work.wake()
  await pass(0)
  expect(work.items).toHaveLength(2)
  expect(claimed).toEqual([1, 1])
})

test('a wake-up during a claim leads to another claim, so that what was added meanwhile is not missed', async () => {
  const late = new ScriptedItem()
  const waiting: ScriptedItem[] = []
  let claims = 0
  const { work } = stageWork([], {
    claim: async () => {
      claims += 1
      const found = waiting.splice(0)
      if (claims === 1) {
        waiting.push(late)
        work.wake()
      }
      return found
    },
  })
  work.wake()
  await pass(0)
  expect([claims, work.items]).toEqual([2, [late]])
})

test('work is found by the poll if its wake-up was lost', async () => {
  const waiting: ScriptedItem[] = []
  const { work } = stageWork(waiting)
  work.start()
  await pass(0)
  const item = new ScriptedItem()
  waiting.push(item)
  await pass(POLL_MS)
  expect(work.items).toEqual([item])
  item.end()
  await work.close({ graceMs: 0 })
  expect(vi.getTimerCount()).toBe(0)
})

test('a claim that fails is reported and tried again by the poll', async () => {
  const item = new ScriptedItem()
  let isAway = true
  const { work, warnings } = stageWork([], {
    claim: async () => {
      if (isAway) throw new Error('the database is away')
      return [item]
    },
  })
  work.start()
  await pass(0)
  expect([work.items, warnings]).toEqual([[], ['tasks could not be claimed']])
  isAway = false
  await pass(POLL_MS)
  expect(work.items).toContain(item)
})

test('an item whose lease is lost is told so, and the others go on', async () => {
  const [kept, lost] = [new ScriptedItem(), new ScriptedItem()]
  const { work } = stageWork([kept, lost], {
    renewal: { everyMs: RENEW_MS, findLost: async (items) => items.filter((item) => item === lost) },
  })
  work.start()
  await pass(RENEW_MS)
  expect([kept.told, lost.told]).toEqual([[], ['lose']])
})

test('leases that could not be renewed for a while are not lost, and are renewed as soon as possible', async () => {
  const item = new ScriptedItem()
  let isAway = true
  let renewals = 0
  const { work, warnings } = stageWork([item], {
    renewal: {
      everyMs: RENEW_MS,
      findLost: async () => {
        if (isAway) throw new Error('the database is away')
        renewals += 1
        return []
      },
    },
  })
  work.start()
  await pass(2 * RENEW_MS)
  expect(warnings).toEqual(['tasks could not be looked after', 'tasks could not be looked after'])
  isAway = false
  await pass(RENEW_MS)
  expect([renewals, item.told]).toEqual([1, []])
})

test('nothing is renewed while nothing runs', async () => {
  const findLost = vi.fn(async () => [])
  const { work } = stageWork([], { renewal: { everyMs: RENEW_MS, findLost } })
  work.start()
  await pass(3 * RENEW_MS)
  expect(findLost).not.toHaveBeenCalled()
})

test('all items stop if the process was declared dead', async () => {
  const items = [new ScriptedItem(), new ScriptedItem()]
  let declareDead = () => {}
  const { work } = stageWork([...items], {
    borrower: {
      onLost: (handler) => {
        declareDead = handler
      },
    },
  })
  work.wake()
  await pass(0)
  declareDead()
  expect(items.map(({ told }) => told)).toEqual([['stop: lost'], ['stop: lost']])
})

test('cancelled work that waits for a vendor takes no room', async () => {
  const items = [new ScriptedItem(), new ScriptedItem(), new ScriptedItem()]
  const { work } = stageWork([...items])
  work.wake()
  await pass(0)
  for (const item of items.slice(0, 1)) item.isLeaving = true
  work.wake()
  await pass(0)
  expect(work.items).toEqual(items)
})

test('an item that fails in an unforeseen way makes room and is reported', async () => {
  const [broken, next] = [new ScriptedItem(), new ScriptedItem()]
  const { work, warnings } = stageWork([broken, next], { concurrency: 1 })
  work.wake()
  await pass(0)
  broken.fail()
  await pass(0)
  expect([work.items, warnings]).toEqual([[next], ['one of the tasks failed']])
})

test('work that is waiting now can be performed to its end without polling', async () => {
  const items = [new ScriptedItem(), new ScriptedItem(), new ScriptedItem()]
  const { work } = stageWork([...items])
  const drained = work.drain()
  for (const item of items) {
    expect(await isSettled(drained)).toBe(false)
    item.end()
  }
  expect(await isSettled(drained)).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})
