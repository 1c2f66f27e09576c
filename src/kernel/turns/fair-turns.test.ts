import { expect, test } from 'vitest'
import { FairTurns } from './fair-turns.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('one owner runs one piece of work at a time, and all owners together no more than the limit', async () => {
  const turns = new FairTurns({ runningMax: 2, ownerRunningMax: 1, ownerWaitingMax: 10 })
  const running: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      running.push(name)
      ends.push(() => resolve(name))
    })
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => turns.take(name.slice(0, 1), work(name)))
  await settled()
  expect(running).toEqual(['a1', 'b1'])
  ends[0]?.()
  await settled()
  expect(running).toEqual(['a1', 'b1', 'c1'])
  ends[1]?.()
  await settled()
  expect(running).toEqual(['a1', 'b1', 'c1', 'a2'])
  for (let index = 2; index < 5; index += 1) {
    ends[index]?.()
    await settled()
  }
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
})

test('an owner with too much work waiting is refused, and others are not', async () => {
  const turns = new FairTurns({ runningMax: 1, ownerRunningMax: 1, ownerWaitingMax: 2 })
  const { promise, resolve } = Promise.withResolvers<number>()
  const taken = [1, 2, 3].map(async () => turns.take('a', () => promise))
  expect(turns.take('a', async () => 0)).toBeNull()
  const other = turns.take('b', async () => 2)
  resolve(1)
  expect(await Promise.all(taken)).toEqual([1, 1, 1])
  expect(await other).toBe(2)
  expect(await turns.take('a', async () => 3)).toBe(3)
})

test('owners that wait take turns, each with as many pieces of work as it may run', async () => {
  const turns = new FairTurns({ runningMax: 4, ownerRunningMax: 2, ownerWaitingMax: 10 })
  const started: string[] = []
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1', 'c2'])
    void turns.enter(name.slice(0, 1))?.then(() => started.push(name))
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1', 'b2'])
  turns.leave('a')
  turns.leave('a')
  turns.leave('b')
  await settled()
  expect(started.slice(4)).toEqual(['c1', 'a3', 'c2'])
})

test('work that fails gives its place to the next', async () => {
  const turns = new FairTurns({ runningMax: 1, ownerRunningMax: 1, ownerWaitingMax: 2 })
  const failed = turns.take('a', () => Promise.reject(new Error('it failed')))
  const next = turns.take('a', async () => 'next')
  await expect(failed).rejects.toThrow('it failed')
  expect(await next).toBe('next')
})
