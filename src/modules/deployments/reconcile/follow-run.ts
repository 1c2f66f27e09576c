import type { InstanceFailure, Observation } from '../../../gpu/gpu-driver.ts'
import { launchRun, stopForShortage } from './begin-run.ts'
import { billSlice, isInDebt, type Shortage } from '../bill/bill-run.ts'
import { boundSeconds } from '../bill/bound-seconds.ts'
import { changeDesired, lockClaimed, writeTransition } from './claim-deployments.ts'
import type { Deployment, Run } from '../deployment.ts'
import { countInFlight } from '../deployment-activity.ts'
import { readOpenRun } from '../deployment-row.ts'
import { failRun } from './fail-run.ts'
import type { Reconciliation, NextReconcileMs } from './reconciliation.ts'
import { findLostAtMs, noteInterruption } from './note-interruption.ts'

/** Follows a wanted run: launches it, records its progress, bills it, and puts the deployment to sleep when it is idle. */
export async function followRun(reconciliation: Reconciliation, run: Run): Promise<NextReconcileMs> {
  const { driver, clock, paces } = reconciliation
  if (run.launchedAtMs === null && !isLate(reconciliation, run)) {
    const next = await launchRun(reconciliation, run)
    if (next !== 0) return next
  }
  const seen = await driver.observe(run.id)
  if (seen.state === 'failed' || seen.state === 'gone' || seen.state === 'stopping')
    return failRun(reconciliation, run, {
      ...(seen.failure ?? VANISHED),
      lostAtMs: lossOf(run, seen, clock.nowMs()),
    })
  if (seen.state !== 'ready' && isLate(reconciliation, run))
    return failRun(reconciliation, run, { ...TOO_SLOW, lostAtMs: run.unreadyAtMs })
  if (run.readyAtMs === null) await noteProgress(reconciliation, seen)
  else await noteInterruption(reconciliation, run, seen)
  const shortage = await billIfDue(reconciliation, run, clock.nowMs())
  if (shortage !== null) {
    await stopForShortage(reconciliation, shortage)
    return 0
  }
  if (seen.state !== 'ready') return Math.min(paces.changingMs, seen.observeAgainMs ?? paces.changingMs)
  const idleMs = await idleLeftMs(reconciliation, run)
  const nextMs = Math.min(paces.runningMs, seen.observeAgainMs ?? paces.runningMs)
  if (idleMs === null) return nextMs
  if (idleMs > 0) return Math.min(nextMs, idleMs)
  await fallAsleep(reconciliation)
  return 0
}

/** Returns when the engine of a run that was ready was lost; null if it was not, or the driver does not know. */
function lossOf(run: Run, seen: Observation, nowMs: number): number | null {
  return run.readyAtMs === null || seen.unreadyAtMs === null ? null : findLostAtMs(run, seen, nowMs)
}

const VANISHED: InstanceFailure = { code: 'engine_crashed', message: 'The instance of the engine is gone.' }
const TOO_SLOW = { code: 'start_timeout', message: 'The engine did not become ready in time.' } as const

/** Returns whether the engine takes too long to become ready, for the first time or again. */
function isLate({ clock, paces }: Reconciliation, { createdAtMs, readyAtMs, unreadyAtMs }: Run): boolean {
  const sinceMs = readyAtMs === null ? createdAtMs : unreadyAtMs
  return sinceMs !== null && clock.nowMs() - sinceMs > paces.startMsMax
}

