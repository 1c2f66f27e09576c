import type { NanoUsd } from '../kernel/money.ts'

/**
 * What runs engines on GPUs. A driver is asked for an instance and told to end it, and says what it sees when it is looked at. It
 * decides nothing: retries, billing and the life of a deployment belong to whoever asks. Any number of processes may ask at the same
 * time, about the same instance too.
 */
export interface GpuDriver {
  readonly id: string
  /** Every tier that it offers, with what is free now. */
  capacity(): Promise<readonly GpuTier[]>
  /**
   * Asks for an instance and returns when that was taken. Asking again for the same id changes nothing, and neither does asking for one
   * that has been stopped. Problems are told by `observe`.
   */
  launch(order: LaunchOrder): Promise<void>
  observe(instanceId: string): Promise<Observation>
  /** The last lines of the engine, oldest first. */
  logs(instanceId: string, options: { readonly linesMax: number }): Promise<readonly string[]>
  /** Begins to end an instance; `observe` tells when its GPU is free. Also of one that is unknown or has ended. */
  stop(instanceId: string): Promise<void>
  /** Ends the instances that nobody knows any more and forgets those that have ended. Returns the ids of the former. */
  sweep(
    findKnown: (instanceIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<readonly string[]>
}

/** A kind of machine that can be had. */
export interface GpuTier {
  readonly id: string
  readonly gpuName: string
  readonly gpuCount: number
  /** Of all its GPUs together. */
  readonly vramGb: number
  readonly pricePerHourNanoUsd: NanoUsd
  /** How many could be had now. */
  readonly availableCount: number
  readonly region: string | null
}

export interface LaunchOrder {
  /** Chosen by who asks, so that a launch whose answer got lost can be repeated. */
  readonly instanceId: string
  readonly tierId: string
  readonly huggingfaceId: string
  readonly revision: string | null
  readonly quantization: string
  readonly maxModelLen: number | null
  /** Of the engine. Names were checked. */
  readonly environment: Readonly<Record<string, string>>
}

/** `pending` has no GPU yet, `loading` has one. `gone` has none any more, or never was. */
type InstanceState = 'pending' | 'loading' | 'ready' | 'failed' | 'stopping' | 'gone'

export interface Observation {
  readonly state: InstanceState
  /** When it was given its GPU; null before. */
  readonly boundAtMs: number | null
  /** When its GPU was free again; null before, and where the driver cannot tell. */
  readonly releasedAtMs: number | null
  /** From 0 to 100, of becoming ready. */
  readonly progress: number
  /** Where it is asked; null unless it is ready. */
  readonly endpoint: string | null
  /** Only of one that failed. */
  readonly failure: InstanceFailure | null
  /** When something may have changed; null leaves it to who asks. */
  readonly lookAgainMs: number | null
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
  /** For the account's eyes. */
  readonly message: string
}
