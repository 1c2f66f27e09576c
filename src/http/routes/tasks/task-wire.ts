import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  isTerminal,
  TASK_STATUSES,
  TASK_TYPES,
  type Task,
  type TaskType,
} from '../../../modules/tasks/tasks.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, ModelId, UpdatedAt, objectName } from '../../../wires/usual-members.ts'
import { errorTypeOf } from '../../answers/error-envelope.ts'

const Timestamp = Type.String({ format: 'date-time' })
const AnyObject = Type.Record(Type.String(), Type.Unknown())

export const TaskAnswer = Type.Object(
  {
    task_id: Type.String({ format: 'uuid', description: 'The id of the task.' }),
    id: Type.String({ format: 'uuid', description: 'The same.' }),
    object: objectName('task'),
    status: Type.Enum([...TASK_STATUSES], { description: 'The state it is in.' }),
    task_type: Type.Enum([...TASK_TYPES], { description: 'What the task makes.' }),
    model: Type.String({ description: 'As it was asked for.' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Never goes back.' }),
    queue_position: orNull(Type.Integer({ description: 'How many wait before it, while it waits.' })),
    created_at: CreatedAt,
    started_at: orNull(Timestamp, 'When work on it began. `null` until then.'),
    completed_at: orNull(Timestamp, 'When it ended. `null` until then.'),
    updated_at: UpdatedAt,
    expires_at: Type.String({ format: 'date-time', description: 'When the result goes. The task stays.' }),
    poll_url: Type.String({ description: 'Where to ask for the task.' }),
    result: orNull(AnyObject, 'What the work made. `null` until it completed.'),
    error: orNull(
      Type.Object({
        message: Type.String({ description: 'What went wrong, in words.' }),
        type: Type.String({ description: 'The class of the error.' }),
        code: Type.String({ description: 'The code of the error, for programs.' }),
      }),
      'Why it failed. `null` when it did not.',
    ),
    usage: orNull(AnyObject, 'What was used, and what it cost.'),
    cost_usd: orNull(
      Type.Number({
        description:
          'Null until the task ends. 0 for a task that failed, and for one that was cancelled, unless a provider had it that bills it.',
      }),
    ),
    attempt: Type.Integer({ description: 'Which try this is, of three at most.' }),
    prompt: orNull(
      Type.String({ description: 'The first 500 characters of its prompt or text, until the result goes.' }),
    ),
    metadata: orNull(AnyObject, 'Pairs of text that you attach. They come back unchanged.'),
    refunded_at: Type.Optional(described(Timestamp, 'When the money came back. Absent when none did.')),
    refund_amount_usd: Type.Optional(
      Type.Number({ description: 'What a cancelled task had held and was not charged.' }),
    ),
    refund_message: Type.Optional(
      Type.String({ description: 'Why a cancelled task was not given all of it back.' }),
    ),
  },
  { title: 'Task' },
)

const REFUND_MESSAGE =
  'A provider had begun the work when it was cancelled, and bills work that is cancelled: what it bills was charged.'

/** Formats a task for `GET /v1/tasks/{id}`, lists and webhooks. */
export function toTaskAnswer(task: Task): Record<string, unknown> {
  const { status, completedAt, refundedNanoUsd, error } = task
  return {
    task_id: task.id,
    id: task.id,
    object: 'task',
    status,
    task_type: task.type,
    model: task.model,
    progress: task.progress,
    queue_position: task.queuePosition,
    created_at: toTimestamp(task.createdAt.getTime()),
    started_at: timestampOf(task.startedAt),
    completed_at: timestampOf(completedAt),
    updated_at: toTimestamp(task.updatedAt.getTime()),
    expires_at: toTimestamp(task.expiresAt.getTime()),
    poll_url: pollUrlOf(task),
    result: task.result ?? null,
    error:
      error === null ? null : { message: error.message, type: errorTypeOf(error.code), code: error.code },
    usage: task.usage ?? null,
    cost_usd: costOf(task),
    attempt: task.attempt,
    prompt: task.prompt,
    metadata: task.metadata,
    ...(refundedNanoUsd !== null && {
      refunded_at: timestampOf(completedAt),
      refund_amount_usd: usdFromNanoUsd(refundedNanoUsd),
      ...(task.costNanoUsd !== null && { refund_message: REFUND_MESSAGE }),
    }),
  }
}

function costOf({ status, costNanoUsd }: Task): number | null {
  if (costNanoUsd !== null) return usdFromNanoUsd(costNanoUsd)
  return status === 'failed' || status === 'cancelled' ? 0 : null
}

export const TaskReceipt = Type.Object(
  {
    task_id: Type.String({ format: 'uuid', description: 'The id of the task.' }),
    id: Type.String({ format: 'uuid', description: 'The same.' }),
    status: Type.Enum([...TASK_STATUSES], { description: 'The state it is in.' }),
    poll_url: Type.String({ description: 'Where to ask for the task.' }),
    model: ModelId,
    created_at: CreatedAt,
  },
  { title: 'TaskReceipt' },
)

/** Returns the body of the 202 answer for a new task. */
export function toTaskReceipt(task: Task): Record<string, unknown> {
  return {
    task_id: task.id,
    id: task.id,
    status: task.status,
    poll_url: pollUrlOf(task),
    model: task.model,
    created_at: toTimestamp(task.createdAt.getTime()),
  }
}

const POLL_MS_DEFAULT = 1_000
const POLL_MS: Readonly<Partial<Record<TaskType, number>>> = { video: 5_000, music: 3_000 }

/** Returns the headers that say when to poll a task again. Returns none for a task that has ended. */
export function pollHeadersOf({ status, type }: Task): Record<string, string> {
  if (isTerminal(status)) return {}
  const pollMs = POLL_MS[type] ?? POLL_MS_DEFAULT
  return { 'retry-after': String(Math.ceil(pollMs / 1000)), 'openai-poll-after-ms': String(pollMs) }
}

function pollUrlOf({ id }: Task): string {
  return `/v1/tasks/${id}`
}

function timestampOf(date: Date | null): string | null {
  return date === null ? null : toTimestamp(date.getTime())
}
