import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeploymentStage } from '../../src/modules/deployments/testing/deployment-stage.ts'
import { describeOutcome } from './describe-outcome.ts'
import { runGpuCases } from './gpu/run-gpu-cases.ts'
import { findDifferences, noTotals, runCases } from './run-cases.ts'
import { startStage, type Stage } from './start-stage.ts'

/** The same cases in every run, as all property tests have. */
const SEED = Number(process.env['PARKWAY_INVOICE_SEED'] ?? '1')
const CASES = Number(process.env['PARKWAY_INVOICE_CASES'] ?? '120')
const CONCURRENCY = 8
const GPU_CASES = 12

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

test('every account pays for the time in which it had a GPU, also if the engine was never ready', async () => {
  const gpuStage = await createDeploymentStage()
  try {
    expect(await runGpuCases(gpuStage, { seed: SEED, from: 0, count: GPU_CASES })).toEqual([])
    expect(await gpuStage.findDifferences()).toEqual([])
  } finally {
    await gpuStage.close()
  }
})
