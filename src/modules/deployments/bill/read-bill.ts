import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { boundSeconds } from './bound-seconds.ts'
import type { Deployment } from '../deployment.ts'
import { listBilledRuns } from '../deployment-row.ts'
import { gpuCost } from './gpu-cost.ts'

/** The cost of a deployment up to now. */
export interface DeploymentBill {
  readonly deployment: Deployment
  /** Whether a run is being billed now. */
  readonly isBurning: boolean
  /** Includes time that has not been charged yet. */
  readonly accruedNanoUsd: NanoUsd
  readonly billedSeconds: number
  readonly intervals: readonly BilledInterval[]
}

interface BilledInterval {
  readonly fromMs: number
  /** Null for the current interval. */
  readonly toMs: number | null
  readonly seconds: number
  readonly costNanoUsd: NanoUsd
}

export async function readBill(
  queryable: Queryable,
  deployment: Deployment,
  nowMs: number,
): Promise<DeploymentBill> {
  const runs = await listBilledRuns(queryable, deployment.id)
  const intervals = runs.flatMap((run): BilledInterval[] => {
    if (run.boundAtMs === null) return []
    if (run.releasedAtMs !== null) {
      const { boundAtMs: fromMs, releasedAtMs: toMs, billedSeconds: seconds } = run
      return [{ fromMs, toMs, seconds, costNanoUsd: run.chargedNanoUsd }]
    }
    const seconds = Math.max(run.billedSeconds, boundSeconds(run, nowMs, Math.floor))
    const duePrice =
      gpuCost(run.pricePerHourNanoUsd, seconds) - gpuCost(run.pricePerHourNanoUsd, run.billedSeconds)
    return [{ fromMs: run.boundAtMs, toMs: null, seconds, costNanoUsd: run.chargedNanoUsd + duePrice }]
  })
  const open = intervals.find(({ toMs }) => toMs === null)
  const openRun = runs.find(({ releasedAtMs }) => releasedAtMs === null)
  const unchargedNanoUsd = open === undefined ? 0n : open.costNanoUsd - (openRun?.chargedNanoUsd ?? 0n)
  return {
    deployment,
    isBurning: open !== undefined && openRun?.unreadyAtMs === null,
    accruedNanoUsd: deployment.spentNanoUsd + unchargedNanoUsd,
    billedSeconds: intervals.reduce((sum, { seconds }) => sum + seconds, 0),
    intervals,
  }
}
