import type { FailureCode } from '../../../gpu/gpu-driver.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import { lockClaimed, writeTransition } from './claim-deployments.ts'
import type { Deployment, Run } from '../deployment.ts'
import type { Reconciliation, NextReconcileMs } from './reconciliation.ts'

export interface RunFailure {
  readonly code: FailureCode | 'start_timeout' | 'hub_token_unreadable'
  readonly message: string
  /** When the engine of a run that was ready was lost, if that is known. Nothing is billed from then on. */
  readonly lostAtMs: number | null
}

/** Temporary failures. Failures caused by the model or the order would repeat, and are not retried. */
const RETRYABLE: ReadonlySet<RunFailure['code']> = new Set([
  'capacity_exhausted',
  'image_pull_failed',
  'engine_crashed',
  'start_timeout',
])
const RETRIES_MAX = 3
/** A run that was ready for this long was healthy, so its failure starts a new series of retries. */
const WELL_MS = 600_000
const MESSAGE_LENGTH_MAX = 2_000

/** Ends a failed run. Queues the deployment for a retry, or sets its status to `error`. */
export async function failRun(
  reconciliation: Reconciliation,
  run: Run,
  failure: RunFailure,
): Promise<NextReconcileMs> {
  const { database, clock, claim } = reconciliation
  const nowMs = clock.nowMs()
  await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    const attempt = wasWell(run, nowMs) ? 1 : deployment.attempt
    const isRetried = RETRYABLE.has(failure.code) && attempt <= RETRIES_MAX
    const message = toStorable(failure.message).slice(0, MESSAGE_LENGTH_MAX)
    await transaction.query(
      // A start that failed is free: without the time of its binding nothing is charged for it.
      `UPDATE deployment_runs SET stopping_at = coalesce(stopping_at, $2), drain_until = coalesce(drain_until, $2),
         unready_at = coalesce(unready_at, $3), bound_at = CASE WHEN ready_at IS NULL THEN NULL ELSE bound_at END
       WHERE id = $1`,
      [run.id, new Date(nowMs), failure.lostAtMs === null ? null : new Date(failure.lostAtMs)],
    )
    await writeTransition(transaction, deployment, {
      change: {
        status: isRetried ? 'queued' : 'error',
        status_reason: failure.code,
        error_code: isRetried ? null : failure.code,
        error_message: isRetried ? null : message,
        endpoint: null,
        progress: 0,
        attempt,
        ...(isRetried ? {} : { stopped_at: new Date(nowMs) }),
      },
      event: {
        type: isRetried ? 'retry' : 'error',
        message,
        metadata: { code: failure.code, attempt, run_id: run.id },
      },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
  return 0
}

/** Returns the delay before the next attempt of a failed deployment, doubled with each attempt; otherwise 0. */
export function retryDelayMs({ status, attempt }: Deployment, retryMs: number): number {
  return status === 'queued' && attempt > 0 ? retryMs * 2 ** (attempt - 1) : 0
}

function wasWell({ readyAtMs, unreadyAtMs }: Run, nowMs: number): boolean {
  return readyAtMs !== null && (unreadyAtMs ?? nowMs) - readyAtMs >= WELL_MS
}
