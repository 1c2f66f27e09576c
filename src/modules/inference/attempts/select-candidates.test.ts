import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { hashText } from '../../../kernel/rendezvous.ts'
import type { AppError } from '../../../kernel/app-error.ts'
import type { Provider } from '../../../providers/provider.ts'
import type { Catalog, CatalogModel } from '../../catalog/catalog.ts'
import type { Caller, Environment } from '../../keys/keys.ts'
import { createCircuitBreaker } from '../circuit/circuit-breaker.ts'
import { createCandidateSelector } from './select-candidates.ts'

const provider = (id: string, isConfigured = true): Provider => ({
  id,
  isConfigured,
  chat: () => Promise.reject(new Error('not called')),
})

const PROVIDERS = new Map<string, Provider>([
  ...['a', 'b', 'c'].map((id) => [id, provider(id)] as const),
  ['mute', { id: 'mute', isConfigured: true }],
])
const sandbox = provider('sandbox')

interface RouteDraft {
  provider: string
  priority?: number
  weight?: number
  timeouts?: { firstByteMs: number }
}

function modelWith(routes: readonly RouteDraft[], members: Partial<CatalogModel> = {}): CatalogModel {
  return {
    id: 'model',
    category: 'llm',
    capabilities: new Set(['chat']),
    routes: routes.map((route) => ({ model: 'up', priority: 0, weight: 1, timeouts: {}, ...route })),
    ...members,
  } as CatalogModel
}

const callerOf = (environment: Environment, allowedModels: Caller['allowedModels'] = null) =>
  ({ environment, allowedModels }) as Caller

const UNUSED = {} as Catalog

function createSelector(model: CatalogModel, random?: () => number) {
  return createCandidateSelector({
    mayUseSandbox: ({ environment }) => environment === 'dev' || environment === 'test',
    catalog: {
      ...UNUSED,
      resolveFor: (_viewer: unknown, name: string) => (name === 'nothing' ? undefined : model),
      successorOf: () => undefined,
    },
    providers: {
      get: (id) => (id === 'off' ? provider('off', false) : PROVIDERS.get(id)),
      current: PROVIDERS,
      sandbox,
    },
    breakerOf: () => createCircuitBreaker({ clock: fakeClock(() => 0) }),
    timeouts: { connectMs: 1, firstByteMs: 300_000, idleMs: 1 },
    categories: ['llm'],
    isOffered: ({ chat }) => chat !== undefined,
    variableOf: (id) => (id === 'off' ? 'OFF_API_KEY' : null),
    ...(random ? { random } : {}),
  })
}

const failureOf = (work: () => unknown): Partial<AppError> => {
  try {
    work()
  } catch (error) {
    return error as AppError
  }
  throw new Error('expected it to fail')
}

