import { describe, expect, it } from 'vitest'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { CallerRefused, ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { AbandonedWork, Drains } from './drains.ts'
import { continueAfterDisconnect } from './continue-after-disconnect.ts'

const left = new ClientDisconnected('gone')
const VENDOR = { onDisconnect: 'continues' as const }

function begin(drainsMax = 1) {
  const limits = { drainMsMax: 60_000, drainBytesMax: 1, drainsMax, drainsPerAccountMax: drainsMax }
  let running = 0
  const drains = new Drains(limits, { running: (count) => (running = count), abandoned: () => {} })
  const client = new Cancellation()
  return {
    client,
    continuedWork: continueAfterDisconnect(client, 'a', drains),
    running: () => running,
    drains,
  }
}

describe('work whose client disconnects', () => {
  it('ends at once before an upstream was called, and after one failed', () => {
    const unasked = begin()
    unasked.client.cancel(left)
    const failed = begin()
    failed.continuedWork.noteAsked(VENDOR)
    failed.continuedWork.noteRefused()
    failed.client.cancel(left)
    for (const { continuedWork, running } of [unasked, failed]) {
      expect([continuedWork.cancellation.reason, continuedWork.isAbandoned, running()]).toEqual([
        left,
        false,
        0,
      ])
    }
  })

  it('continues while an upstream works, and ends if that fails', () => {
    const { client, continuedWork, running } = begin()
    continuedWork.noteAsked(VENDOR)
    client.cancel(left)
    expect([continuedWork.cancellation.isCancelled, running()]).toEqual([false, 1])
    continuedWork.noteRefused()
    expect([continuedWork.cancellation.reason, continuedWork.isAbandoned]).toEqual([left, false])
    continuedWork.release()
    expect(running()).toBe(0)
  })

  it('is abandoned beyond the limits, and when the process shuts down', () => {
    const beyond = begin(0)
    beyond.continuedWork.noteAsked(VENDOR)
    beyond.client.cancel(left)
    const stopped = begin()
    stopped.continuedWork.noteAsked(VENDOR)
    stopped.client.cancel(left)
    stopped.drains.stop()
    for (const { continuedWork } of [beyond, stopped]) {
      expect(continuedWork.cancellation.reason).toBeInstanceOf(AbandonedWork)
      expect(continuedWork.isAbandoned).toBe(true)
    }
  })

  it.each([{ onDisconnect: 'stops' as const }, { refundsCancelled: true as const }])(
    'is free if abandoned work is not billed: %j',
    (provider) => {
      const { client, continuedWork } = begin(0)
      continuedWork.noteAsked(provider)
      client.cancel(left)
      expect([continuedWork.cancellation.reason, continuedWork.isAbandoned]).toEqual([left, false])
    },
  )

  it('is abandoned at once if its caller is refused, because its price is known', () => {
    const { client, continuedWork, running } = begin()
    continuedWork.noteAsked(VENDOR)
    client.cancel(new CallerRefused(new Error('the session has ended')))
    expect(continuedWork.cancellation.reason).toBeInstanceOf(AbandonedWork)
    expect([continuedWork.isAbandoned, running()]).toEqual([true, 0])
  })

  it('ends with its request for any other reason', () => {
    const { client, continuedWork, running } = begin()
    const stopping = new Error('the gateway is shutting down')
    continuedWork.noteAsked(VENDOR)
    client.cancel(stopping)
    expect([continuedWork.cancellation.reason, continuedWork.isAbandoned, running()]).toEqual([
      stopping,
      false,
      0,
    ])
  })
})
