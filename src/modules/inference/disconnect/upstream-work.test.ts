import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { CallerRefused, ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { AbandonedWork, Drains, type DrainLimits } from './drains.ts'
import { UpstreamWork } from './upstream-work.ts'

const LIMITS: DrainLimits = { drainMsMax: 1_000, drainBytesMax: 1, drainsMax: 3, drainsPerAccountMax: 2 }
const expired = new Error('took too long')
const left = new ClientDisconnected('gone')

function begin({ isBilled = true, durationMs = 100_000, accountId = 'a', drains = createDrains() } = {}) {
  const client = new Cancellation()
  const work = new UpstreamWork({
    parent: client,
    durationMs,
    expired: () => expired,
    accountId,
    drains,
    isBilledAfterDisconnect: isBilled,
  })
  return { client, work, drains }
}

function createDrains() {
  return new Drains(LIMITS, { running: () => {}, abandoned: () => {} })
}

function leaveSent(options: Parameters<typeof begin>[0] = {}) {
  const begun = begin(options)
  begun.work.noteSent()
  begun.client.cancel(left)
  return begun
}

// One clock for all tests, because all deadlines of a process share a timer.
beforeAll(() => {
  vi.useFakeTimers()
})
afterAll(() => {
  vi.useRealTimers()
})

describe('UpstreamWork', () => {
  it('ends when its time is over, unless it has ended before', () => {
    const { work } = begin({ durationMs: 1_000 })
    const { work: done } = begin({ durationMs: 1_000 })
    done.release()
    vi.advanceTimersByTime(2_000)
    expect(work.cancellation.reason).toBe(expired)
    expect(done.cancellation.isCancelled).toBe(false)
  })

  it.each([
    ['before the request was sent', { isBilled: true, isSent: false, reason: left }],
    ['whose upstream bills nobody', { isBilled: false, isSent: true, reason: left }],
    ['for another reason than the client', { isBilled: true, isSent: true, reason: expired }],
  ])('ends at once %s', (_name, { isBilled, isSent, reason }) => {
    const { client, work } = begin({ isBilled })
    if (isSent) work.noteSent()
    client.cancel(reason)
    expect(work.cancellation.reason).toBe(reason)
  })

  it('continues for a while if the client left a vendor that bills, and is then abandoned', () => {
    const { work } = leaveSent()
    expect(work.cancellation.isCancelled).toBe(false)
    vi.advanceTimersByTime(LIMITS.drainMsMax + 500)
    expect(work.cancellation.reason).toBeInstanceOf(AbandonedWork)
  })

  it('continues in the same way if the caller was refused', () => {
    const { client, work } = begin()
    work.noteSent()
    client.cancel(new CallerRefused(new Error('revoked')))
    expect(work.cancellation.isCancelled).toBe(false)
    work.release()
  })

  it('is abandoned and does not fail if its time is over after the client left', () => {
    const { work } = leaveSent({ durationMs: LIMITS.drainMsMax / 2 })
    vi.advanceTimersByTime(LIMITS.drainMsMax / 2 + 250)
    expect(work.cancellation.reason).toBeInstanceOf(AbandonedWork)
  })

  it('ends when a stream turns out to show everything, whether the client left before or after', () => {
    const { work } = leaveSent()
    work.stopWhenLeft()
    expect(work.cancellation.reason).toBeInstanceOf(AbandonedWork)
    const later = begin()
    later.work.noteSent()
    later.work.stopWhenLeft()
    later.client.cancel(left)
    vi.advanceTimersByTime(1)
    expect(later.work.cancellation.reason).toBe(left)
  })

  it('reads what has arrived of such a stream before it ends, but not for ever', () => {
    const { work, client } = begin()
    work.noteSent()
    work.stopWhenLeft()
    client.cancel(left)
    for (let turn = 0; turn < 10; turn += 1) {
      work.noteRead()
      expect(work.cancellation.isCancelled).toBe(false)
      vi.advanceTimersToNextTimer()
    }
    vi.advanceTimersToNextTimer()
    expect(work.cancellation.reason).toBe(left)
    const flooded = begin()
    flooded.work.noteSent()
    flooded.work.stopWhenLeft()
    flooded.client.cancel(left)
    for (let turn = 0; turn < 100; turn += 1) {
      flooded.work.noteRead()
      vi.advanceTimersToNextTimer()
    }
    expect(flooded.work.cancellation.reason).toBe(left)
  })
})

describe('Drains', () => {
  it('refuse further requests of an account at its limit, unless answers are never read', () => {
    const drains = createDrains()
    const of = (accountId: string) => leaveSent({ accountId, drains }).work
    of('a')
    expect(() => drains.requireRoom('a')).not.toThrow()
    const second = of('a')
    expect(() => drains.requireRoom('a')).toThrow(/still running/)
    expect(drains.hasRoom('b')).toBe(true)
    second.release()
    expect(drains.hasRoom('a')).toBe(true)
    const none = new Drains({ ...LIMITS, drainsPerAccountMax: 0 }, { running: () => {}, abandoned: () => {} })
    expect(none.hasRoom('a')).toBe(true)
  })

  it('are limited per account and in total; one that ends makes room', () => {
    const drains = createDrains()
    const of = (accountId: string) => leaveSent({ accountId, drains }).work
    const [first, second] = [of('a'), of('a')]
    expect(of('a').cancellation.reason).toBeInstanceOf(AbandonedWork)
    const other = of('b')
    expect(of('c').cancellation.reason).toBeInstanceOf(AbandonedWork)
    first.release()
    first.release()
    const next = of('a')
    expect([second, other, next].map(({ cancellation }) => cancellation.isCancelled)).toEqual([
      false,
      false,
      false,
    ])
  })

  it('Drains that run at a shutdown get the grace period and are then abandoned, and no new one begins', async () => {
    const { work, drains } = leaveSent()
    const closing = drains.close(100)
    vi.advanceTimersByTime(99)
    expect(work.cancellation.isCancelled).toBe(false)
    vi.advanceTimersByTime(1)
    expect(work.cancellation.reason).toBeInstanceOf(AbandonedWork)
    work.release()
    await closing
    expect(leaveSent({ drains }).work.cancellation.reason).toBeInstanceOf(AbandonedWork)
  })
})
