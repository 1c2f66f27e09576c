import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Caller } from '../../keys/keys.ts'
import type { VendorCost } from '../../ledger/ledger.ts'
import type { TaskType } from '../task.ts'

/** Does the work of tasks. Passed to the worker. */
export interface TaskPerformer {
  /**
   * Throws an `AppError` if the work failed permanently, `TaskPostponed` if it may not begin yet, and any other error if another
   * process may succeed. It is called again, with the stored job, for a task whose worker died.
   */
  perform(task: ClaimedTask, control: TaskControl): Promise<TaskOutcome>
  /** Cancels the job upstream, where the provider supports that. Never throws. */
  cancelJob(task: ClaimedTask): Promise<void>
  /**
   * Charges a cancelled task whose worker died before it had, of work that is not charged by its cancellation. Throws if it must be
   * tried again.
   */
  chargeLeft?(task: ClaimedTask): Promise<void>
}

export interface ClaimedTask {
  readonly id: string
  readonly accountId: string
  readonly projectId: string | null
  readonly keyId: string
  readonly environment: Caller['environment']
  readonly requestId: string
  readonly type: TaskType
  readonly model: string
  /** The id that the client sent. */
  readonly requestedModel: string
  readonly work: unknown
  readonly holdNanoUsd: NanoUsd
  /** False if the task has no hold: its calls are charged individually, or the gateway runs without billing. */
  readonly isHeld: boolean
  readonly attempt: number
  readonly createdAtMs: number
  /** The labels of its charges; null without any. */
  readonly labels: readonly string[] | null
  /** The price list that it is charged by. Null for tasks of earlier releases, and without one. */
  readonly priceVersion: string | null
  /** The W3C header of the request that made it. */
  readonly traceparent: string | null
  /** When it first started, on the monotonic clock of this process. */
  readonly startedAtMs: number
  /** On the same clock. */
  readonly deadlineAtMs: number
  /** The upstream job, once it is known. */
  readonly job: StoredJob | null
  /** The provider that an interrupted attempt was submitting to. It may or may not have a job. */
  readonly submittingTo: SubmitTarget | null
}

export interface SubmitTarget {
  readonly provider: string
  readonly upstreamModel: string
}

/** Plain JSON. */
export interface StoredJob {
  readonly provider: string
  readonly upstreamModel: string
  readonly job: { readonly id: string; readonly data?: Readonly<Record<string, unknown>> }
}

export interface TaskControl {
  /** Cancelled if the task is cancelled, at its deadline, and when another worker takes over. */
  readonly cancellation: Cancellation
  /** The id under which the task is claimed. A performer's own writes must check that this claim is still valid. */
  readonly workerId: string
  /** Whether another worker has the task or will get it, because this one is stopping or lost its claim. */
  isHandedOn(): boolean
  /** Stops the work after a write failed because the claim was lost. Throws the reason. */
  giveUp(): Promise<never>
  /** Stores the target durably. Call it before the upstream request. */
  noteSubmitting(target: { provider: string; upstreamModel: string }): Promise<void>
  /** Stores that the provider refused the work. From then on a cancellation costs nothing. */
  noteRefused(): Promise<void>
  /** Stores the job durably. Call it before anything else is done with the job. */
  saveJob(job: StoredJob): Promise<void>
  /** A value between 0 and 1, or null to estimate it from the elapsed time. Shown progress never decreases. */
  reportProgress(progress: number | null): void
}

export interface TaskOutcome {
  /** Plain JSON, shown as `result`. URLs of media are added when it is read, by `media_id`. */
  readonly result: unknown
  /** Plain JSON, shown as `usage`. Its `cost_usd`, if present, is the charged amount. */
  readonly usage: unknown
  /** The part above the hold is taken from the account's remaining credit. */
  readonly costNanoUsd: NanoUsd
  /** What was counted for that. */
  readonly counted?: string
  /** What the vendor charges for that. Absent: unknown. */
  readonly vendorCost?: VendorCost | undefined
  readonly provider: string
}
