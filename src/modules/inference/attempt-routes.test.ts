import { beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../providers/upstream-error.ts'
import { attemptRoutes } from './attempt-routes.ts'
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts'

const failing = (details: Partial<UpstreamErrorDetails>) =>
  new UpstreamError('it failed', { failure: 'status', provider: 'p', status: 500, ...details })

interface Script {
  readonly candidates: readonly string[]
  readonly outcomes: readonly (UpstreamError | Error | string)[]
}

const pausesMs: number[] = []

// Pauses are written down instead of waited for.
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

/** Tells who was asked and what came of it. */
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
  it('answers with the first that succeeds, in order, without a pause between upstreams', async () => {
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
  ])('asks a single upstream three times after %s, with growing pauses', async (_name, error) => {
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
  ])('does not ask the same upstream again after %s', async (_name, error) => {
    expect((await run({ candidates: ['a'], outcomes: [error] })).asked).toEqual(['a'])
    expect((await run({ candidates: ['a', 'b'], outcomes: [error, 'yes'] })).asked).toEqual(['a', 'b'])
  })

  it('waits as long as the upstream asks, when that is short', async () => {
    const outcomes = [failing({ status: 429, retryAfterSeconds: 2 }), 'yes']
    expect(await run({ candidates: ['a'], outcomes })).toMatchObject({ result: 'yes', pausesMs: [2_000] })
  })

  it.each([400, 413, 415, 422])('asks nobody else when the request is at fault (%i)', async (status) => {
    const error = failing({ status })
    expect(await run({ candidates: ['a', 'b'], outcomes: [error] })).toMatchObject({
      asked: ['a'],
      result: error,
    })
  })

  it('passes on what is not an upstream’s failure', async () => {
    const defect = new TypeError('ours')
    expect(await run({ candidates: ['a', 'b'], outcomes: [defect] })).toMatchObject({
      asked: ['a'],
      result: defect,
    })
  })

  it('asks a bounded number of times, however many upstreams there are', async () => {
    const candidates = Array.from({ length: 20 }, (_, index) => `u${index}`)
    const { asked } = await run({ candidates, outcomes: [failing({})] })
    expect(asked).toEqual(candidates.slice(0, 6))
  })

  it('stops in the middle of a pause when the client leaves', async () => {
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

  it.each([501, 529, 429, 404])('counts a status of %i for no breaker', async (status) => {
    const { failures } = await outcomes([failing({ status })])
    expect(failures).toEqual([])
  })

  it('counts a request that fails once, however often it was tried', async () => {
    expect(await outcomes([failing({}), failing({}), failing({})])).toEqual({ failures: ['a'], asked: 3 })
  })

  it('counts no failure of an upstream that answers in the end', async () => {
    expect(await outcomes([failing({}), failing({}), 'yes'])).toEqual({ failures: [], asked: 3 })
  })

  it('counts no failure where the request turns out to be at fault', async () => {
    expect(await outcomes([failing({}), failing({ status: 400 })])).toEqual({ failures: [], asked: 2 })
  })

  it('neither repeats nor counts what this process is short of', async () => {
    expect(await outcomes([failing({ failure: 'local' })])).toEqual({ failures: [], asked: 1 })
  })

  it('passes over an upstream that rests', async () => {
    expect(await askAll([resting(1_000), null], () => true)).toEqual({ asked: [1], answer: 1 })
  })

  it('asks the one whose rest ends first, once, when all rest', async () => {
    expect(await askAll([resting(3_000), resting(1_000), resting(2_000)], () => true)).toMatchObject({
      asked: [1],
    })
    expect((await askAll([resting(3_000), resting(1_000)], () => false)).asked).toEqual([1, 0])
  })

  it('asks one that rests when those that are well have failed', async () => {
    expect(await askAll([resting(1_000), null], (index) => index === 0)).toEqual({ asked: [1, 0], answer: 0 })
  })
})

/** What one breaker was told while one upstream behaved like this. */
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
