import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createDeploymentStage,
  type DeploymentStage,
} from '../../src/modules/deployments/testing/deployment-stage.ts'
import { runCrash } from './crash/run-crash.ts'
import { startProcessStage, type ProcessStage } from './crash/start-process-stage.ts'
import { describeOutcome, describeTotals } from './describe-outcome.ts'
import { runGpuCases } from './gpu/run-gpu-cases.ts'
import type { CaseOutcome } from './run-case.ts'
import { findDifferences, noteOutcome, noTotals, runCases, shrinkOutcome } from './run-cases.ts'
import { startStage, type Stage } from './start-stage.ts'

const SEED = Number(process.env['PARKWAY_INVOICE_SEED'] ?? '1')
const MINUTES = Number(process.env['PARKWAY_INVOICE_MINUTES'] ?? '10')
/** Repeats one case instead. */
const ONLY_CASE = process.env['PARKWAY_INVOICE_CASE']
const CONCURRENCY = 8
const CASES_PER_ROUND = 100
const CRASHED_PER_ROUND = 16
const GPU_CASES_PER_ROUND = 10
/** Crashes use other cases than the rest. */
const CRASHES_FROM = 1_000_000
/** A hole is usually found many times. */
const FAILURES_MAX = Number(process.env['PARKWAY_INVOICE_FAILURES_MAX'] ?? '10')

let stage: Stage
let gpuStage: DeploymentStage
/** Started for the first crash, because a hole is often found before. */
let processStage: ProcessStage | null = null
const totals = noTotals()

beforeAll(async () => {
  stage = await startStage()
  gpuStage = await createDeploymentStage()
})
afterAll(async () => {
  await processStage?.close()
  await gpuStage.close()
  await stage.close()
})

test(`every account is charged at least what the vendors invoice, for ${MINUTES} minutes`, async () => {
  tell(`seed ${SEED}`)
  const wrong: CaseOutcome[] = []
  const endMs = performance.now() + MINUTES * 60_000
  for (let round = 0; performance.now() < endMs && wrong.length < FAILURES_MAX; round += 1) {
    const from = ONLY_CASE === undefined ? round * CASES_PER_ROUND : Number(ONLY_CASE)
    const count = ONLY_CASE === undefined ? CASES_PER_ROUND : 1
    const failuresMax = FAILURES_MAX - wrong.length
    wrong.push(
      ...(await runCases(stage, { seed: SEED, from, count, concurrency: CONCURRENCY, totals, failuresMax })),
    )
    tell(`round ${round}: ${totals.cases} cases, ${totals.calls} calls, ${wrong.length} wrong`)
    if (ONLY_CASE !== undefined || wrong.length >= FAILURES_MAX) break
    const gpus = { seed: SEED, from: round * GPU_CASES_PER_ROUND, count: GPU_CASES_PER_ROUND }
    expect((await runGpuCases(gpuStage, gpus)).join('\n')).toBe('')
    processStage ??= await startProcessStage()
    const crashed = { seed: SEED, from: CRASHES_FROM * (round + 1), count: CRASHED_PER_ROUND }
    const outcomes = await runCrash(processStage, crashed)
    for (const outcome of outcomes) noteOutcome(totals, outcome)
    wrong.push(...outcomes.filter(({ problems }) => problems.length > 0))
  }
  tell(describeTotals(SEED, totals))
  const [first] = wrong
  if (first !== undefined && FAILURES_MAX > 1 && first.made.end.name !== 'crashed')
    tell(`smallest:\n${describeOutcome(SEED, await shrinkOutcome(stage, first))}`)
  expect(wrong.map((outcome) => describeOutcome(SEED, outcome)).join('\n\n')).toBe('')
  for (const one of [stage, processStage]) if (one !== null) expect(await findDifferences(one)).toEqual([])
})

function tell(text: string): void {
  process.stdout.write(`${text}\n`)
}
