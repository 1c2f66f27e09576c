import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { boundDuration } from './bound-duration.ts'

const expired = new Error('took too long')

describe('boundDuration', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('cancels by itself when the time is over', () => {
    const { cancellation } = boundDuration(new Cancellation(), 1_000, () => expired)
    vi.advanceTimersByTime(999)
    expect(cancellation.isCancelled).toBe(false)
    vi.advanceTimersByTime(1)
    expect(cancellation.reason).toBe(expired)
  })

  it('cancels with the client, for the client’s reason', () => {
    const client = new Cancellation()
    const { cancellation } = boundDuration(client, 1_000, () => expired)
    const reason = new Error('gone')
    client.cancel(reason)
    expect(cancellation.reason).toBe(reason)
    expect(boundDuration(client, 1_000, () => expired).cancellation.reason).toBe(reason)
  })

  it('leaves nothing behind when it is released', () => {
    const client = new Cancellation()
    const { cancellation, release } = boundDuration(client, 1_000, () => expired)
    release()
    release()
    expect(vi.getTimerCount()).toBe(0)
    client.cancel(new Error('gone'))
    expect(cancellation.isCancelled).toBe(false)
  })
})
