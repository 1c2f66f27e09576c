import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatUsage, readUsage } from './token-usage.ts'

describe('readUsage', () => {
  it.each([
    ['OpenAI', { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }, [9, 0, 5, 0]],
    [
      'OpenAI with details',
      {
        prompt_tokens: 9,
        completion_tokens: 5,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      [9, 4, 5, 3],
    ],
    [
      'xAI, which counts reasoning beside the completion',
      {
        prompt_tokens: 9,
        completion_tokens: 5,
        total_tokens: 44,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      [9, 0, 35, 30],
    ],
    [
      'more reasoning than completion, and a total that does not tell',
      { prompt_tokens: 9, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 30 } },
      [9, 0, 30, 30],
    ],
    ['DeepSeek', { prompt_tokens: 9, completion_tokens: 5, prompt_cache_hit_tokens: 8 }, [9, 8, 5, 0]],
    [
      'details of null',
      {
        prompt_tokens: 9,
        completion_tokens: 5,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
      [9, 0, 5, 0],
    ],
  ])('reads %s', (_name, usage, [promptTokens, cachedTokens, completionTokens, reasoningTokens]) => {
    expect(readUsage(usage)).toEqual({ promptTokens, cachedTokens, completionTokens, reasoningTokens })
  })

  it.each([null, undefined, 7, [], {}, { prompt_tokens: 1 }, { prompt_tokens: 1.5, completion_tokens: 1 }])(
    'trusts nothing of %j',
    (usage) => {
      expect(readUsage(usage)).toBeNull()
    },
  )

  it('never lets a part be larger than its whole, whatever an upstream reports', () => {
    const count = fc.oneof(fc.nat(), fc.double(), fc.integer(), fc.constant(null), fc.string())
    const usage = fc.record({
      prompt_tokens: fc.nat(),
      completion_tokens: fc.nat(),
      total_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count }),
      completion_tokens_details: fc.record({ reasoning_tokens: count }),
    })
    fc.assert(
      fc.property(usage, (reported) => {
        const read = readUsage(reported)
        if (read === null) throw new Error('expected usage')
        expect(read.cachedTokens).toBeLessThanOrEqual(read.promptTokens)
        expect(read.reasoningTokens).toBeLessThanOrEqual(read.completionTokens)
        expect(read.completionTokens).toBeGreaterThanOrEqual(reported.completion_tokens)
      }),
    )
  })
})

describe('formatUsage', () => {
  const usage = { promptTokens: 9, cachedTokens: 4, completionTokens: 5, reasoningTokens: 3 }

  it('has every member of the wire, and keeps what else the upstream reported', () => {
    const reported = { queue_time: 0.1, prompt_tokens_details: { audio_tokens: 2, cached_tokens: 99 } }
    expect(formatUsage(usage, 1_500n, reported)).toEqual({
      queue_time: 0.1,
      prompt_tokens: 9,
      completion_tokens: 5,
      total_tokens: 14,
      prompt_tokens_details: { audio_tokens: 2, cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
      cost_usd: 0.0000015,
    })
  })

  it('takes nothing from a report of another shape', () => {
    expect(formatUsage(usage, 0n, 'free')).toMatchObject({ total_tokens: 14, cost_usd: 0 })
  })
})
