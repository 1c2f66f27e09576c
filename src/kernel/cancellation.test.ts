import { describe, expect, it } from 'vitest'
import { Cancellation } from './cancellation.ts'

describe('Cancellation', () => {
  it('calls every listener once, with the first reason', () => {
    const cancellation = new Cancellation()
    const heard: unknown[] = []
    cancellation.onCancel((reason) => heard.push(['a', reason]))
    cancellation.onCancel((reason) => heard.push(['b', reason]))
    cancellation.cancel('first')
    cancellation.cancel('second')
    expect(heard).toEqual([
      ['a', 'first'],
      ['b', 'first'],
    ])
    expect(cancellation.reason).toBe('first')
  })

  it('calls a late listener at once, and a removed one never', () => {
    const cancellation = new Cancellation()
    const heard: string[] = []
    const leaving = () => heard.push('left')
    cancellation.onCancel(leaving)
    cancellation.offCancel(leaving)
    cancellation.cancel(new Error('gone'))
    cancellation.onCancel(() => heard.push('late'))
    expect(heard).toEqual(['late'])
  })

  it('has a signal that aborts with the same reason, whenever it is read', () => {
    const before = new Cancellation()
    const { signal } = before
    const reason = new Error('gone')
    before.cancel(reason)
    expect(signal.reason).toBe(reason)
    expect(before.signal).toBe(signal)
    const after = new Cancellation()
    after.cancel(reason)
    expect(after.signal.aborted).toBe(true)
    expect(() => after.throwIfCancelled()).toThrow(reason)
  })
})
