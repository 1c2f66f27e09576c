import type { GpuRegistry } from '../../../gpu/registry.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import { sweepPools } from '../../../storage/borrowing/slot-queues.ts'
import { LeasedWork, type LeasedItem } from '../../../storage/leased-work/leased-work.ts'
import { repeat } from '../../../storage/leased-work/repeat.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { claimDeployments, ClaimLost, renewClaim, unclaim, type Claim } from './claim-deployments.ts'
import { sweepActivity } from '../deployment-activity.ts'
import { sweepMetrics } from '../metrics/write-metrics.ts'
import { MODEL_PREFIX } from '../deployment.ts'
import { reconcileDeployment } from './reconcile-deployment.ts'
import type { ReconcileOptions, NextReconcileMs } from './reconciliation.ts'

/** Moves deployments to their desired state. Several processes may run one: a lease gives each deployment to one of them. */
export interface Reconciler {
  /** Looks at all deployments that are due now. */
  reconcileDue(): Promise<void>
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
/** Deployments that this process moves at once. */
const CONCURRENCY = 20
/** Consecutive steps of one deployment before others get their turn. */
const STEPS_MAX = 12
const POLL_MS = 1_000
const FAILED_LOOK_MS = 5_000
const SWEEP_MS = 60_000

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { database, clock, logger, leaseMs } = options
  let isStarted = false
  let changes = 0
  // Before the start, only `reconcileDue` looks for work.
  const wakeIn = (delayMs: number): void => {
    if (isStarted) setTimeout(() => work.wake(), delayMs).unref()
  }
  // Steps are short, so a shutdown waits for them. They renew the lease themselves, because each reads the deployment again.
  const work = new LeasedWork<LeasedItem & { readonly id: string }>({
    name: 'deployments',
    claim: async (countMax) => {
      const changesBefore = changes
      const order = { owner: options.owner(), nowMs: clock.nowMs(), leaseMs, countMax }
      const runningIds = work.items.map(({ id }) => id)
      const claims = await claimDeployments(database, { ...order, runningIds })
      return claims.map((claim) => ({
        id: claim.deployment.id,
        perform: async () => {
          const nextMs = await reconcileClaim(claim, options)
          // Its desired state may have changed after the last step had read it.
          if (changes !== changesBefore) wakeIn(0)
          // The poll finds those that are due later.
          else if (nextMs !== null && nextMs < POLL_MS) wakeIn(nextMs)
        },
      }))
    },
    concurrency: CONCURRENCY,
    pollMs: POLL_MS,
    logger,
  })
  const unsubscribe = options.messageBus.subscribe(DESIRED_STATE_TOPIC, () => {
    changes += 1
    wakeIn(0)
  })
  const sweep = (): Promise<void> => sweepDeployments(options)
  let stopSweeping = async (): Promise<void> => {}

  return {
    reconcileDue: () => work.drain(),
    sweep,
    start: () => {
      isStarted = true
      work.start()
      stopSweeping = repeat({
        pauseMs: SWEEP_MS,
        firstMs: 0,
        work: sweep,
        onFailure: (error) =>
          logger.warn({ reason: messageOf(error) }, 'what deployments left behind could not be swept'),
      })
    },
    close: async () => {
      unsubscribe()
      await Promise.all([stopSweeping(), work.close({ graceMs: 0 })])
    },
  }
}

async function sweepDeployments({ database, clock, gpus, logger }: ReconcilerOptions): Promise<void> {
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
