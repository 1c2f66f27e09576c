import type { Queryable } from '../../storage/database.ts'
import type { Deployment, DeploymentStatus, DesiredState, Run } from './deployment.ts'

export interface DeploymentRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly key_id: string
  readonly environment: string
  readonly labels: string[] | null
  readonly name: string
  readonly huggingface_id: string
  readonly revision: string | null
  readonly gpu_tier: string
  readonly driver: string
  readonly quantization: string
  readonly max_model_len: number | null
  readonly env: Record<string, string>
  readonly idle_timeout_minutes: number
  readonly price_per_hour_nano_usd: bigint
  readonly budget_limit_nano_usd: bigint | null
  readonly spent_nano_usd: bigint
  readonly desired_state: DesiredState
  readonly intent: number
  readonly status: DeploymentStatus
  readonly status_reason: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly progress: number
  readonly attempt: number
  readonly endpoint: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly stopped_at: Date | null
  readonly last_request_at: Date | null
}

export function deploymentFromRow(row: DeploymentRow): Deployment {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    keyId: row.key_id,
    environment: row.environment,
    labels: row.labels,
    name: row.name,
    huggingfaceId: row.huggingface_id,
    revision: row.revision,
    gpuTier: row.gpu_tier,
    driver: row.driver,
    quantization: row.quantization,
    maxModelLen: row.max_model_len,
    env: row.env,
    idleTimeoutMinutes: row.idle_timeout_minutes,
    pricePerHourNanoUsd: row.price_per_hour_nano_usd,
    budgetLimitNanoUsd: row.budget_limit_nano_usd,
    spentNanoUsd: row.spent_nano_usd,
    desiredState: row.desired_state,
    intent: row.intent,
    status: row.status,
    statusReason: row.status_reason,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    progress: row.progress,
    attempt: row.attempt,
    endpoint: row.endpoint,
    createdAtMs: row.created_at.getTime(),
    startedAtMs: msOf(row.started_at),
    stoppedAtMs: msOf(row.stopped_at),
    lastRequestAtMs: msOf(row.last_request_at),
  }
}

interface RunRow {
  readonly id: string
  readonly deployment_id: string
  readonly price_per_hour_nano_usd: bigint
  readonly created_at: Date
  readonly launched_at: Date | null
  readonly bound_at: Date | null
  readonly ready_at: Date | null
  readonly unready_at: Date | null
  readonly rebound_at: Date | null
  readonly unbound_ms: bigint
  readonly stopping_at: Date | null
  readonly drain_until: Date | null
  readonly stop_sent_at: Date | null
  readonly released_at: Date | null
  readonly slice: number
  readonly is_held: boolean
  readonly held_nano_usd: bigint
  readonly billed_seconds: bigint
  readonly charged_nano_usd: bigint
}

/** Returns the run whose GPU is not released, or null. `isLocked` locks its row, for callers that change it. */
export async function readOpenRun(
  queryable: Queryable,
  deploymentId: string,
  { isLocked }: { isLocked: boolean },
): Promise<Run | null> {
  const [row] = await queryable.query<RunRow>(
    `SELECT * FROM deployment_runs WHERE deployment_id = $1 AND released_at IS NULL${isLocked ? ' FOR UPDATE' : ''}`,
    [deploymentId],
  )
  return row === undefined ? null : runFromRow(row)
}

const RUNS_SHOWN_MAX = 100

/** Lists the last 100 runs that became ready or were charged, newest first, including the current one. */
export async function listBilledRuns(queryable: Queryable, deploymentId: string): Promise<Run[]> {
  const rows = await queryable.query<RunRow>(
    `SELECT * FROM deployment_runs WHERE deployment_id = $1 AND (ready_at IS NOT NULL OR billed_seconds > 0)
     ORDER BY id DESC LIMIT $2`,
    [deploymentId, RUNS_SHOWN_MAX],
  )
  return rows.map(runFromRow)
}

function runFromRow(row: RunRow): Run {
  return {
    id: row.id,
    deploymentId: row.deployment_id,
    pricePerHourNanoUsd: row.price_per_hour_nano_usd,
    createdAtMs: row.created_at.getTime(),
    launchedAtMs: msOf(row.launched_at),
    boundAtMs: msOf(row.bound_at),
    readyAtMs: msOf(row.ready_at),
    unreadyAtMs: msOf(row.unready_at),
    reboundAtMs: msOf(row.rebound_at),
    unboundMs: Number(row.unbound_ms),
    stoppingAtMs: msOf(row.stopping_at),
    drainUntilMs: msOf(row.drain_until),
    stopSentAtMs: msOf(row.stop_sent_at),
    releasedAtMs: msOf(row.released_at),
    slice: row.slice,
    isHeld: row.is_held,
    heldNanoUsd: row.held_nano_usd,
    billedSeconds: Number(row.billed_seconds),
    chargedNanoUsd: row.charged_nano_usd,
  }
}

function msOf(date: Date | null): number | null {
  return date?.getTime() ?? null
}
