import type { Observation } from '../../../gpu/gpu-driver.ts'
import { closeBill } from '../bill/bill-run.ts'
import { lockClaimed, writeTransition } from './claim-deployments.ts'
import type { Deployment, DesiredState, Run } from '../deployment.ts'
import { countInFlight } from '../deployment-activity.ts'
import { readOpenRun } from '../deployment-row.ts'
import { retryDelayMs } from './fail-run.ts'
import type { Reconciliation, NextReconcileMs } from './reconciliation.ts'

/** Ends a run that is not wanted any more or has failed: drains its requests, releases the GPU, and closes the bill. */
export async function windDown(reconciliation: Reconciliation, run: Run): Promise<NextReconcileMs> {
  const { driver, clock, paces } = reconciliation
  if (run.stoppingAtMs === null) {
    await beginDrain(reconciliation, run)
    return 0
  }
  if (run.stopSentAtMs === null) {
    const waitMs = await drainLeftMs(reconciliation, run)
    if (waitMs > 0) return Math.min(paces.changingMs, waitMs)
  }
  if (run.stopSentAtMs === null || clock.nowMs() - run.stopSentAtMs > STOP_AGAIN_MS)
    await sendStop(reconciliation, run)
  const seen = await driver.observe(run.id)
  if (seen.state !== 'gone') return Math.min(paces.changingMs, seen.observeAgainMs ?? paces.changingMs)
  return endRun(reconciliation, seen.releasedAtMs ?? clock.nowMs())
}

const STOP_AGAIN_MS = 60_000
const DRAIN_LOOK_MS = 500

/** Starts to drain: after the announcement no process sends new requests to the engine. */
async function beginDrain(reconciliation: Reconciliation, unlocked: Run): Promise<void> {
  const { database, clock, claim, paces } = reconciliation
  const boundAtMs = await findBoundAtMs(reconciliation, unlocked)
  const nowMs = clock.nowMs()
  await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
    if (run === null || run.stoppingAtMs !== null) return
    await transaction.query(
      'UPDATE deployment_runs SET stopping_at = $2, drain_until = $3, bound_at = $4 WHERE id = $1',
      [
        run.id,
        new Date(nowMs),
        new Date(nowMs + (run.readyAtMs === null ? 0 : paces.drainMs)),
        boundAtMs === null ? null : new Date(boundAtMs),
      ],
    )
    const status = deployment.desiredState === 'sleeping' ? 'sleeping' : 'stopping'
    await writeTransition(transaction, deployment, {
      change: {
        status,
        endpoint: null,
        ...(status === 'sleeping' ? { status_reason: 'idle', stopped_at: new Date(nowMs) } : {}),
      },
      event: { type: status, message: messageOf(deployment.desiredState, deployment) },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
}

const ENDED: ReadonlySet<Observation['state']> = new Set(['failed', 'gone', 'stopping'])

/**
 * Returns since when the run is billed. A run that is not ready is looked at once more: it may have got its GPU since the last look,
 * or may have failed, which is free.
 */
async function findBoundAtMs({ driver }: Reconciliation, run: Run): Promise<number | null> {
  if (run.readyAtMs !== null) return run.boundAtMs
  const seen = await driver.observe(run.id)
  return ENDED.has(seen.state) ? null : seen.boundAtMs
}

function messageOf(desired: DesiredState, { idleTimeoutMinutes }: Deployment): string {
  if (desired === 'sleeping')
    return `It was idle for ${idleTimeoutMinutes} minutes. The next request wakes it.`
  return 'Requests in flight may end. Then the GPU is released.'
}

async function drainLeftMs({ database, clock }: Reconciliation, run: Run): Promise<number> {
  const nowMs = clock.nowMs()
  const leftMs = (run.drainUntilMs ?? nowMs) - nowMs
  if (leftMs <= 0) return 0
  return (await countInFlight(database, run.deploymentId, nowMs)) > 0 ? Math.min(leftMs, DRAIN_LOOK_MS) : 0
}

async function sendStop({ driver, database, clock }: Reconciliation, run: Run): Promise<void> {
  await driver.stop(run.id)
  await database.query('UPDATE deployment_runs SET stop_sent_at = $2 WHERE id = $1', [
    run.id,
    new Date(clock.nowMs()),
  ])
}

async function endRun(reconciliation: Reconciliation, releasedAtMs: number): Promise<NextReconcileMs> {
  const { database, clock, claim, billing, paces } = reconciliation
  const nowMs = clock.nowMs()
  if (billing !== null) await billing.ledger.recall(claim.deployment.accountId)
  const ended = await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
    if (run === null) return deployment
    if (billing === null) {
      await transaction.query('UPDATE deployment_runs SET released_at = $2 WHERE id = $1', [
        run.id,
        new Date(releasedAtMs),
      ])
    } else await closeBill(transaction, billing, { deployment, run, nowMs, releasedAtMs })
    const desired = deployment.desiredState
    if (desired === 'running' || deployment.status === desired || deployment.status === 'error')
      return deployment
    return writeTransition(transaction, deployment, {
      change: { status: desired, progress: 0, stopped_at: new Date(nowMs) },
      event: { type: desired, message: 'The GPU is released. Nothing is billed any more.' },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
  return ended.desiredState === 'running' && ended.status !== 'error' ? retryDelayMs(ended, paces.retryMs) : 0
}
