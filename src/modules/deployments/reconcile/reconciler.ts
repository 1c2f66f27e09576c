import type { GpuRegistry } from '../../../gpu/registry.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import { sweepPools } from '../../../storage/borrowing/slot-queues.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { claimDeployments, ClaimLost, renewClaim, unclaim, type Claim } from './claim-deployments.ts'
import { sweepActivity } from '../deployment-activity.ts'
import { sweepMetrics } from '../metrics/write-metrics.ts'
import { MODEL_PREFIX } from '../deployment.ts'
import { reconcileDeployment } from './reconcile-deployment.ts'
import type { ReconcileOptions, NextReconcileMs } from './reconciliation.ts'

/** Moves deployments to their desired state. Several processes may run one: a lease gives each deployment to one of them. */
export interface Reconciler {
  /** Looks at all due deployments. Returns the milliseconds until one of them is due again; null for none. */
  reconcileDue(): Promise<number | null>
  /** Stops driver instances without an open run, and deletes old activity, metrics and slot pools. */
  sweep(): Promise<void>
  /** Starts to reconcile due deployments regularly. */
  start(): void
  close(): Promise<void>
}

interface ReconcilerOptions extends Omit<ReconcileOptions, 'gpus'> {
  readonly gpus: GpuRegistry
  readonly messageBus: Pick<MessageBus, 'subscribe'>
  /** Returns the owner of new claims. It changes when other processes have declared this one dead. */
  readonly owner: () => string
  /** Another process takes over the deployments of a dead process after this time. */
  readonly leaseMs: number
}

/** Published when the desired state of a deployment changes. */
export const DESIRED_STATE_TOPIC = 'deployments.desired_state'
const CLAIMS_AT_ONCE_MAX = 20
/** Consecutive steps of one deployment before others get their turn. */
const STEPS_MAX = 12
const POLL_MS = 1_000
const FAILED_LOOK_MS = 5_000
const SWEEP_MS = 60_000

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { database, clock, logger, gpus } = options
  let isClosed = false
  let timer: NodeJS.Timeout | null = null
  let reconciling: Promise<void> | null = null
  let isWanted = false
  let sweptAtMs = Number.NEGATIVE_INFINITY

  const reconcileDue = async (): Promise<number | null> => {
    const order = { owner: options.owner(), leaseMs: options.leaseMs, countMax: CLAIMS_AT_ONCE_MAX }
    const nexts: number[] = []
    for (;;) {
      const claims = await claimDeployments(database, { ...order, nowMs: clock.nowMs() })
      const nextTimes = await Promise.all(claims.map((claim) => reconcileClaim(claim, options)))
      nexts.push(...nextTimes.filter((next) => next !== null))
      if (claims.length < CLAIMS_AT_ONCE_MAX || isClosed)
        return nexts.length === 0 ? null : Math.min(...nexts)
    }
  }

  const sweep = async (): Promise<void> => {
    await sweepActivity(database, clock.nowMs())
    await sweepMetrics(database, clock.nowMs())
    await sweepPools(database, MODEL_PREFIX)
    for (const driver of gpus.drivers) {
      const ended = await driver.sweep(async (instanceIds) => {
        const rows = await database.query<{ id: string }>(
          'SELECT id FROM deployment_runs WHERE id = ANY ($1::uuid[]) AND released_at IS NULL',
          [instanceIds],
        )
        return new Set(rows.map(({ id }) => id))
      })
      if (ended.length > 0)
        logger.warn({ driver: driver.id, instances: ended }, 'instances that no deployment knows were ended')
    }
  }

  const round = async (): Promise<number> => {
    isWanted = false
    try {
      const nextMs = await reconcileDue()
      if (clock.monotonicMs() - sweptAtMs > SWEEP_MS) {
        sweptAtMs = clock.monotonicMs()
        await sweep()
      }
      return Math.min(nextMs ?? POLL_MS, POLL_MS)
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'deployments could not be reconciled')
      return POLL_MS
    }
  }
  const reconcile = (): void => {
    if (isClosed || reconciling !== null) return
    if (timer !== null) clearTimeout(timer)
    reconciling = round().then((nextMs) => {
      reconciling = null
      if (!isClosed) timer = setTimeout(reconcile, isWanted ? 0 : nextMs).unref()
    })
  }
  const unsubscribe = options.messageBus.subscribe(DESIRED_STATE_TOPIC, () => {
    isWanted = true
    if (timer !== null) reconcile()
  })

  return {
    reconcileDue,
    sweep,
    start: reconcile,
    close: async () => {
      isClosed = true
      unsubscribe()
      if (timer !== null) clearTimeout(timer)
      await reconciling
    },
  }
}

/** Runs the steps of a deployment that are due immediately, then releases the claim. */
async function reconcileClaim(first: Claim, options: ReconcilerOptions): Promise<NextReconcileMs> {
  const { database, clock, logger, leaseMs } = options
  let claim: Claim = first
  let nextMs: NextReconcileMs = 0
  try {
    for (let step = 1; step <= STEPS_MAX; step += 1) {
      nextMs = await reconcileDeployment(options, claim)
      if (nextMs !== 0) break
      const renewed = await renewClaim(database, claim, clock.nowMs() + leaseMs)
      if (renewed === null) return 0
      claim = renewed
    }
  } catch (error) {
    if (error instanceof ClaimLost) return 0
    const fields = { deployment: claim.deployment.id, reason: messageOf(error) }
    logger.warn(fields, 'a deployment could not be moved; it is tried again')
    nextMs = FAILED_LOOK_MS
  }
  // The claim has the intent from the start of the last step, so a later change of the desired state stays due.
  await unclaim(database, claim, nextMs === null ? null : clock.nowMs() + nextMs).catch(() => {})
  return nextMs
}
