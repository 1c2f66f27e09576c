import { beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { KEY_LIMITS_UNKNOWN } from '../../../providers/connection/key-limits.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../../providers/failures/upstream-error.ts'
import { attemptRoutes } from './attempt-routes.ts'
import { createCircuitBreaker, type CircuitBreaker } from '../circuit/circuit-breaker.ts'

const failing = (details: Partial<UpstreamErrorDetails>) =>
  new UpstreamError('it failed', { failure: 'status', provider: 'p', status: 500, ...details })

interface Script {
  readonly candidates: readonly string[]
  readonly outcomes: readonly (UpstreamError | Error | string)[]
}

const pausesMs: number[] = []

// Records pauses instead of waiting.
vi.mock('node:timers/promises', () => ({
  setTimeout: async (pauseMs: number, _value: unknown, { signal }: { signal: AbortSignal }) => {
    pausesMs.push(pauseMs)
    await Promise.resolve()
    signal.throwIfAborted()
  },
}))

beforeEach(() => {
  pausesMs.length = 0
})

/** Runs the script; returns the attempted candidates, the result and the pauses. */
async function run({ candidates, outcomes }: Script) {
  const asked: string[] = []
  const clock = fakeClock(() => 0)
  const result = await attemptRoutes({
    candidates: candidates.map((name) => ({ name, breaker: createCircuitBreaker({ clock }) })),
    accountId: 'account',
    cancellation: new Cancellation(),
    random: () => 1,
    attempt: async ({ name }) => {
      const outcome = outcomes[Math.min(asked.length, outcomes.length - 1)]
      asked.push(name)
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }).catch((error: unknown) => error)
  return { asked, result, pausesMs: [...pausesMs] }
}

describe('attemptRoutes', () => {
  it('returns the first success, in order, without a pause between upstreams', async () => {
    const outcomes = [failing({}), failing({ failure: 'connect' }), 'yes']
    expect(await run({ candidates: ['a', 'b', 'c'], outcomes })).toEqual({
      asked: ['a', 'b', 'c'],
      result: 'yes',
      pausesMs: [],
    })
  })

  it.each([
    ['500', failing({})],
    ['429', failing({ status: 429 })],
    ['408', failing({ status: 408 })],
    ['a refused connection', failing({ failure: 'connect' })],
    ['a cut connection', failing({ failure: 'cut' })],
    ['invalid_answer', failing({ failure: 'invalid_answer' })],
  ])('tries a single upstream three times after %s, with growing pauses', async (_name, error) => {
    expect(await run({ candidates: ['a'], outcomes: [error] })).toEqual({
      asked: ['a', 'a', 'a'],
      result: error,
      pausesMs: [200, 400],
    })
  })

  it.each([
    ['a timeout', failing({ failure: 'timeout' })],
    ['a refused credential', failing({ status: 401 })],
    ['an unknown model', failing({ status: 404 })],
    ['a wish for a long pause', failing({ status: 429, retryAfterSeconds: 3 })],
  ])('does not retry the same upstream after %s', async (_name, error) => {
    expect((await run({ candidates: ['a'], outcomes: [error] })).asked).toEqual(['a'])
    expect((await run({ candidates: ['a', 'b'], outcomes: [error, 'yes'] })).asked).toEqual(['a', 'b'])
  })

  it('waits as long as the upstream asks, if that is short', async () => {
    const outcomes = [failing({ status: 429, retryAfterSeconds: 2 }), 'yes']
    expect(await run({ candidates: ['a'], outcomes })).toMatchObject({ result: 'yes', pausesMs: [2_000] })
  })

  it.each([400, 413, 415, 422])('tries no other upstream if the request is at fault (%i)', async (status) => {
    const error = failing({ status })
    expect(await run({ candidates: ['a', 'b'], outcomes: [error] })).toMatchObject({
      asked: ['a'],
      result: error,
    })
  })

  it('tries another upstream if the limits of keys are not known, and none after another shortage in this process', async () => {
    const asked = async (upstreamCode: string) => {
      const outcomes = [failing({ failure: 'local', upstreamCode }), 'yes']
      return (await run({ candidates: ['a', 'b'], outcomes })).asked
    }
    expect(await asked(KEY_LIMITS_UNKNOWN)).toEqual(['a', 'b'])
    expect(await asked('EMFILE')).toEqual(['a'])
  })

  it('throws errors that are not an upstream’s failure', async () => {
    const defect = new TypeError('ours')
    expect(await run({ candidates: ['a', 'b'], outcomes: [defect] })).toMatchObject({
      asked: ['a'],
      result: defect,
    })
  })

  it('makes a limited number of attempts, however many upstreams there are', async () => {
    const candidates = Array.from({ length: 20 }, (_, index) => `u${index}`)
    const { asked } = await run({ candidates, outcomes: [failing({})] })
    expect(asked).toEqual(candidates.slice(0, 6))
  })

  it('stops during a pause when the client disconnects', async () => {
    const cancellation = new Cancellation()
    const reason = new Error('gone')
    const asked: string[] = []
    const running = attemptRoutes({
      candidates: [{ breaker: null }],
      accountId: 'account',
      cancellation,
      attempt: async () => {
        asked.push('a')
        queueMicrotask(() => cancellation.cancel(reason))
        throw failing({ status: 429, retryAfterSeconds: 2 })
      },
    })
    await expect(running).rejects.toBe(reason)
    expect(asked).toEqual(['a'])
  })

  it.each([501, 529, 429, 404])('does not report a status of %i to the breaker', async (status) => {
    const { failures } = await outcomes([failing({ status })])
    expect(failures).toEqual([])
  })

  it('reports a failed request once, however often it was tried', async () => {
    expect(await outcomes([failing({}), failing({}), failing({})])).toEqual({ failures: ['a'], asked: 3 })
  })

  it('reports no failure of an upstream that finally answers', async () => {
    expect(await outcomes([failing({}), failing({}), 'yes'])).toEqual({ failures: [], asked: 3 })
  })

  it('reports no failure if the request turns out to be at fault', async () => {
    expect(await outcomes([failing({}), failing({ status: 400 })])).toEqual({ failures: [], asked: 2 })
  })

  it('neither retries nor reports a shortage in this process', async () => {
    expect(await outcomes([failing({ failure: 'local' })])).toEqual({ failures: [], asked: 1 })
  })

  it('skips a resting upstream', async () => {
    expect(await askAll([resting(1_000), null], () => true)).toEqual({ asked: [1], answer: 1 })
  })

  it('tries the one whose rest ends first, once, if all rest', async () => {
    expect(await askAll([resting(3_000), resting(1_000), resting(2_000)], () => true)).toMatchObject({
      asked: [1],
    })
    expect((await askAll([resting(3_000), resting(1_000)], () => false)).asked).toEqual([1, 0])
  })

  it('tries a resting upstream if the healthy ones have failed', async () => {
    expect(await askAll([resting(1_000), null], (index) => index === 0)).toEqual({ asked: [1, 0], answer: 0 })
  })
})

/** Runs one upstream with these outcomes; returns the failures that its breaker received. */
async function outcomes(script: readonly (UpstreamError | string)[]) {
  const breaker = createCircuitBreaker({ clock: fakeClock(() => 0) })
  const failures: string[] = []
  const told = { ...bind(breaker), failed: () => failures.push('a') }
  let asked = 0
  await attemptRoutes({
    candidates: [{ breaker: told }],
    accountId: 'account',
    cancellation: new Cancellation(),
    attempt: async () => {
      const outcome = script[Math.min(asked, script.length - 1)]
      asked += 1
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }).catch(() => null)
  return { failures, asked }
}

async function askAll(breakers: readonly (CircuitBreaker | null)[], answers: (index: number) => boolean) {
  const asked: number[] = []
  const answer = await attemptRoutes({
    candidates: breakers.map((breaker, index) => ({ breaker, index })),
    accountId: 'account',
    cancellation: new Cancellation(),
    attempt: async ({ index }) => {
      asked.push(index)
      if (!answers(index)) throw failing({ failure: 'timeout' })
      return index
    },
  }).catch((error: unknown) => error)
  return { asked, answer }
}

function resting(restMs: number): CircuitBreaker {
  const breaker = createCircuitBreaker({ clock: fakeClock(() => 0), requestsMin: 2, restMs })
  breaker.failed('account')
  breaker.failed('another')
  return breaker
}

function bind(breaker: CircuitBreaker): CircuitBreaker {
  return {
    admit: (accountId) => breaker.admit(accountId),
    force: (accountId) => breaker.force(accountId),
    restMs: (accountId) => breaker.restMs(accountId),
    succeeded: (accountId) => breaker.succeeded(accountId),
    opened: (accountId) => breaker.opened(accountId),
    failed: (accountId) => breaker.failed(accountId),
    abandoned: (accountId) => breaker.abandoned(accountId),
  }
}
