import type { NanoUsd } from '../../kernel/money.ts'

export const DEPLOYMENT_STATUSES = [
  'queued',
  'creating',
  'starting',
  'running',
  'sleeping',
  'stopping',
  'stopped',
  'error',
  'deleted',
] as const
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number]

/** The state to reach, set by the account, by the idle timeout, or when credit runs out. */
export type DesiredState = 'running' | 'sleeping' | 'stopped' | 'deleted'

export const QUANTIZATIONS = ['auto', 'fp16', 'bf16', 'fp8', 'int8', 'awq', 'gptq'] as const

export interface Deployment {
  readonly id: string
  readonly accountId: string
  readonly projectId: string | null
  readonly keyId: string
  readonly environment: string
  /** The labels of its GPU time; null without any. */
  readonly labels: readonly string[] | null
  readonly name: string
  readonly huggingfaceId: string
  readonly revision: string | null
  readonly gpuTier: string
  readonly driver: string
  readonly quantization: string
  readonly maxModelLen: number | null
  readonly env: Readonly<Record<string, string>>
  /** 0: the deployment never sleeps. */
  readonly idleTimeoutMinutes: number
  readonly pricePerHourNanoUsd: NanoUsd
  readonly budgetLimitNanoUsd: NanoUsd | null
  readonly spentNanoUsd: NanoUsd
  readonly desiredState: DesiredState
  /** Incremented with each start, stop, delete and wake, to detect concurrent ones. */
  readonly intent: number
  readonly status: DeploymentStatus
  readonly statusReason: string | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly progress: number
  /** Number of starts since the last requested start, stop or wake. A failure after a long healthy run resets it to 1. */
  readonly attempt: number
  readonly endpoint: string | null
  readonly createdAtMs: number
  readonly startedAtMs: number | null
  readonly stoppedAtMs: number | null
  readonly lastRequestAtMs: number | null
}

/** One attempt to run the engine on a GPU. Its id is also the id of the driver's instance. */
export interface Run {
  readonly id: string
  readonly deploymentId: string
  readonly pricePerHourNanoUsd: NanoUsd
  readonly createdAtMs: number
  readonly launchedAtMs: number | null
  readonly boundAtMs: number | null
  readonly readyAtMs: number | null
  /** Since when a run that was ready is not ready any more. Null while it is ready. */
  readonly unreadyAtMs: number | null
  /** When its present GPU was bound, if that is not the first one. */
  readonly reboundAtMs: number | null
  /** The time between its GPUs, which is not billed. */
  readonly unboundMs: number
  readonly stoppingAtMs: number | null
  readonly drainUntilMs: number | null
  readonly stopSentAtMs: number | null
  readonly releasedAtMs: number | null
  readonly slice: number
  readonly isHeld: boolean
  readonly heldNanoUsd: NanoUsd
  readonly billedSeconds: number
  readonly chargedNanoUsd: NanoUsd
}

export interface DeploymentEvent {
  readonly id: string
  readonly type: string
  readonly from: DeploymentStatus | null
  readonly to: DeploymentStatus
  readonly message: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly createdAtMs: number
}

export const MODEL_PREFIX = 'byom-'

/** Returns the value that clients send as `model`. */
export function modelIdOf(deploymentId: string): string {
  return MODEL_PREFIX + deploymentId
}

/** Returns null for a model that is not a deployment. */
export function deploymentIdOf(modelId: string): string | null {
  return modelId.startsWith(MODEL_PREFIX) ? modelId.slice(MODEL_PREFIX.length) : null
}
