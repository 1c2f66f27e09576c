import { describe, expect, test } from 'vitest'
import type { Lane, Run } from './run.ts'
import { SpendPlan } from './spend-plan.ts'

const lane = { id: 'lane', completed: 0, costNanoUsd: 0n } as Lane
const planOf = (run: Partial<Run>) =>
  new SpendPlan({
    budgetNanoUsd: 100n,
    costNanoUsd: 0n,
    // The estimate of the judge is not part of the cost of cells.
    estimatedCostNanoUsd: 500n,
    estimatedJudgeNanoUsd: 200n,
    cellsTotal: 10,
    lanes: [lane],
    ...run,
  } as Run)
const completed = (chargedNanoUsd: bigint) => ({ chargedNanoUsd, isCompleted: true })

describe('a budget', () => {
  test('lets as many cells begin as are expected to fit', () => {
    const plan = planOf({})
    expect([plan.reserve(lane, true), plan.reserve(lane, false), plan.reserve(lane, false)]).toEqual([
      30n,
      30n,
      30n,
    ])
    expect(plan.reserve(lane, false)).toBeNull()
  })

  test('learns from the cost of cells', () => {
    const plan = planOf({})
    plan.settle(lane, plan.reserve(lane, true) ?? 0n, completed(5n))
    expect(plan.reserve(lane, true)).toBe(5n)
  })

  test('lets one cell begin although the estimate is too high', () => {
    const plan = planOf({ estimatedCostNanoUsd: 100_200n })
    expect(plan.reserve(lane, false)).toBeNull()
    expect(plan.reserve(lane, true)).toBe(10_000n)
    plan.settle(lane, 10_000n, completed(10n))
    expect(plan.reserve(lane, false)).toBe(10n)
  })

  test('a budget that is spent lets no cell begin, and without a budget all begin', () => {
    expect(planOf({ costNanoUsd: 100n }).reserve(lane, true)).toBeNull()
    expect(planOf({ budgetNanoUsd: null, costNanoUsd: 100n }).reserve(lane, false)).toBe(0n)
  })
})
