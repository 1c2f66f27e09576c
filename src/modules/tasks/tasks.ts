import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Caller } from '../keys/keys.ts'

/** Long work: created with its hold and its job in one transaction, delivered by workers, settled with its last state. */
export interface Tasks {
  create(order: TaskOrder): Promise<Task>
  read(accountId: string, taskId: string): Promise<Task>
  /** The task as it is after its next change, or as it was when the time is over. */
  readAfterChange(
    accountId: string,
    taskId: string,
    wait: { seconds: number; cancellation: Cancellation },
  ): Promise<Task>
  list(accountId: string, filter: TaskFilter, page: PageRequest): Promise<Page<Task>>
  /** Throws `task_not_cancellable` for one that has ended. */
  cancel(accountId: string, taskId: string): Promise<Task>
}

export const TASK_TYPES = ['image', 'video', 'tts', 'music', 'stt', 'edit', 'upscale', 'bg_remove'] as const
export type TaskType = (typeof TASK_TYPES)[number]
export const TASK_STATUSES = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export interface TaskOrder {
  readonly caller: Caller
  /** `req_…` of the request that asked for it: with an idempotency key the same request makes one task. */
  readonly requestId: string
  readonly type: TaskType
  /** The catalog's id. */
  readonly model: string
  /** The id the client asked for, which may be an alias. */
  readonly requestedModel: string
  /** Plain JSON for who performs it. Never shown. */
  readonly work: unknown
  readonly holdNanoUsd: NanoUsd
  /** What such work usually takes, for the progress of upstreams that report none. */
  readonly expectedMs: number
  readonly webhookUrl: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export interface TaskFilter {
  readonly status?: TaskStatus | undefined
  readonly type?: TaskType | undefined
  readonly model?: string | undefined
}

export interface Task {
  readonly id: string
  readonly type: TaskType
  readonly status: TaskStatus
  /** The id the client asked for. */
  readonly model: string
  /** 0 to 100. */
  readonly progress: number
  /** How many are before it; null once it runs. */
  readonly queuePosition: number | null
  readonly attempt: number
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  readonly updatedAt: Date
  /** When the result goes. */
  readonly expiresAt: Date
  readonly result: unknown
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usage: unknown
  readonly costNanoUsd: NanoUsd | null
  /** Of a cancelled task. */
  readonly refundedNanoUsd: NanoUsd | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** Who does what tasks are about. Given to the worker. */
export interface TaskPerformer {
  /**
   * Throws an `AppError` when the work failed for good, and anything else when another process may do better. Called again, with
   * the stored job, for a task whose worker died.
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
  readonly work: unknown
  readonly holdNanoUsd: NanoUsd
  readonly attempt: number
  readonly createdAtMs: number
  readonly deadlineAtMs: number
  /** The upstream's job, once it was known. */
  readonly job: StoredJob | null
  /** Whom an earlier try was about to submit to when it was cut: that may or may not have a job. */
  readonly submittingTo: { readonly provider: string; readonly upstreamModel: string } | null
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
  /** Durable before the upstream is asked. */
  noteSubmitting(target: { provider: string; upstreamModel: string }): Promise<void>
  /** Durable before anything else is done with the job. */
  saveJob(job: StoredJob): Promise<void>
  /** Between 0 and 1, or null to go by the time that has passed. Never goes back. */
  reportProgress(progress: number | null): void
}

export interface TaskOutcome {
  /** Plain JSON, shown as `result`. Addresses of media are put in when it is read, by `media_id`. */
  readonly result: unknown
  /** Plain JSON, shown as `usage`. */
  readonly usage: unknown
  /** Never more than is held. */
  readonly costNanoUsd: NanoUsd
  readonly provider: string
}
