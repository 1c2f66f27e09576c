import { describe, expect, it } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { CallerRefused, ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { AbandonedWork, Drains } from './drains.ts'
import { lingerAfter } from './linger-after.ts'

const left = new ClientDisconnected('gone')
const VENDOR = { whenLeft: 'goes on' as const }

function begin(drainsMax = 1) {
  const limits = { drainMsMax: 60_000, drainBytesMax: 1, drainsMax, drainsPerAccountMax: drainsMax }
  let running = 0
  const drains = new Drains(limits, { running: (count) => (running = count), abandoned: () => {} })
  const client = new Cancellation()
  return { client, linger: lingerAfter(client, 'a', drains), running: () => running, drains }
}

describe('work whose client disconnects', () => {
  it('ends at once before an upstream was called, and after one failed', () => {
    const unasked = begin()
    unasked.client.cancel(left)
    const failed = begin()
    failed.linger.noteAsked(VENDOR)
    failed.linger.noteRefused()
    failed.client.cancel(left)
    for (const { linger, running } of [unasked, failed]) {
      expect([linger.cancellation.reason, linger.isAbandoned, running()]).toEqual([left, false, 0])
    }
  })

  it('continues while an upstream works, and ends if that fails', () => {
    const { client, linger, running } = begin()
    linger.noteAsked(VENDOR)
    client.cancel(left)
    expect([linger.cancellation.isCancelled, running()]).toEqual([false, 1])
    linger.noteRefused()
    expect([linger.cancellation.reason, linger.isAbandoned]).toEqual([left, false])
    linger.release()
    expect(running()).toBe(0)
  })

  it('is abandoned beyond the limits, and when the process shuts down', () => {
    const beyond = begin(0)
    beyond.linger.noteAsked(VENDOR)
    beyond.client.cancel(left)
    const stopped = begin()
    stopped.linger.noteAsked(VENDOR)
    stopped.client.cancel(left)
    stopped.drains.stop()
    for (const { linger } of [beyond, stopped]) {
      expect(linger.cancellation.reason).toBeInstanceOf(AbandonedWork)
      expect(linger.isAbandoned).toBe(true)
    }
  })

  it.each([{ whenLeft: 'stops' as const }, { refundsCancelled: true as const }])(
    'is free if abandoned work is not billed: %j',
    (provider) => {
      const { client, linger } = begin(0)
      linger.noteAsked(provider)
      client.cancel(left)
      expect([linger.cancellation.reason, linger.isAbandoned]).toEqual([left, false])
    },
  )

  it('is abandoned at once if its caller is refused, because its price is known', () => {
    const { client, linger, running } = begin()
    linger.noteAsked(VENDOR)
    client.cancel(new CallerRefused(new Error('the session has ended')))
    expect(linger.cancellation.reason).toBeInstanceOf(AbandonedWork)
    expect([linger.isAbandoned, running()]).toEqual([true, 0])
  })

  it('ends with its request for any other reason', () => {
    const { client, linger, running } = begin()
    const stopping = new Error('the gateway is shutting down')
    linger.noteAsked(VENDOR)
    client.cancel(stopping)
    expect([linger.cancellation.reason, linger.isAbandoned, running()]).toEqual([stopping, false, 0])
  })
})
