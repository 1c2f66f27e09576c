import { createReconciler, type Reconciler } from '../../modules/deployments/deployments.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Modules } from './build-modules.ts'
import type { Config } from '../settings/config.ts'

interface ReconcilerParts {
  readonly modules: Modules
  readonly borrower: Borrower
  readonly logger: GatewayLogger
}

const CHANGING_MS = 2_000
const RUNNING_MS = 30_000
const RETRY_MS = 15_000

/** Builds the reconciler of deployments, for a process with a worker. */
export function buildReconciler(config: Config, { modules, borrower, logger }: ReconcilerParts): Reconciler {
  const { database, messageBus, clock, gpus, deployments, ledger, sealer } = modules
  return createReconciler({
    database,
    messageBus,
    clock,
    gpus,
    logger,
    sealer,
    billing: config.billing
      ? { ledger, writer: () => borrower.writer, sliceSeconds: config.gpuSliceSeconds }
      : null,
    announce: (deploymentId) => deployments.announce(deploymentId),
    owner: () => borrower.id,
    leaseMs: config.leaseMs * 2,
    paces: {
      changingMs: CHANGING_MS,
      runningMs: Math.min(RUNNING_MS, config.gpuSliceSeconds * 1000),
      startMsMax: config.gpuStartTimeoutMs,
      drainMs: config.gpuDrainMs,
      retryMs: RETRY_MS,
    },
  })
}
