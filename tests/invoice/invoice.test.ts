import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOutcome } from './describe-outcome.ts'
import { findDifferences, noTotals, runCases } from './run-cases.ts'
import { startStage, type Stage } from './start-stage.ts'

/** The same cases in every run, as all property tests have. */
const SEED = Number(process.env['PARKWAY_INVOICE_SEED'] ?? '1')
const CASES = Number(process.env['PARKWAY_INVOICE_CASES'] ?? '150')
const CONCURRENCY = 8

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.close())

test('every account is charged at least what the vendors invoice, and nothing without work', async () => {
  const totals = noTotals()
  const wrong = await runCases(stage, { seed: SEED, from: 0, count: CASES, concurrency: CONCURRENCY, totals })
  expect(totals.calls).toBeGreaterThan(CASES / 4)
  expect(wrong.map((outcome) => describeOutcome(SEED, outcome)).join('\n\n')).toBe('')
  expect(await findDifferences(stage)).toEqual([])
})
