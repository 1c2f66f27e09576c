import { describe, expect, test } from 'vitest'
import type { Lane, Run } from './run.ts'
import { SpendPlan } from './spend-plan.ts'

const lane = { id: 'lane', completed: 0, costNanoUsd: 0n } as Lane
const planOf = (run: Partial<Run>) =>
  new SpendPlan({
    budgetNanoUsd: 10_000n,
    costNanoUsd: 0n,
    // The estimate of the judge is not part of the cost of cells.
    estimatedCostNanoUsd: 500n,
    estimatedJudgeNanoUsd: 200n,
    cellsTotal: 10,
    lanes: [lane],
    ...run,
  } as Run)
const completed = (chargedNanoUsd: bigint) => ({ chargedNanoUsd, isCompleted: true })
const wanted = (freeSlots: number, changes: object = {}) => ({
  freeSlots,
  isAlone: false,
  leastNanoUsd: 0n,
  ...changes,
})
const alone = wanted(1, { isAlone: true })

describe('SpendPlan', () => {
  test('a budget is shared by the cells that may run at once, and never promised twice', () => {
    const plan = planOf({})
    const amounts = [4, 3, 2, 1].map((slots) => plan.reserve(lane, wanted(slots))?.amountNanoUsd)
    expect(amounts).toEqual([2_500n, 2_500n, 2_500n, 2_500n])
    expect(plan.reserve(lane, wanted(1))).toBeNull()
    plan.settle(lane, { amountNanoUsd: 2_500n }, completed(100n))
    expect(plan.reserve(lane, wanted(1))).toEqual({ amountNanoUsd: 2_400n })
  })

  test('a budget leaves room for an answer of many times the usual cost while others run, and all that is left to one alone', () => {
    const plan = planOf({ budgetNanoUsd: 300n })
    // The guess is 30.
    expect(plan.reserve(lane, wanted(10))).toEqual({ amountNanoUsd: 240n })
    expect(plan.reserve(lane, wanted(9))).toBeNull()
    plan.settle(lane, { amountNanoUsd: 240n }, completed(200n))
    expect(plan.reserve(lane, alone)).toBeNull()
    const small = planOf({ budgetNanoUsd: 10n })
    expect(small.reserve(lane, alone)).toEqual({ amountNanoUsd: 10n })
  })

  test('a cell waits for the room that a long prompt needs', () => {
    const plan = planOf({ costNanoUsd: 9_000n })
    expect(plan.reserve(lane, wanted(2, { leastNanoUsd: 600n }))).toBeNull()
    expect(plan.reserve(lane, { ...alone, leastNanoUsd: 600n })).toEqual({ amountNanoUsd: 1_000n })
    expect(planOf({ costNanoUsd: 9_500n }).reserve(lane, { ...alone, leastNanoUsd: 600n })).toBeNull()
  })

  test('a budget counts what an earlier worker was charged', () => {
    const plan = planOf({})
    plan.add(9_999n)
    expect(plan.reserve(lane, alone)).toEqual({ amountNanoUsd: 1n })
  })

  test('a spent budget lets no cell begin, and without a budget all begin', () => {
    expect(planOf({ costNanoUsd: 10_000n }).reserve(lane, alone)).toBeNull()
    expect(planOf({ budgetNanoUsd: null }).reserve(lane, wanted(1))).toEqual({ amountNanoUsd: null })
  })
})
