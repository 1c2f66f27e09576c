import type { NanoUsd } from '../../../src/kernel/money.ts'
import { gpuCost } from '../../../src/modules/deployments/bill/gpu-cost.ts'
import {
  HOUR_NANO_USD,
  ORDER,
  type DeploymentStage,
} from '../../../src/modules/deployments/testing/deployment-stage.ts'
import { toUsd } from '../check/check-account.ts'
import { createRandom, seedOf } from '../generate/random.ts'

/** A deployment of an account of its own, and how its runs end. */
interface GpuCase {
  readonly number: number
  /** How long each run may last before it is ended, and whether a process looks after it in this time. */
  readonly runs: readonly { readonly durationMs: number; readonly isWatched: boolean }[]
  readonly end: 'stopped' | 'deleted'
  readonly hasNoMachine: boolean
}

const CREDIT_USD = 100
/** How long the sandbox takes to bind a GPU. An engine is ready 8 seconds later. */
const BIND_MS = 2_000
/** Longer than a GPU takes to be released, or a start to be tried again. */
const WIND_DOWN_MS = 120_000

/**
 * Starts deployments, ends them at any time, and compares what their accounts pay with the seconds in which the machines' owner had
 * given away a GPU. Returns what is wrong. Time is simulated, so a case takes milliseconds.
 */
export async function runGpuCases(
  stage: DeploymentStage,
  { seed, from, count }: { readonly seed: number; readonly from: number; readonly count: number },
): Promise<string[]> {
  const wrong: string[] = []
  for (let number = from; number < from + count; number += 1) {
    const made = makeGpuCase(seed, number)
    const problem = await runGpuCase(stage, made)
    if (problem !== null) wrong.push(`seed ${seed}, GPU case ${number}: ${problem}\n${JSON.stringify(made)}`)
  }
  return wrong
}

function makeGpuCase(seed: number, number: number): GpuCase {
  const random = createRandom(seedOf(seed, number))
  const end = random.pick(['stopped', 'stopped', 'deleted'] as const)
  // Most runs end while their engine starts.
  const run = () => ({
    durationMs: random.pick([random.int(0, 3_000), random.int(0, 15_000), random.int(0, 600_000)]),
    isWatched: random.chance(0.7),
  })
  return {
    number,
    runs: Array.from({ length: end === 'stopped' ? random.int(1, 2) : 1 }, run),
    end,
    hasNoMachine: random.chance(0.1),
  }
}

async function runGpuCase(stage: DeploymentStage, made: GpuCase): Promise<string | null> {
  const { runs, end, hasNoMachine } = made
  const launchedBefore = stage.launched.length
  const caller = await stage.createCaller(CREDIT_USD)
  const reconciler = stage.startProcess()
  const env = hasNoMachine ? { SANDBOX_FAILURE: 'capacity_exhausted' } : {}
  const { id } = await stage.deployments.create(caller, { ...ORDER, env })
  for (const [index, { durationMs, isWatched }] of runs.entries()) {
    if (index > 0) await stage.deployments.setDesiredState(caller, id, 'running')
    await reconciler.reconcileDue()
    if (isWatched) await stage.pass(reconciler, durationMs)
    else stage.skip(durationMs)
    await stage.deployments.setDesiredState(caller, id, end)
    await stage.pass(reconciler, WIND_DOWN_MS)
  }
  const instanceIds = stage.launched.slice(launchedBefore).map(({ instanceId }) => instanceId)
  const invoiced = await readInvoice(stage, instanceIds)
  const { chargedNanoUsd, uncoveredNanoUsd } = await readCharges(stage, caller.accountId)
  if (chargedNanoUsd < invoiced.leastNanoUsd)
    return `charged ${toUsd(chargedNanoUsd)}, but the vendor invoices ${toUsd(invoiced.leastNanoUsd)}`
  if (chargedNanoUsd > invoiced.mostNanoUsd)
    return `charged ${toUsd(chargedNanoUsd)} for GPUs that cost ${toUsd(invoiced.mostNanoUsd)}`
  return uncoveredNanoUsd > 0n ? `${toUsd(uncoveredNanoUsd)} of the cost are not covered` : null
}

/** Prices the time between the binding of each GPU and its release: at least whole seconds, at most started ones. */
async function readInvoice(stage: DeploymentStage, instanceIds: readonly string[]) {
  const machines = await stage.database.query<{ launched_at: Date; released_at: Date | null }>(
    'SELECT launched_at, released_at FROM sandbox_machines WHERE instance_id = ANY ($1::uuid[]) AND failure IS NULL',
    [instanceIds],
  )
  let leastNanoUsd = 0n
  let mostNanoUsd = 0n
  for (const { launched_at: launchedAt, released_at: releasedAt } of machines) {
    const releasedAtMs = releasedAt?.getTime() ?? stage.nowMs()
    const boundSeconds = Math.max(0, releasedAtMs - launchedAt.getTime() - BIND_MS) / 1_000
    leastNanoUsd += gpuCost(HOUR_NANO_USD, Math.floor(boundSeconds))
    mostNanoUsd += gpuCost(HOUR_NANO_USD, Math.ceil(boundSeconds))
  }
  return { leastNanoUsd, mostNanoUsd }
}

async function readCharges(
  { database }: DeploymentStage,
  accountId: string,
): Promise<{ chargedNanoUsd: NanoUsd; uncoveredNanoUsd: NanoUsd }> {
  const [row] = await database.query<{ charged: bigint | null; uncovered: bigint | null }>(
    `SELECT sum(cost_nano_usd)::bigint AS charged, sum(uncovered_nano_usd)::bigint AS uncovered
     FROM usage_records WHERE account_id = $1`,
    [accountId],
  )
  return { chargedNanoUsd: row?.charged ?? 0n, uncoveredNanoUsd: row?.uncovered ?? 0n }
}
