import { describe, expect, it } from 'vitest'
import { sumUsage } from './sum-usage.ts'

const usage = (members: object = {}) => ({
  prompt_tokens: 10,
  completion_tokens: 2,
  total_tokens: 12,
  ...members,
})

describe('sumUsage', () => {
  it('adds up every count, including details', () => {
    const one = usage({
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 1 },
    })
    expect(sumUsage([one, one, usage()])).toEqual({
      prompt_tokens: 30,
      completion_tokens: 6,
      total_tokens: 36,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 2 },
    })
  })

  it('counts cached tokens once if they are reported under two names', () => {
    const both = usage({ prompt_tokens_details: { cached_tokens: 4 }, prompt_cache_hit_tokens: 4 })
    const older = usage({ prompt_cache_hit_tokens: 3 })
    expect(sumUsage([both, older])).toMatchObject({ prompt_tokens_details: { cached_tokens: 7 } })
  })

  it('returns nothing if one of them has no usage', () => {
    expect(sumUsage([usage(), undefined])).toBeUndefined()
    expect(sumUsage([usage(), null])).toBeUndefined()
  })
})
