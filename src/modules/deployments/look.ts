import type { Clock } from '../../kernel/clock.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { GpuDriver } from '../../gpu/gpu-driver.ts'
import type { GpuRegistry } from '../../gpu/registry.ts'
import type { Database } from '../../storage/database.ts'
import type { BillingOptions } from './bill-run.ts'
import type { Claim } from './claim-deployments.ts'

export interface LookOptions {
  readonly database: Database
  readonly gpus: Pick<GpuRegistry, 'get'>
  readonly clock: Clock
  /** Null for a gateway that charges nobody. */
  readonly billing: BillingOptions | null
  /** Tells every process what has changed; resolves when they know, and have written down what they do for it. */
  readonly announce: (deploymentId: string) => Promise<void>
  readonly paces: LookPaces
  readonly logger: Logger
  /** Opens the tokens that deployments start with. */
  readonly sealer: Sealer
}

interface LookPaces {
  /** At one that starts or ends. */
  readonly changingMs: number
  /** At one that runs. */
  readonly runningMs: number
  /** What takes longer to become ready has failed. */
  readonly startMsMax: number
  /** Requests in flight have so long to end. */
  readonly drainMs: number
  /** Before the first retry; doubled for each further one. */
  readonly retryMs: number
}

/** A look at a deployment, with what it needs of it. */
export interface Look extends LookOptions {
  readonly claim: Claim
  readonly driver: GpuDriver
}

/** In how many milliseconds it is to be looked at again; null for not before somebody wants something. */
export type NextLookMs = number | null
