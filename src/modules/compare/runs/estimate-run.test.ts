import { describe, expect, test } from 'vitest'
import type { CatalogModel } from '../../catalog/catalog.ts'
import { estimateRun } from './estimate-run.ts'

const PRICE = {
  unit: 'token',
  inputNanoUsdPer1m: 1_000_000_000n,
  cachedInputNanoUsdPer1m: 1_000_000_000n,
  outputNanoUsdPer1m: 10_000_000_000n,
  longContext: [],
}
const model = { price: PRICE } as unknown as CatalogModel
/** A model with a price of 1 nano-USD per call. */
const byCall = { price: { unit: 'request', nanoUsdPerUnit: 1n } } as unknown as CatalogModel

interface Shape {
  readonly lanes?: number
  readonly prompts?: number
  readonly repeats?: number
  readonly expected?: unknown
  readonly maxTokens?: number
  readonly rubric?: string
  readonly budgetNanoUsd?: bigint
}

function orderOf({ lanes = 2, prompts = 1, repeats = 1, expected = null, maxTokens = 100, ...rest }: Shape) {
  const { rubric = null, budgetNanoUsd = null } = rest
  const messages = [{ role: 'user' as const, content: 'Why is the sky blue?' }]
  return {
    prompts: Array.from({ length: prompts }, () => ({ id: null, messages, expected })),
    lanes: Array.from({ length: lanes }, () => ({
      model: 'm',
      name: null,
      params: { max_tokens: maxTokens },
    })),
    repeats,
    concurrency: 10,
    judge: { model: 'judge', rubric },
    budgetNanoUsd,
  }
}

const estimateWith = (shape: Shape, judge: CatalogModel | null = model) => {
  const order = orderOf(shape)
  return estimateRun(order, { lanes: order.lanes.map(() => model), judge })
}
const callsOf = (shape: Shape) => Number(estimateWith(shape, byCall).judgeCostNanoUsd)
const judgeCost = (shape: Shape) => Number(estimateWith(shape).judgeCostNanoUsd)

describe('the estimate of a run', () => {
  test('without a judge is the sum of its cells', () => {
    const { costNanoUsd, judgeCostNanoUsd } = estimateWith({ prompts: 3 }, null)
    // 9 input and 100 output tokens.
    expect([costNanoUsd, judgeCostNanoUsd]).toEqual([6n * (9n * 1_000n + 100n * 10_000n), 0n])
  })

  test('with a judge has both parts', () => {
    const { costNanoUsd, judgeCostNanoUsd } = estimateWith({ prompts: 3 })
    expect(judgeCostNanoUsd).toBeGreaterThan(0n)
    expect(costNanoUsd - judgeCostNanoUsd).toBe(estimateWith({ prompts: 3 }, null).costNanoUsd)
  })

  test.each([
    [2, 2],
    [3, 6],
    [4, 12],
    [5, 10],
    [10, 20],
  ])('has %d lanes judged %d times per prompt, plus once per lane for its scores', (lanes, asked) => {
    expect(callsOf({ lanes })).toBe(asked)
    expect(callsOf({ lanes, prompts: 4, repeats: 3 })).toBe(12 * asked)
    expect(callsOf({ lanes, expected: { type: 'judge', value: 'Friendly.' } })).toBe(asked + lanes)
    expect(callsOf({ lanes, expected: { type: 'exact', value: 'Friendly.' } })).toBe(asked)
  })

  test('has the judge read two answers of the maximum length, and the rubric', () => {
    // Two answers, in both orders: 2 × 2 × 100 tokens more.
    expect(judgeCost({ maxTokens: 200 }) - judgeCost({ maxTokens: 100 })).toBe(2 * 2 * 100 * 1_000)
    expect(judgeCost({ rubric: 'word '.repeat(1_000) })).toBeGreaterThan(judgeCost({}) + 2 * 1_000 * 1_000)
  })

  test('limits the assumed length of an answer', () => {
    expect(judgeCost({ maxTokens: 1_000_000 })).toBe(judgeCost({ maxTokens: 400 }))
  })

  test('takes longer with a judge, and longest if a budget makes it ask one prompt after the other', () => {
    const timeOf = (shape: Shape, judge: CatalogModel | null = model) => estimateWith(shape, judge).durationMs
    const prompts = 20
    expect(timeOf({ prompts })).toBeGreaterThan(timeOf({ prompts }, null))
    expect(timeOf({ prompts, budgetNanoUsd: 1n })).toBeGreaterThan(timeOf({ prompts }))
  })
})
