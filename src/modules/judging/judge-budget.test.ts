import { expect, test } from 'vitest'
import { BudgetReached, JudgeBudget } from './judge-budget.ts'

test('questions that are asked at once share what is left, and a question pays its tries from its share', () => {
  const budget = new JudgeBudget(1_000n, 400n)
  const [one, other] = budget.reserveTwo()
  expect([one.leftNanoUsd, other.leftNanoUsd]).toEqual([300n, 300n])
  one.charge(100n)
  one.charge(50n)
  expect(one.leftNanoUsd).toBe(150n)
  expect(budget.reserve().leftNanoUsd).toBe(450n)
})

test('a rest that is less than a usual question costs ends the judging', () => {
  const budget = new JudgeBudget(1_000n, 0n)
  budget.reserve().charge(600n)
  expect(() => budget.reserve()).toThrow(BudgetReached)
  expect(() => new JudgeBudget(1_000n, 1_000n).reserve()).toThrow(BudgetReached)
})

test('without a budget nothing is limited', () => {
  expect(new JudgeBudget(null, 1_000n).reserve().leftNanoUsd).toBeNull()
})
