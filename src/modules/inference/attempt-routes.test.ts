import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../providers/upstream-error.ts'
import { attemptRoutes } from './attempt-routes.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'

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
  const clock = { nowMs: () => 0 }
  const result = await attemptRoutes({
    candidates: candidates.map((name) => ({ name, breaker: createCircuitBreaker({ clock }) })),
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
    ['garbage', failing({ failure: 'garbage' })],
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

  it('says when to come back while every upstream rests', async () => {
    const breaker = createCircuitBreaker({ clock: { nowMs: () => 0 }, failuresMax: 1, restMs: 7_000 })
    breaker.failed()
    const running = attemptRoutes({
      candidates: [{ breaker }],
      cancellation: new Cancellation(),
      attempt: async () => 'never',
    })
    await expect(running).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 7 })
  })

  it('passes over an upstream that rests', async () => {
    const breaker = createCircuitBreaker({ clock: { nowMs: () => 0 }, failuresMax: 1 })
    breaker.failed()
    const answer = await attemptRoutes({
      candidates: [
        { name: 'a', breaker },
        { name: 'b', breaker: null },
      ],
      cancellation: new Cancellation(),
      attempt: async ({ name }) => name,
    })
    expect(answer).toBe('b')
  })
})
