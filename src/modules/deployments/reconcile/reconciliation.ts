import type { Clock } from '../../../kernel/clock.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { GpuDriver } from '../../../gpu/gpu-driver.ts'
import type { GpuRegistry } from '../../../gpu/registry.ts'
import type { Database } from '../../../storage/database.ts'
import type { BillingOptions } from '../bill/bill-run.ts'
import type { Claim } from './claim-deployments.ts'

export interface ReconcileOptions {
  readonly database: Database
  readonly gpus: Pick<GpuRegistry, 'get'>
  readonly clock: Clock
  /** Null if billing is off. */
  readonly billing: BillingOptions | null
  /**
   * Tells every process that the deployment changed. Resolves when they have read it and stored their requests in flight, or
   * after a timeout.
   */
  readonly announce: (deploymentId: string) => Promise<void>
  readonly paces: ReconcilePaces
  readonly logger: Logger
  /** Decrypts the hub tokens of deployments. */
  readonly sealer: Sealer
}

interface ReconcilePaces {
  /** Interval between reconciliations of a deployment that is starting or stopping. */
  readonly changingMs: number
  /** Interval between reconciliations of a running deployment. */
  readonly runningMs: number
  /** A run that is not ready after this time has failed. */
  readonly startMsMax: number
  /** How long requests in flight may take to end before the engine is stopped. */
  readonly drainMs: number
  /** The delay before the first retry, doubled for each further one. */
  readonly retryMs: number
}

/** One reconciliation of a claimed deployment, with its driver. */
export interface Reconciliation extends ReconcileOptions {
  readonly claim: Claim
  readonly driver: GpuDriver
}

/** Milliseconds until the next reconciliation; null for none before the desired state changes. */
export type NextReconcileMs = number | null
