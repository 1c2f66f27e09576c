import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { priceTokens } from '../../catalog/catalog.ts'
import { settleUsage, type AnswerContext } from '../answer/answer-context.ts'
import { DeliveredText } from '../answer/delivered-text.ts'
import { formatUsage, mergeUsage, readUsage, type TokenUsage } from '../../../wires/token-usage.ts'

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
      'Moonshot, which names cached tokens at the top',
      { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, cached_tokens: 8 },
      [9, 8, 5, 0],
    ],
    [
      'Anthropic, which counts the cache beside the input',
      { input_tokens: 9, output_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 30 },
      [129, 90, 5, 0],
    ],
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
    const { cacheWriteTokens: _written, ...read } = readUsage(usage) ?? {}
    expect(read).toEqual({ promptTokens, cachedTokens, completionTokens, reasoningTokens })
  })

  it('reads cache writes under either name', () => {
    const anthropic = { input_tokens: 9, output_tokens: 5, cache_creation_input_tokens: 30 }
    expect(readUsage(anthropic)).toMatchObject({ promptTokens: 39, cacheWriteTokens: 30 })
    const details = { cached_tokens: 10, cache_write_tokens: 20 }
    const openai = { prompt_tokens: 40, completion_tokens: 5, prompt_tokens_details: details }
    expect(readUsage(openai)).toMatchObject({ promptTokens: 40, cachedTokens: 10, cacheWriteTokens: 20 })
  })

  it('does not count rejected prediction tokens twice', () => {
    const details = { reasoning_tokens: 2, accepted_prediction_tokens: 3, rejected_prediction_tokens: 40 }
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 50,
      total_tokens: 59,
      completion_tokens_details: details,
    }
    expect(readUsage(usage)).toMatchObject({ completionTokens: 50, reasoningTokens: 2 })
  })

  it.each([null, undefined, 7, [], {}, { prompt_tokens: 1 }, { prompt_tokens: 1.5, completion_tokens: 1 }])(
    'ignores %j',
    (usage) => {
      expect(readUsage(usage)).toBeNull()
    },
  )

  it.each([1_000_000_001, Number.MAX_SAFE_INTEGER])('ignores a count of %d', (count) => {
    expect(readUsage({ prompt_tokens: count, completion_tokens: 1 })).toBeNull()
    expect(readUsage({ prompt_tokens: 1, completion_tokens: count })).toBeNull()
  })

  it('never lets a part be larger than its whole, whatever an upstream reports', () => {
    const count = fc.oneof(fc.nat(), fc.double(), fc.integer(), fc.constant(null), fc.string())
    const usage = fc.record({
      prompt_tokens: fc.nat(1_000_000_000),
      completion_tokens: fc.nat(1_000_000_000),
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

describe('mergeUsage', () => {
  const rates = { inputNanoUsdPer1m: 10_000_000n, cachedInputNanoUsdPer1m: 1_000_000n }
  const price = { unit: 'token', ...rates, outputNanoUsdPer1m: 100_000_000n, longContext: [] } as const
  const report = fc
    .record({
      promptTokens: fc.nat(1_000_000),
      cached: fc.double({ min: 0, max: 1, noNaN: true }),
      completionTokens: fc.nat(1_000_000),
      reasoning: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ promptTokens, cached, completionTokens, reasoning }) => ({
      promptTokens,
      cachedTokens: Math.floor(promptTokens * cached),
      completionTokens,
      reasoningTokens: Math.floor(completionTokens * reasoning),
    }))
  const reports = fc.array(report, { minLength: 1, maxLength: 6 })
  const merge = (all: readonly TokenUsage[]) => all.reduce((a, b) => mergeUsage(a, b))

  it('gives the same result for every order and repetition of reports', () => {
    fc.assert(
      fc.property(reports, fc.func(fc.nat()), (all, weightOf) => {
        const again = [...all, ...all].toSorted((a, b) => weightOf(a) - weightOf(b))
        expect(merge(again)).toEqual(merge(all))
      }),
    )
  })

  it('never makes an answer cheaper by a further report, unless it reports cached tokens', () => {
    fc.assert(
      fc.property(reports, report, (all, further) => {
        const before = merge(all)
        const after = mergeUsage(before, further)
        const uncached = { ...after, cachedTokens: Math.min(before.cachedTokens, after.cachedTokens) }
        expect(priceTokens(price, uncached)).toBeGreaterThanOrEqual(priceTokens(price, before))
        expect(after.cachedTokens).toBeLessThanOrEqual(after.promptTokens)
        expect(after.reasoningTokens).toBeLessThanOrEqual(after.completionTokens)
      }),
    )
  })
})

describe('defects known from other gateways', () => {
  const rates = { inputNanoUsdPer1m: 10_000_000n, cachedInputNanoUsdPer1m: 1_000_000n }
  const price = { unit: 'token', ...rates, outputNanoUsdPer1m: 100_000_000n, longContext: [] } as const
  const priceOf = (reported: unknown) => {
    const usage = readUsage(reported)
    if (usage === null) throw new Error('expected usage')
    return priceTokens(price, usage)
  }

  it('explicit zero usage is not estimated and billed', () => {
    const delivered = new DeliveredText()
    delivered.add('An answer that the upstream gives away.')
    const record: { usage: null; costNanoUsd: bigint | null } = { usage: null, costNanoUsd: null }
    const context = {
      model: { price },
      record,
      bill: { charge: (price: bigint) => (record.costNanoUsd = price) },
      countPromptTokens: () => 1000,
      countTokens: () => 1000,
    } as unknown as AnswerContext
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    settleUsage(context, readUsage(zero), delivered)
    expect(context.record.costNanoUsd).toBe(0n)
    expect(context.record.usage).toMatchObject({ promptTokens: 0, completionTokens: 0 })
    settleUsage(context, readUsage(undefined), delivered)
    expect(context.record.costNanoUsd).toBeGreaterThan(0n)
  })

  it.each([
    ['inside the prompt', { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 90 } }],
    [
      'under two names',
      { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 90 }, prompt_cache_hit_tokens: 90 },
    ],
    ['inside, under another name', { prompt_tokens: 100, total_tokens: 101, cache_read_input_tokens: 90 }],
    [
      'beside the prompt, which the total tells',
      { prompt_tokens: 10, total_tokens: 101, prompt_tokens_details: { cached_tokens: 90 } },
    ],
    [
      'beside the prompt, which is too short to hold them',
      { prompt_tokens: 10, cache_read_input_tokens: 90 },
    ],
    [
      'beside the prompt and in the details',
      { prompt_tokens: 10, cache_read_input_tokens: 90, prompt_tokens_details: { cached_tokens: 90 } },
    ],
  ])('cached tokens are not billed twice when they are reported %s', (_where, prompt) => {
    expect(priceOf({ completion_tokens: 1, ...prompt })).toBe(10n * 10n + 90n + 100n)
  })

  it('tokens written to a cache are billed once, as input', () => {
    const written = { cache_read_input_tokens: 0, cache_creation_input_tokens: 90 }
    const expected = 100n * 10n + 100n
    expect(priceOf({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 101, ...written })).toBe(expected)
    expect(priceOf({ prompt_tokens: 100, completion_tokens: 1, total_tokens: 101, ...written })).toBe(
      expected,
    )
  })

  it.each([
    ['inside the completion', { completion_tokens: 50, total_tokens: 51 }],
    ['inside, without a total', { completion_tokens: 50 }],
    ['beside the completion', { completion_tokens: 20, total_tokens: 51 }],
  ])('reasoning tokens are not billed twice when they are reported %s', (_where, completion) => {
    const details = { completion_tokens_details: { reasoning_tokens: 30 } }
    expect(priceOf({ prompt_tokens: 1, ...completion, ...details })).toBe(10n + 50n * 100n)
  })

  it('reasoning and cached tokens beside the rest are each billed once', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 20,
      total_tokens: 10 + 20 + 90 + 30,
      prompt_tokens_details: { cached_tokens: 90 },
      completion_tokens_details: { reasoning_tokens: 30 },
    }
    expect(priceOf(usage)).toBe(10n * 10n + 90n + 50n * 100n)
  })
})

describe('formatUsage', () => {
  const usage = { promptTokens: 9, cachedTokens: 4, completionTokens: 5, reasoningTokens: 3 }

  it('has every member of the wire, and keeps other reported members', () => {
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
