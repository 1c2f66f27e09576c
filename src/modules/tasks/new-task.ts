import { createId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { JOB_SCHEMA } from '../../storage/job-queue.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Payer, TimedCharge } from '../ledger/ledger.ts'
import type { TaskOrder } from './task.ts'
import { OWN_COLUMNS, type TaskRow } from './task-row.ts'
import { DEADLINES_MS, HOLD_MARGIN_MS, QUEUE_MS_MAX } from './task-times.ts'

/** An order with all values that are decided when it arrives. */
export interface NewTask {
  readonly id: string
  readonly order: TaskOrder
  readonly createdAtMs: number
  readonly deadlineMs: number
  readonly queueDeadlineAtMs: number
  readonly expiresAtMs: number
  readonly provider: string | null
  readonly isHeld: boolean
  /** The storage quota of the account's tasks; null for no limit. */
  readonly storedBytesMax: number | null
}

export interface TaskDefaults {
  readonly nowMs: number
  readonly retentionMs: number
  readonly provider: string | null
  readonly isHeld: boolean
  readonly storedBytesMax: number | null
}

export function planTask(order: TaskOrder, defaults: TaskDefaults): NewTask {
  const { nowMs, retentionMs, provider, isHeld, storedBytesMax } = defaults
  return {
    id: createId(nowMs),
    order,
    createdAtMs: nowMs,
    deadlineMs: DEADLINES_MS[order.type],
    queueDeadlineAtMs: nowMs + QUEUE_MS_MAX,
    expiresAtMs: nowMs + retentionMs,
    provider,
    isHeld,
    storedBytesMax,
  }
}

export function payerOf({ order }: NewTask): Payer {
  const { accountId, keyId, limitNanoUsd, parent = null } = order.caller
  return { accountId, keyId, limitNanoUsd, parent }
}

/** What budgets are found by. */
export function chargeOf({ order, createdAtMs }: NewTask): TimedCharge {
  return { model: order.model, labels: labelsOf(order.caller), atMs: createdAtMs }
}

export function holdKeyOf(taskId: string): string {
  return `task:${taskId}`
}

/** Returns the hold of a task. It expires after the latest time at which the task can end. */
export function holdOrderOf(task: NewTask): {
  key: string
  accountId: string
  amountNanoUsd: NanoUsd
  expiresAtMs: number
} {
  return {
    key: holdKeyOf(task.id),
    accountId: task.order.caller.accountId,
    amountNanoUsd: task.order.holdNanoUsd,
    expiresAtMs: task.queueDeadlineAtMs + task.deadlineMs + HOLD_MARGIN_MS,
  }
}

/** Inserts the tasks and a job for each. Leaves out tasks whose request id already has a task. */
export function insertTasks(transaction: Queryable, tasks: readonly NewTask[]): Promise<TaskRow[]> {
  return transaction.query<TaskRow>(INSERT, [JSON.stringify(tasks.map(toColumns))])
}

function toColumns(task: NewTask): object {
  const { order } = task
  return {
    id: task.id,
    account_id: order.caller.accountId,
    project_id: order.caller.projectId,
    key_id: order.caller.keyId,
    environment: order.caller.environment,
    request_id: order.requestId,
    type: order.type,
    model: order.model,
    requested_model: order.requestedModel,
    work: order.work ?? null,
    expected_ms: Math.max(1, Math.round(order.expectedMs)),
    priority: order.priority ?? 0,
    provider: task.provider,
    hold_nano_usd: String(order.holdNanoUsd),
    is_held: task.isHeld,
    webhook_url: order.webhookUrl,
    metadata: order.metadata,
    deadline_ms: task.deadlineMs,
    deadline_at: new Date(task.queueDeadlineAtMs).toISOString(),
    created_at: new Date(task.createdAtMs).toISOString(),
    expires_at: new Date(task.expiresAtMs).toISOString(),
    labels: order.caller.labels ?? null,
    price_version: order.priceVersion ?? null,
    held_counted: order.heldCounted ?? null,
    traceparent: order.traceparent ?? null,
  }
}

const COLUMN_TYPES = `id uuid, account_id uuid, project_id uuid, key_id uuid, environment text, request_id text, type text, model text,
  requested_model text, work jsonb, expected_ms integer, priority smallint, provider text, hold_nano_usd bigint,
  is_held boolean, webhook_url text, metadata jsonb, deadline_ms integer, deadline_at timestamptz, created_at timestamptz,
  expires_at timestamptz, labels text[], price_version text, held_counted text, traceparent text`
const COLUMNS = COLUMN_TYPES.replaceAll(/(\w+) \w+(?:\[\])?/g, '$1')

const INSERT = `
  WITH tasks AS (
    INSERT INTO tasks (${COLUMNS}, updated_at)
    SELECT ${COLUMNS.replace('work', `coalesce(work, 'null')`)}, created_at
    FROM jsonb_to_recordset($1::jsonb) AS task (${COLUMN_TYPES})
    ON CONFLICT (request_id) DO NOTHING RETURNING *
  ), tickets AS (
    SELECT count(*) FROM ${JOB_SCHEMA}.add_jobs(ARRAY(
      SELECT ('task', '{}', NULL, NULL, 1, NULL, 0, NULL)::${JOB_SCHEMA}.job_spec FROM tasks))
  )
  SELECT ${OWN_COLUMNS}, NULL::int AS queue_position FROM tasks, tickets`