describe('select', () => {
  const select = (
    routes: readonly RouteDraft[],
    environment: Environment = 'live',
    random?: () => number,
  ) => {
    const model = modelWith(routes)
    return createSelector(model, random)
      .select(callerOf(environment), model)
      .map((candidate) => candidate.provider.id)
  }

  it('orders by priority and omits routes that are not configured', () => {
    const routes = [
      { provider: 'c', priority: 3 },
      { provider: 'off', priority: 0 },
      { provider: 'unknown', priority: 0 },
      { provider: 'a', priority: 1 },
      { provider: 'b', priority: 2 },
    ]
    expect(select(routes)).toEqual(['a', 'b', 'c'])
  })

  it('puts each of equal routes first according to its weight, and never loses one', () => {
    const routes = [
      { provider: 'a', weight: 6 },
      { provider: 'b', weight: 3 },
      { provider: 'c', weight: 1 },
    ]
    const model = modelWith(routes)
    const selector = createSelector(model, seededRandom(42))
    const first = { a: 0, b: 0, c: 0 } as Record<string, number>
    const rounds = 20_000
    for (let round = 0; round < rounds; round += 1) {
      const order = selector.select(callerOf('live'), model).map((candidate) => candidate.provider.id)
      expect(order.toSorted()).toEqual(['a', 'b', 'c'])
      first[order[0] ?? ''] = (first[order[0] ?? ''] ?? 0) + 1
    }
    expect((first['a'] ?? 0) / rounds).toBeCloseTo(0.6, 1)
    expect((first['b'] ?? 0) / rounds).toBeCloseTo(0.3, 1)
    expect((first['c'] ?? 0) / rounds).toBeCloseTo(0.1, 1)
  })

  it('keeps the order of one affinity, and puts each route first for a share of affinities by its weight', () => {
    const model = modelWith([
      { provider: 'a', weight: 6 },
      { provider: 'b', weight: 3 },
      { provider: 'c', weight: 1 },
    ])
    const selector = createSelector(model)
    const orderOf = (affinity: number) =>
      selector.select(callerOf('live'), model, null, () => affinity).map((candidate) => candidate.provider.id)
    const first = { a: 0, b: 0, c: 0 } as Record<string, number>
    const keys = 20_000
    for (let key = 0; key < keys; key += 1) {
      const order = orderOf(hashText(`session ${key}`))
      expect(order.toSorted()).toEqual(['a', 'b', 'c'])
      first[order[0] ?? ''] = (first[order[0] ?? ''] ?? 0) + 1
    }
    expect((first['a'] ?? 0) / keys).toBeCloseTo(0.6, 1)
    expect((first['b'] ?? 0) / keys).toBeCloseTo(0.3, 1)
    expect((first['c'] ?? 0) / keys).toBeCloseTo(0.1, 1)
    expect(orderOf(7)).toEqual(orderOf(7))
  })

  it('does not compute the affinity if there is nothing to choose', () => {
    const model = modelWith([
      { provider: 'a', priority: 0 },
      { provider: 'b', priority: 1 },
    ])
    const refuse = () => {
      throw new Error('nobody needs it')
    }
    const order = createSelector(model).select(callerOf('live'), model, null, refuse)
    expect(order.map((candidate) => candidate.provider.id)).toEqual(['a', 'b'])
  })

  it.each(['dev', 'test'] as const)(
    'gives keys of %s the sandbox if nothing is configured',
    (environment) => {
      expect(select([{ provider: 'off' }], environment)).toEqual(['sandbox'])
      expect(select([{ provider: 'a' }], environment)).toEqual(['a'])
    },
  )

  it.each(['live', 'prod', 'staging'] as const)('gives keys of %s no sandbox', (environment) => {
    expect(failureOf(() => select([{ provider: 'off' }], environment))).toMatchObject({
      code: 'provider_not_configured',
      param: 'model',
      retryAfterSeconds: null,
      message: "No provider of 'model' is configured. The operator of this gateway sets OFF_API_KEY.",
    })
  })

  it('names the requested model, and the missing variables of each of its providers', () => {
    const routes = [{ provider: 'off' }, { provider: 'off' }, { provider: 'unknown' }]
    const model = modelWith(routes)
    const { message } = failureOf(() => createSelector(model).select(callerOf('live'), model, 'alias'))
    expect(message).toBe(
      "No provider of 'alias' is configured. The operator of this gateway sets OFF_API_KEY or unknown.",
    )
  })

  it('names no variable if the providers are configured but cannot do this', () => {
    const model = modelWith([{ provider: 'mute' }])
    const { message } = failureOf(() => createSelector(model).select(callerOf('live'), model, 'alias'))
    expect(message).toBe("No configured provider of 'alias' can do this.")
  })
})

describe('resolveModel', () => {
  it('refuses an unknown, unsuitable or forbidden model, each with its own error', () => {
    const chatModel = createSelector(modelWith([]))
    expect(failureOf(() => chatModel.resolveModel(callerOf('dev'), 'nothing')).code).toBe('model_not_found')
    const allowed = callerOf('dev', new Set(['other']))
    expect(failureOf(() => chatModel.resolveModel(allowed, 'model')).code).toBe('model_not_allowed')
    const image = createSelector(modelWith([], { category: 'image' }))
    expect(failureOf(() => image.resolveModel(callerOf('dev'), 'model'))).toMatchObject({
      code: 'invalid_value',
      param: 'model',
      message: expect.stringContaining('/v1/images/generations'),
    })
  })

  it('allows a model by its id and by the requested alias', () => {
    const selector = createSelector(modelWith([]))
    expect(selector.resolveModel(callerOf('dev', new Set(['model'])), 'alias').id).toBe('model')
    expect(selector.resolveModel(callerOf('dev', new Set(['alias'])), 'alias').id).toBe('model')
  })
})

/** Mulberry32: returns the same numbers in every run. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe('the time to the first byte of a stream', () => {
  const limits = (routes: readonly RouteDraft[], members: Partial<CatalogModel> = {}) => {
    const model = modelWith(routes, members)
    return createSelector(model)
      .select(callerOf('live'), model)
      .map(({ streamTimeouts, timeouts }) => [streamTimeouts.firstByteMs, timeouts.firstByteMs])
  }
  const all = 300_000

  it('is short while another route is left, and full for the last route', () => {
    const routes = [
      { provider: 'a', priority: 0 },
      { provider: 'b', priority: 1 },
    ]
    expect(limits(routes)).toEqual([
      [20_000, all],
      [all, all],
    ])
    expect(limits([{ provider: 'a' }])).toEqual([[all, all]])
  })

  it('is longer for a reasoning model, and as set by a route', () => {
    const routes = [
      { provider: 'a', priority: 0 },
      { provider: 'b', priority: 1, timeouts: { firstByteMs: 200_000 } },
      { provider: 'c', priority: 2 },
    ]
    expect(limits(routes, { capabilities: new Set(['chat', 'reasoning']) })).toEqual([
      [120_000, all],
      [200_000, 200_000],
      [all, all],
    ])
  })
})
