import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeat } from './repeat.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('work that fails is reported and done again after the pause', async () => {
  const onFailure = vi.fn()
  const stop = repeat({ pauseMs: 100, work: () => Promise.reject(new Error('not now')), onFailure })
  await vi.advanceTimersByTimeAsync(99)
  expect(onFailure).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(201)
  expect(onFailure).toHaveBeenCalledTimes(3)
  await stop()
})

test('work that takes long is not begun a second time', async () => {
  const work = vi.fn(() => new Promise<void>(() => {}))
  void repeat({ pauseMs: 100, firstMs: 0, work, onFailure: () => {} })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(work).toHaveBeenCalledOnce()
})

test('a stop waits for the run in progress, and no other follows', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = repeat({ pauseMs: 100, work: () => promise, onFailure: () => {} })
  await vi.advanceTimersByTimeAsync(100)
  let isStopped = false
  const stopping = stop().then(() => {
    isStopped = true
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(isStopped).toBe(false)
  resolve()
  await stopping
  expect(vi.getTimerCount()).toBe(0)
})
