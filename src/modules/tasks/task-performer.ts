import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Caller } from '../keys/keys.ts'
import type { TaskType } from './task.ts'

/** Who does what tasks are about. Given to the worker. */
export interface TaskPerformer {
  /**
   * Throws an `AppError` when the work failed for good, `TaskPostponed` when it may not begin yet, and anything else when another
   * process may do better. Called again, with the stored job, for a task whose worker died.
   */
  perform(task: ClaimedTask, control: TaskControl): Promise<TaskOutcome>
  /** Tells the upstream that nobody wants the job any more, where that is possible. Never throws. */
  cancelJob(task: ClaimedTask): Promise<void>
}

export interface ClaimedTask {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly environment: Caller['environment']
  readonly requestId: string
  readonly type: TaskType
  readonly model: string
  /** As the client named it. */
  readonly requestedModel: string
  readonly work: unknown
  readonly holdNanoUsd: NanoUsd
  /** False where nothing was held: its calls are charged by themselves, or nobody is charged. */
  readonly isHeld: boolean
  readonly attempt: number
  readonly createdAtMs: number
  /** When it was first taken up, by the monotonic clock of this process. */
  readonly startedAtMs: number
  /** By the same clock. */
  readonly deadlineAtMs: number
  /** The upstream's job, once it was known. */
  readonly job: StoredJob | null
  /** Whom an earlier try was about to submit to when it was cut: that may or may not have a job. */
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
  /** Cancelled with the task, at its deadline, and when another worker took over. */
  readonly cancellation: Cancellation
  /** In whose name the task is claimed: what a performer writes itself, it writes only while that stands. */
  readonly workerId: string
  /** Whether another worker has the task or will: this one stops, or lost it. */
  isHandedOn(): boolean
  /** For who could not write because the claim does not stand: stops the work, and throws why. */
  giveUp(): Promise<never>
  /** Durable before the upstream is asked. */
  noteSubmitting(target: { provider: string; upstreamModel: string }): Promise<void>
  /** The provider did not take it: a cancel from here on costs nothing. */
  noteRefused(): Promise<void>
  /** Durable before anything else is done with the job. */
  saveJob(job: StoredJob): Promise<void>
  /** Between 0 and 1, or null to go by the time that has passed. Never goes back. */
  reportProgress(progress: number | null): void
}

export interface TaskOutcome {
  /** Plain JSON, shown as `result`. Addresses of media are put in when it is read, by `media_id`. */
  readonly result: unknown
  /** Plain JSON, shown as `usage`. Its `cost_usd`, where it has one, is what is charged. */
  readonly usage: unknown
  /** Where it is more than is held, the rest is taken from what the account still has. */
  readonly costNanoUsd: NanoUsd
  readonly provider: string
}
