import type { GpuRegistry } from '../../gpu/registry.ts'
import type { MessageBus } from '../../storage/message-bus.ts'
import { sweepPools } from '../../storage/borrowing/slot-queues.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { claimDeployments, ClaimLost, renewClaim, unclaim, type Claim } from './claim-deployments.ts'
import { sweepActivity } from './deployment-activity.ts'
import { sweepMetrics } from './metrics/write-metrics.ts'
import { MODEL_PREFIX } from './deployment.ts'
import { lookAtDeployment } from './look-at-deployment.ts'
import type { LookOptions, NextLookMs } from './look.ts'

/** Moves deployments to their desired state. Several processes may run one: a lease gives each deployment to one of them. */
export interface Reconciler {
  /** Looks at all due deployments. Returns the milliseconds until one of them is due again; null for none. */
  lookAtDue(): Promise<number | null>
  /** Stops driver instances without an open run, and deletes old activity, metrics and slot pools. */
  sweep(): Promise<void>
  /** Starts to look at due deployments regularly. */
  start(): void
  close(): Promise<void>
}

interface ReconcilerOptions extends Omit<LookOptions, 'gpus'> {
  readonly gpus: GpuRegistry
  readonly messageBus: Pick<MessageBus, 'subscribe'>
  /** Returns the owner of new claims. It changes when other processes have declared this one dead. */
  readonly owner: () => string
  /** Another process takes over the deployments of a dead process after this time. */
  readonly leaseMs: number
}

/** Published when the desired state of a deployment changes. */
export const WISH_TOPIC = 'deployments.wish'
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
  let looking: Promise<void> | null = null
  let isWanted = false
  let sweptAtMs = Number.NEGATIVE_INFINITY

  const lookAtDue = async (): Promise<number | null> => {
    const order = { owner: options.owner(), leaseMs: options.leaseMs, countMax: CLAIMS_AT_ONCE_MAX }
    const nexts: number[] = []
    for (;;) {
      const claims = await claimDeployments(database, { ...order, nowMs: clock.nowMs() })
      const looked = await Promise.all(claims.map((claim) => lookAt(claim, options)))
      nexts.push(...looked.filter((next) => next !== null))
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
      const nextMs = await lookAtDue()
      if (clock.monotonicMs() - sweptAtMs > SWEEP_MS) {
        sweptAtMs = clock.monotonicMs()
        await sweep()
      }
      return Math.min(nextMs ?? POLL_MS, POLL_MS)
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'deployments could not be looked at')
      return POLL_MS
    }
  }
  const look = (): void => {
    if (isClosed || looking !== null) return
    if (timer !== null) clearTimeout(timer)
    looking = round().then((nextMs) => {
      looking = null
      if (!isClosed) timer = setTimeout(look, isWanted ? 0 : nextMs).unref()
    })
  }
  const unsubscribe = options.messageBus.subscribe(WISH_TOPIC, () => {
    isWanted = true
    if (timer !== null) look()
  })

  return {
    lookAtDue,
    sweep,
    start: look,
    close: async () => {
      isClosed = true
      unsubscribe()
      if (timer !== null) clearTimeout(timer)
      await looking
    },
  }
}

/** Runs the steps of a deployment that are due immediately, then releases the claim. */
async function lookAt(first: Claim, options: ReconcilerOptions): Promise<NextLookMs> {
  const { database, clock, logger, leaseMs } = options
  let claim: Claim = first
  let nextMs: NextLookMs = 0
  try {
    for (let step = 1; step <= STEPS_MAX; step += 1) {
      nextMs = await lookAtDeployment(options, claim)
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
