import { beginRun } from './begin-run.ts'
import { lockClaimed, writeTransition, type Claim } from './claim-deployments.ts'
import type { DesiredState } from '../deployment.ts'
import { readOpenRun } from '../deployment-row.ts'
import type { Reconciliation, ReconcileOptions, NextReconcileMs } from './reconciliation.ts'
import { followRun } from './follow-run.ts'
import { windDown } from './wind-down.ts'

/**
 * Moves a deployment one step towards its desired state. A process may die at any point and another one continues: each step is a
 * transaction, or a driver call that may be repeated.
 */
export async function reconcileDeployment(options: ReconcileOptions, claim: Claim): Promise<NextReconcileMs> {
  const { deployment } = claim
  const driver = options.gpus.get(deployment.driver)
  if (driver === undefined) {
    options.logger.warn(
      { deployment: deployment.id, driver: deployment.driver },
      'there is no such GPU driver',
    )
    return MISSING_DRIVER_MS
  }
  const reconciliation: Reconciliation = { ...options, claim, driver }
  const run = await readOpenRun(options.database, deployment.id, { isLocked: false })
  if (run !== null) {
    const isEnding = run.stoppingAtMs !== null || deployment.desiredState !== 'running'
    return isEnding ? windDown(reconciliation, run) : followRun(reconciliation, run)
  }
  if (deployment.desiredState !== 'running') return rest(reconciliation, deployment.desiredState)
  return deployment.status === 'error' ? null : beginRun(reconciliation)
}

const MISSING_DRIVER_MS = 60_000

/** Writes the final status of a deployment that has no run and should have none. */
async function rest(
  reconciliation: Reconciliation,
  desired: Exclude<DesiredState, 'running'>,
): Promise<NextReconcileMs> {
  const { database, clock, claim } = reconciliation
  if (claim.deployment.status === desired) return null
  const nowMs = clock.nowMs()
  await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    if (deployment.desiredState !== desired || deployment.status === desired) return
    await writeTransition(transaction, deployment, {
      change: { status: desired, endpoint: null, progress: 0, stopped_at: new Date(nowMs) },
      event: { type: desired, message: REST_MESSAGES[desired] },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
  return null
}

const REST_MESSAGES = {
  sleeping: 'It sleeps until the next request.',
  stopped: 'It is stopped. Nothing is billed.',
  deleted: 'It is deleted. Nothing is billed.',
} as const
