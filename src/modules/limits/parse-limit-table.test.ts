import { describe, expect, it } from 'vitest'
import { chooseTier, DEFAULT_LIMITS, DEFAULT_QUOTAS, narrow } from './limit-table.ts'
import { parseLimitTable } from './parse-limit-table.ts'

const tier = (name: string, balance: number, members: object = {}) => ({
  name,
  balance_usd: balance,
  requests_per_minute: 10,
  tokens_per_minute: null,
  concurrent_requests: 2,
  spend_usd_per_minute: 0.5,
  ...members,
})

const parse = (value: unknown) => parseLimitTable(JSON.stringify(value))

describe('parseLimitTable', () => {
  it('keeps the defaults if nothing else is given', () => {
    expect(parse({})).toEqual(DEFAULT_LIMITS)
    expect(parse({ local_models: { slots: { vllm: 3 } } }).localModels).toEqual({
      ...DEFAULT_LIMITS.localModels,
      slots: new Map([['vllm', 3]]),
    })
  })

  it('sorts tiers and converts money to nano-dollars', () => {
    const { tiers } = parse({ tiers: [tier('rich', 100), tier('poor', 0)] })
    expect(tiers.map(({ name, balanceNanoUsd }) => [name, balanceNanoUsd])).toEqual([
      ['poor', 0n],
      ['rich', 100_000_000_000n],
    ])
    expect(tiers[0]?.spendNanoUsdPerMinute).toBe(500_000_000n)
  })

  it('gives a tier the default quotas except for those that it names', () => {
    const { tiers } = parse({ tiers: [tier('poor', 0, { media_bytes_max: 5, task_bytes_max: null })] })
    expect(tiers[0]?.storedBytesMax).toEqual({ ...DEFAULT_QUOTAS, media: 5, task: null })
  })

  it.each([
    ['not JSON', 'JSON'],
    ['[]', 'object'],
    [JSON.stringify({ tier: [] }), 'limits'],
    [JSON.stringify({ tiers: [] }), 'tiers'],
    [JSON.stringify({ tiers: [tier('poor', 1)] }), 'balance_usd 0'],
    [JSON.stringify({ tiers: [tier('one', 0), tier('two', 0)] }), 'same balance_usd'],
    [JSON.stringify({ tiers: [tier('one', 0, { requests_per_minute: 0 })] }), 'tiers.0.requests_per_minute'],
    [JSON.stringify({ categories: { video: 2 } }), 'categories.video'],
    [JSON.stringify({ local_models: { queue_max: 0 } }), 'local_models.queue_max'],
  ])('refuses %s', (text, said) => {
    expect(() => parseLimitTable(text)).toThrow(RangeError)
    expect(() => parseLimitTable(text)).toThrow(said)
  })
})

describe('a tier', () => {
  it('is the highest one that the balance reaches', () => {
    const names = [-5n, 0n, 999_999_999n, 1_000_000_000n, 10n ** 15n].map(
      (balance) => chooseTier(DEFAULT_LIMITS.tiers, balance).name,
    )
    expect(names).toEqual(['free', 'free', 'free', 'tier_1', 'tier_4'])
  })

  it('gives expensive kinds of models a share, and never zero', () => {
    expect([narrow(6000, 0.02), narrow(10, 0.02)]).toEqual([120, 1])
  })
})
