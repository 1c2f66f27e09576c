import type { Observation } from '../../../gpu/gpu-driver.ts'
import { lockClaimed, writeTransition } from './claim-deployments.ts'
import type { Run } from '../deployment.ts'
import { readOpenRun } from '../deployment-row.ts'
import type { Reconciliation } from './reconciliation.ts'

/**
 * Stores that the engine of a run that was ready is lost, or ready again, and how long the run had no GPU. The time since the loss
 * is not billed unless the engine becomes ready again, and then only the time with a GPU.
 */
export async function noteInterruption(
  reconciliation: Reconciliation,
  before: Run,
  seen: Observation,
): Promise<void> {
  if (findChange(before, seen) === null) return
  const { database, clock, claim } = reconciliation
  const nowMs = clock.nowMs()
  await database.transaction(async (transaction) => {
    const deployment = await lockClaimed(transaction, claim)
    const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
    if (run === null || run.stoppingAtMs !== null) return
    const change = findChange(run, seen)
    if (change === null) return
    const lostAtMs = findLostAtMs(run, seen, nowMs)
    if (change === 'interrupted') {
      await transaction.query('UPDATE deployment_runs SET unready_at = $2 WHERE id = $1', [
        run.id,
        new Date(lostAtMs),
      ])
      await writeTransition(transaction, deployment, {
        change: { status: 'starting', status_reason: 'engine_lost', endpoint: null, progress: seen.progress },
        event: { type: 'interrupted', message: INTERRUPTED, metadata: { run_id: run.id } },
        nowMs,
      })
      return
    }
    const reboundAtMs = findReboundAtMs(run, seen)
    const unboundMs = reboundAtMs === null ? 0 : Math.max(0, Math.round(reboundAtMs - lostAtMs))
    await transaction.query(
      `UPDATE deployment_runs SET unready_at = NULL, rebound_at = coalesce($2, rebound_at),
         unbound_ms = unbound_ms + $3 WHERE id = $1`,
      [run.id, reboundAtMs === null ? null : new Date(reboundAtMs), unboundMs],
    )
    await writeTransition(transaction, deployment, {
      change: { status: 'running', status_reason: null, endpoint: seen.endpoint, progress: seen.progress },
      event: {
        type: change,
        message: MESSAGES[change],
        metadata: { run_id: run.id, seconds_without_gpu: Math.ceil(unboundMs / 1000) },
      },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
}

const INTERRUPTED = 'The engine was lost. It is started again, and nothing is billed while it has no GPU.'
const MESSAGES = {
  running: 'The engine answers requests again.',
  replaced: 'The engine was lost and has been replaced. Nothing is billed for the time without a GPU.',
} as const

/** Returns null if nothing changed. `replaced`: the loss was over before anybody looked. */
function findChange(run: Run, seen: Observation): 'interrupted' | 'running' | 'replaced' | null {
  if (seen.state !== 'ready') return run.unreadyAtMs === null ? 'interrupted' : null
  if (run.unreadyAtMs !== null) return 'running'
  return findReboundAtMs(run, seen) === null ? null : 'replaced'
}

/** Returns when another GPU than the known one was bound, or null if it is the same. */
function findReboundAtMs({ boundAtMs, reboundAtMs }: Run, seen: Observation): number | null {
  const knownMs = reboundAtMs ?? boundAtMs
  const isLater = seen.boundAtMs !== null && knownMs !== null && seen.boundAtMs > knownMs
  // A GPU that was asked for before the known one was bound is the same one, with a time that was read differently.
  return isLater && (seen.requestedAtMs ?? 0) >= knownMs ? seen.boundAtMs : null
}

/** Returns when the engine was lost, and never a time that has been billed. */
export function findLostAtMs(run: Run, seen: Observation, nowMs: number): number {
  const lostAtMs = run.unreadyAtMs ?? seen.unreadyAtMs ?? seen.requestedAtMs ?? nowMs
  const billedUntilMs = (run.boundAtMs ?? nowMs) + run.unboundMs + run.billedSeconds * 1000
  return Math.min(nowMs, Math.max(lostAtMs, billedUntilMs))
}
