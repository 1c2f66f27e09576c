import { describe, expect, it } from 'vitest'
import type { MessageHandler } from '../../storage/bus/message-bus.ts'
import { createUnauthenticatedThrottle } from './unauthenticated-throttle.ts'

function startProcesses(count: number) {
  const time = { nowMs: 1_900_000_000_000 }
  const handlers: MessageHandler[] = []
  let published = 0
  const processes = Array.from({ length: count }, () =>
    createUnauthenticatedThrottle({
      limits: { failuresPerMinute: 3, delaySecondsMax: 8, requestsPerMinute: 60 },
      messageBus: {
        subscribe: (_topic, handler) => {
          handlers.push(handler)
          return () => {}
        },
        publish: async (_topic, payload) => {
          published += 1
          for (const handler of handlers) void handler(payload)
        },
        isConnected: () => true,
      },
      nowMs: () => time.nowMs,
    }),
  )
  const [first, second = first] = processes
  if (!first || !second) throw new Error('no process')
  return { first, second, time, countPublished: () => published }
}

describe('addresses that send wrong keys', () => {
  it('wait twice as long each time, up to a limit', () => {
    const { first, time } = startProcesses(1)
    for (let failure = 0; failure < 4; failure += 1) first.noteFailure('a')
    const waits: (number | null)[] = []
    for (let round = 0; round < 6; round += 1) {
      const seconds = first.secondsToWait('a')
      waits.push(seconds)
      time.nowMs += (seconds ?? 0) * 1000
      expect(first.secondsToWait('a')).toBeNull()
      first.noteFailure('a')
    }
    expect(waits).toEqual([1, 2, 4, 8, 8, 8])
  })

  it('have their count reset after some time', () => {
    const { first, time } = startProcesses(1)
    for (let failure = 0; failure < 4; failure += 1) first.noteFailure('a')
    time.nowMs += 1000
    first.noteFailure('a')
    expect(first.secondsToWait('a')).toBe(2)
    time.nowMs += 20 * 60_000
    for (let failure = 0; failure < 3; failure += 1) first.noteFailure('a')
    expect(first.secondsToWait('a')).toBeNull()
    first.noteFailure('a')
    expect(first.secondsToWait('a')).toBe(1)
  })

  it('addresses that send wrong keys that fail rarely never wait', () => {
    const { first, time } = startProcesses(1)
    for (let failure = 0; failure < 100; failure += 1) {
      first.noteFailure('a')
      time.nowMs += 20_000
    }
    expect([first.secondsToWait('a'), first.hasBlocked()]).toEqual([null, false])
  })

  it('are counted separately, and nothing is checked while none waits', () => {
    const { first } = startProcesses(1)
    expect(first.hasBlocked()).toBe(false)
    for (let failure = 0; failure < 4; failure += 1) first.noteFailure('a')
    expect([first.hasBlocked(), first.secondsToWait('b')]).toEqual([true, null])
  })

  it('wait in every process', () => {
    const { first, second, time } = startProcesses(2)
    for (let failure = 0; failure < 4; failure += 1) first.noteFailure('a')
    expect(second.secondsToWait('a')).toBe(1)
    time.nowMs += 1000
    for (let failure = 0; failure < 4; failure += 1) second.noteFailure('a')
    expect(first.secondsToWait('a')).toBe(2)
  })

  it('are announced in limited numbers', () => {
    const { first, countPublished } = startProcesses(1)
    for (let address = 0; address < 500; address += 1) {
      for (let failure = 0; failure < 4; failure += 1) first.noteFailure(`address ${address}`)
    }
    expect(countPublished()).toBe(20)
  })

  it('may look up few keys while they wait', () => {
    const { first, time } = startProcesses(1)
    const tries = Array.from({ length: 20 }, () => first.mayLookUp('a'))
    expect(tries.filter((isAllowed) => isAllowed)).toHaveLength(10)
    time.nowMs += 100
    expect([first.mayLookUp('a'), first.mayLookUp('a')]).toEqual([true, false])
  })
})