/** Stores when the run got its GPU, its progress, and when it became ready. */
async function noteProgress(reconciliation: Reconciliation, seen: Observation): Promise<void> {
  const { database, clock, claim } = reconciliation
  const nowMs = clock.nowMs()
  const hasChanged = await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
    if (run === null || run.stoppingAtMs !== null) return false
    const isReady = seen.state === 'ready'
    await transaction.query(
      // A GPU that was lost before the engine was ready is not billed, as for a failed start.
      `UPDATE deployment_runs SET bound_at = $2, ready_at = coalesce(ready_at, $3) WHERE id = $1`,
      [
        run.id,
        seen.boundAtMs === null ? (isReady ? new Date(nowMs) : null) : new Date(seen.boundAtMs),
        isReady ? new Date(nowMs) : null,
      ],
    )
    const steps = stepsTo(deployment, seen)
    if (steps.length === 0 && deployment.progress === seen.progress) return false
    let current = await writeTransition(transaction, deployment, {
      change: { progress: seen.progress },
      ...(steps.length === 0 && isStep(deployment.progress, seen.progress)
        ? { event: { type: 'progress', message: `${seen.progress} % of the start is done.` } }
        : {}),
      nowMs,
    })
    for (const status of steps)
      current = await writeTransition(transaction, current, {
        change:
          status === 'running'
            ? { status, endpoint: seen.endpoint, started_at: new Date(nowMs) }
            : { status },
        event: { type: status, message: MESSAGES[status] },
        nowMs,
      })
    return true
  })
  if (hasChanged) await reconciliation.announce(claim.deployment.id)
}

/** Returns whether another quarter of the start is done: each one gets one event. */
function isStep(before: number, after: number): boolean {
  return Math.floor(after / PROGRESS_STEP) > Math.floor(before / PROGRESS_STEP)
}
const PROGRESS_STEP = 25

const MESSAGES = {
  starting: 'A GPU is bound. The engine loads the model.',
  running: 'The engine answers requests.',
} as const

/** Returns the statuses to pass through. An engine that is ready at the first look passes through `starting` too. */
function stepsTo({ status }: Deployment, { state }: Observation): readonly ('starting' | 'running')[] {
  const isBound = state === 'loading' || state === 'ready'
  return [
    ...(isBound && status === 'creating' ? (['starting'] as const) : []),
    ...(state === 'ready' && status !== 'running' ? (['running'] as const) : []),
  ]
}

/** Bills a ready run once per slice. A run that is not ready is processed at each reconciliation, so that its hold grows. */
async function billIfDue(
  { database, claim, billing }: Reconciliation,
  seen: Run,
  nowMs: number,
): Promise<Shortage> {
  // Most looks find nothing due. Checking first saves their transaction.
  if (billing === null || !isDue(seen, nowMs, billing.sliceSeconds)) return null
  const bill = async (isForced: boolean): Promise<Shortage> => {
    try {
      return await database.transaction(async (transaction) => {
        const deployment = await lockClaimed(transaction, claim)
        const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
        if (run === null || !(isForced || isDue(run, nowMs, billing.sliceSeconds))) return null
        return billSlice(transaction, billing, { deployment, run, nowMs })
      })
    } catch (error) {
      if (isInDebt(error)) return 'balance'
      throw error
    }
  }
  const shortage = await bill(false)
  if (shortage !== 'balance') return shortage
  // The missing credit may be lent to processes that do not use it. The second call only raises the hold: the charge is done.
  await billing.ledger.recall(claim.deployment.accountId)
  return bill(true)
}

function isDue(run: Run, nowMs: number, sliceSeconds: number): boolean {
  return (
    run.readyAtMs === null ||
    run.boundAtMs === null ||
    boundSeconds(run, nowMs, Math.floor) - run.billedSeconds >= sliceSeconds
  )
}

const MINUTE_MS = 60_000

/** Returns the milliseconds until the idle timeout; null if the deployment never sleeps or has requests in flight. */
async function idleLeftMs(
  { database, clock, claim }: Reconciliation,
  { readyAtMs }: Run,
): Promise<number | null> {
  const { id, idleTimeoutMinutes, lastRequestAtMs } = claim.deployment
  if (idleTimeoutMinutes === 0) return null
  const nowMs = clock.nowMs()
  const sinceMs = Math.max(lastRequestAtMs ?? 0, readyAtMs ?? nowMs)
  const leftMs = sinceMs + idleTimeoutMinutes * MINUTE_MS - nowMs
  if (leftMs > 0) return leftMs
  return (await countInFlight(database, id, nowMs)) > 0 ? null : 0
}

async function fallAsleep({ database, claim }: Reconciliation): Promise<void> {
  await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    // A request ended after the look began, so the deployment is not idle.
    if (deployment.lastRequestAtMs !== claim.deployment.lastRequestAtMs) return
    await changeDesired(transaction, { ...deployment, intent: claim.deployment.intent }, 'sleeping')
  })
}
