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
  /** What it asks of a model is held and charged call by call, and the task itself holds nothing. */
  readonly isChargedByCall?: true
  /** What such work usually takes, for the progress of upstreams that report none. */
  readonly expectedMs: number
  readonly webhookUrl: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Larger is sooner; 0 unless told. */
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
  /** Of the files in the result, in its order. */
  readonly mediaIds: readonly string[]
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usage: unknown
  readonly costNanoUsd: NanoUsd | null
  /** Of a cancelled task: what was held and not charged. */
  readonly refundedNanoUsd: NanoUsd | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export function isTerminal(status: TaskStatus): boolean {
  return status !== 'pending' && status !== 'processing'
}
