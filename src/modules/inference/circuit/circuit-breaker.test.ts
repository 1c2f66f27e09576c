import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createCircuitBreaker, type BreakerChange, type CircuitBreaker } from './circuit-breaker.ts'

const WINDOW_MS = 10_000

function create() {
  const time = { nowMs: 1_000_000 }
  const changes: BreakerChange[] = []
  const breaker = createCircuitBreaker({
    clock: fakeClock(() => time.nowMs),
    windowMs: WINDOW_MS,
    requestsMin: 4,
    restMs: 1_000,
    restMsMax: 4_000,
    onChange: (change) => changes.push(change),
  })
  const states = () => changes.map(({ state }) => state)
  return { time, states, changes, breaker }
}

function fail(breaker: CircuitBreaker, accountId: string, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.failed(accountId)
}

function succeed(breaker: CircuitBreaker, accountId: string, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.succeeded(accountId)
}

/** Opens the breaker: failures of two accounts show that neither account is the cause. */
function open(breaker: CircuitBreaker): void {
  fail(breaker, 'a', 2)
  fail(breaker, 'b', 2)
}

describe('the share of failing requests', () => {
  it('opens the circuit if at least half of the requests of several accounts failed', () => {
    const { breaker } = create()
    succeed(breaker, 'a', 2)
    succeed(breaker, 'b', 2)
    fail(breaker, 'a', 2)
    fail(breaker, 'b', 1)
    expect(breaker.admit('c')).toBe('yes')
    breaker.failed('b')
    expect(breaker.admit('c')).toBe('no')
  })

  it('keeps the circuit closed while more requests succeed than fail, however many fail', () => {
    const { breaker, states } = create()
    for (let round = 0; round < 200; round += 1) {
      succeed(breaker, 'a', 2)
      fail(breaker, round % 2 === 0 ? 'a' : 'b', 1)
      succeed(breaker, 'b', 2)
    }
    expect([breaker.admit('a'), states()]).toEqual(['yes', []])
  })

  it('does not count below the minimum of requests', () => {
    const { breaker } = create()
    fail(breaker, 'a', 1)
    fail(breaker, 'b', 2)
    expect(breaker.admit('c')).toBe('yes')
  })

  it('ignores requests older than the window', () => {
    const { breaker, time } = create()
    fail(breaker, 'a', 1)
    fail(breaker, 'b', 1)
    time.nowMs += WINDOW_MS
    fail(breaker, 'a', 1)
    fail(breaker, 'b', 1)
    expect(breaker.admit('c')).toBe('yes')
  })

  it('includes both halves of the window', () => {
    const { breaker, time } = create()
    fail(breaker, 'a', 2)
    time.nowMs += WINDOW_MS / 2
    fail(breaker, 'b', 2)
    expect(breaker.admit('c')).toBe('no')
  })
})

describe('accounts', () => {
  it('one failing account is kept away alone, and others are not affected', () => {
    const { breaker, changes } = create()
    fail(breaker, 'a', 500)
    expect([breaker.admit('a'), breaker.admit('b')]).toEqual(['no', 'yes'])
    expect(changes.at(-1)).toEqual({ state: 'closed', accounts: 1 })
  })

  it('one failing account among many successful ones is kept away alone', () => {
    const { breaker } = create()
    for (let account = 0; account < 200; account += 1) succeed(breaker, `account-${account}`, 1)
    fail(breaker, 'a', 1000)
    expect([breaker.admit('a'), breaker.admit('account-3')]).toEqual(['no', 'yes'])
  })

  it('an account is admitted again when its own probe succeeds', () => {
    const { breaker, time, changes } = create()
    fail(breaker, 'a', 4)
    time.nowMs += 1_000
    expect([breaker.admit('a'), breaker.admit('a')]).toEqual(['probe', 'no'])
    breaker.succeeded('a')
    expect([breaker.admit('a'), breaker.admit('a')]).toEqual(['yes', 'yes'])
    expect(changes.at(-1)).toEqual({ state: 'closed', accounts: 0 })
  })

  it('two failing accounts are not enough if most others succeed', () => {
    const { breaker } = create()
    for (const account of ['c', 'd', 'e']) succeed(breaker, account, 1)
    open(breaker)
    expect(breaker.admit('c')).toBe('yes')
  })

  it('a failed probe is followed by a probe of another account', () => {
    const { breaker, time } = create()
    open(breaker)
    time.nowMs += 1_000
    expect(breaker.admit('c')).toBe('probe')
    breaker.failed('c')
    time.nowMs += 2_000
    expect([breaker.admit('c'), breaker.admit('d')]).toEqual(['no', 'probe'])
    breaker.abandoned('d')
    time.nowMs += 2_000
    expect(breaker.admit('c')).toBe('probe')
  })

  it('the result of another request does not change what a probe decides', () => {
    const { breaker, time } = create()
    open(breaker)
    time.nowMs += 1_000
    expect(breaker.admit('c')).toBe('probe')
    breaker.succeeded('d')
    expect(breaker.admit('d')).toBe('no')
    breaker.failed('d')
    breaker.succeeded('c')
    expect(breaker.admit('d')).toBe('yes')
  })
})

