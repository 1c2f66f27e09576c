import type { NanoUsd } from '../../kernel/money.ts'
import type { Caller } from '../keys/keys.ts'

export const TASK_TYPES = [
  'image',
  'video',
  'tts',
  'music',
  'stt',
  'edit',
  'upscale',
  'bg_remove',
  'response',
] as const
export type TaskType = (typeof TASK_TYPES)[number]
export const TASK_STATUSES = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export interface TaskOrder {
  readonly caller: Caller
  /** The id (`req_…`) of the request that created it. With an idempotency key, repeated requests create one task. */
  readonly requestId: string
  readonly type: TaskType
  /** The catalog id. */
  readonly model: string
  /** The id that the client sent. It may be an alias. */
  readonly requestedModel: string
  /** Plain JSON for the performer. Never shown to clients. */
  readonly work: unknown
  readonly holdNanoUsd: NanoUsd
  /** The price list that it is charged by, and what its hold counts. */
  readonly priceVersion?: string | null
  readonly heldCounted?: string
  /** Each model call of the task is held and charged by itself. The task itself has no hold. */
  readonly isChargedByCall?: true
  /** The usual duration of such work, to estimate the progress of upstreams that report none. */
  readonly expectedMs: number
  readonly webhookUrl: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** The client's W3C header, for the spans of its work. */
  readonly traceparent?: string | null
  /** Higher values run first. The default is 0. */
  readonly priority?: number
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
  /** The id that the client sent. */
  readonly model: string
  /** 0 to 100. */
  readonly progress: number
  /** The number of tasks before it; null once it runs. */
  readonly queuePosition: number | null
  readonly attempt: number
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  readonly updatedAt: Date
  /** When the result is deleted. */
  readonly expiresAt: Date
  readonly result: unknown
  /** The ids of the files in the result, in its order. */
  readonly mediaIds: readonly string[]
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usage: unknown
  readonly costNanoUsd: NanoUsd | null
  /** For a cancelled task, the part of the hold that was not charged. */
  readonly refundedNanoUsd: NanoUsd | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** The beginning of the text that it was created with. Null without one, and after the result has expired. */
  readonly prompt: string | null
}

export function isTerminal(status: TaskStatus): boolean {
  return status !== 'pending' && status !== 'processing'
}
