import type { NanoUsd } from '../kernel/money.ts'

/**
 * Runs engines on GPUs. A driver starts, observes and stops instances. It makes no decisions: the deployments module is
 * responsible for retries, billing and lifecycle. Several processes may call a driver at the same time, also for the same
 * instance.
 */
export interface GpuDriver {
  readonly id: string
  /** Returns all tiers with their free capacity. */
  capacity(): Promise<readonly GpuTier[]>
  /**
   * Requests an instance and returns when the request is stored. A repeated request with the same id has no effect, also after
   * the instance was stopped. `observe` reports failures.
   */
  launch(order: LaunchOrder): Promise<void>
  observe(instanceId: string): Promise<Observation>
  /** Returns the last lines of the engine, oldest first. */
  logs(instanceId: string, options: { readonly linesMax: number }): Promise<readonly string[]>
  /**
   * Returns the current load of the GPUs that each instance holds, by instance id. Instances without figures are missing.
   * Drivers that cannot measure it do not have this method.
   */
  sampleGpus?(instanceIds: readonly string[]): Promise<ReadonlyMap<string, GpuSample>>
  /**
   * Returns how many requests an engine of a tier processes at once, or null if that is not known. Drivers that never know it do
   * not have this method.
   */
  slotsOf?(tierId: string): number | null
  /** Starts to stop an instance; `observe` reports when its GPU is free. Has no effect on unknown or ended instances. */
  stop(instanceId: string): Promise<void>
  /**
   * Stops instances that `findKnown` does not return and deletes the records of such instances some time after they ended.
   * Returns the ids of the instances that it stopped.
   */
  sweep(
    findKnown: (instanceIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<readonly string[]>
}

/** A type of machine. */
export interface GpuTier {
  readonly id: string
  readonly gpuName: string
  readonly gpuCount: number
  /** The memory of all its GPUs together. */
  readonly vramGb: number
  readonly pricePerHourNanoUsd: NanoUsd
  /** The number of free machines. */
  readonly availableCount: number
  readonly region: string | null
}

/** The load of all GPUs of an instance at one moment. A figure that the GPU does not report is null. */
export interface GpuSample {
  /** The part of the time in which the GPUs were busy, from 0 to 1, averaged over them. */
  readonly utilization: number | null
  /** The used memory of all of them together. */
  readonly memoryUsedGb: number | null
}

export interface LaunchOrder {
  /** Chosen by the caller, so that it can repeat a launch whose reply was lost. */
  readonly instanceId: string
  readonly tierId: string
  readonly huggingfaceId: string
  readonly revision: string | null
  readonly quantization: string
  readonly maxModelLen: number | null
  /**
   * The account's token for downloading the model from the hub, or null. A secret: a driver uses it only for the hub and
   * deletes it when the instance no longer needs it. It never appears in arguments, logs or observations.
   */
  readonly hubToken: string | null
  /** Variables for the engine. The names have been checked. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * A `pending` instance has no GPU, a `loading` one has. Both may have been ready before. A `gone` instance has ended or never
 * existed.
 */
type InstanceState = 'pending' | 'loading' | 'ready' | 'failed' | 'stopping' | 'gone'

export interface Observation {
  readonly state: InstanceState
  /** When the present GPU was assigned, or null. An instance that lost its GPU may get another one. */
  readonly boundAtMs: number | null
  /** When the present GPU was asked for, or null if the driver does not know. */
  readonly requestedAtMs: number | null
  /** Since when the engine is not ready, or null if it is or the driver does not know. */
  readonly unreadyAtMs: number | null
  /** When the GPU was released, or null if it was not or the driver does not know. */
  readonly releasedAtMs: number | null
  /** Startup progress from 0 to 100. */
  readonly progress: number
  /** The base URL of a ready engine, otherwise null. */
  readonly endpoint: string | null
  /** Set only for failed instances. */
  readonly failure: InstanceFailure | null
  /** Delay until the next observation, or null for the caller's default. */
  readonly observeAgainMs: number | null
}

/** The observation of an instance that has ended or never existed. */
export const GONE: Observation = {
  state: 'gone',
  boundAtMs: null,
  requestedAtMs: null,
  unreadyAtMs: null,
  releasedAtMs: null,
  progress: 0,
  endpoint: null,
  failure: null,
  observeAgainMs: null,
}

export const FAILURE_CODES = [
  'capacity_exhausted',
  'image_pull_failed',
  'out_of_memory',
  'model_gated',
  'model_unsupported',
  'engine_crashed',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

export interface InstanceFailure {
  readonly code: FailureCode
  /** Shown to the account. */
  readonly message: string
}