describe('probes', () => {
  it('one is sent after the rest period, and closes the circuit', () => {
    const { breaker, time, states } = create()
    open(breaker)
    expect([breaker.admit('c'), breaker.restMs('c')]).toEqual(['no', 1_000])
    time.nowMs += 999
    expect(breaker.admit('c')).toBe('no')
    time.nowMs += 1
    expect([breaker.admit('c'), breaker.admit('d')]).toEqual(['probe', 'no'])
    breaker.succeeded('c')
    expect([breaker.admit('c'), breaker.admit('d')]).toEqual(['yes', 'yes'])
    expect(states()).toEqual(['open', 'half-open', 'closed'])
  })

  it('each failed one doubles the rest period, up to a limit', () => {
    const { breaker, time } = create()
    open(breaker)
    const rests: number[] = []
    for (let probe = 0; probe < 4; probe += 1) {
      rests.push(breaker.restMs('c'))
      time.nowMs += breaker.restMs('c')
      expect(breaker.admit(`account-${probe}`)).toBe('probe')
      breaker.failed(`account-${probe}`)
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 4_000])
  })

  it('one that is sent early because no other upstream is left closes the circuit, or changes nothing', () => {
    const { breaker } = create()
    open(breaker)
    breaker.force('c')
    breaker.failed('c')
    expect([breaker.admit('c'), breaker.restMs('c')]).toEqual(['no', 1_000])
    breaker.force('c')
    breaker.succeeded('c')
    expect(breaker.admit('d')).toBe('yes')
  })

  it('one that begins to stream admits all requests, and its failure opens the circuit again', () => {
    const { breaker, time, states } = create()
    open(breaker)
    time.nowMs += 1_000
    expect(breaker.admit('c')).toBe('probe')
    breaker.opened('c')
    expect(breaker.admit('d')).toBe('yes')
    breaker.failed('c')
    expect([breaker.admit('d'), states()]).toEqual(['no', ['open', 'half-open', 'closed', 'open']])
  })

  it('one without a result is followed by the next at once', () => {
    const { breaker, time } = create()
    open(breaker)
    time.nowMs += 1_000
    expect(breaker.admit('c')).toBe('probe')
    breaker.abandoned('c')
    expect(breaker.admit('c')).toBe('probe')
  })
})

it('never lock an account out: after the longest rest some request is admitted', () => {
  const account = fc.constantFrom('a', 'b', 'c')
  const what = fc.constantFrom('admit', 'force', 'opened', 'succeeded', 'failed', 'abandoned')
  const step = fc.oneof(fc.tuple(what, account), fc.integer({ min: 0, max: 5_000 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { breaker, time } = create()
      const running = new Set<string>()
      for (const next of steps) {
        if (typeof next === 'number') {
          time.nowMs += next
          continue
        }
        const [name, accountId] = next
        if (name === 'admit' || name === 'force') running.add(accountId)
        else if (name !== 'opened') running.delete(accountId)
        breaker[name](accountId)
      }
      // All running requests end.
      for (const accountId of running) breaker.abandoned(accountId)
      time.nowMs += 8_000
      expect(breaker.admit('d')).not.toBe('no')
    }),
  )
})
