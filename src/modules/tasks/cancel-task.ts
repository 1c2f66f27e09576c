import { setTimeout as delay } from 'node:timers/promises'
import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addJob } from '../../storage/job-queue.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Environment } from '../keys/keys.ts'
import type { TaskLedger } from './create-tasks.ts'
import { NOBODY } from './work/left-tasks.ts'
import { holdKeyOf } from './new-task.ts'
import { settleOrderOf } from './settle-order.ts'
import type { Task, TaskType } from './task.ts'
import type { TaskReader } from './task-reader.ts'
import { TASK_COLUMNS, taskFromRow, type TaskRow } from './task-row.ts'
import { INSERT_DELIVERIES } from './webhooks/webhook-delivery.ts'

export interface CancelOptions {
  readonly database: Database
  readonly ledger: TaskLedger | null
  readonly reader: TaskReader
  /** The writer number of this process, for the usage records of charges. */
  readonly writer: number
  /** Whether a provider bills work that is cancelled after it was accepted. */
  readonly isCancelBilled: (provider: string, type: TaskType) => boolean
}

/**
 * Cancels the task, whichever worker has it, and closes its hold in the same transaction. The hold is released in full, unless a
 * provider has the work and bills cancelled work.
 */
export async function cancelTask(options: CancelOptions, place: Place, taskId: string): Promise<Task> {
  const { database, reader } = options
  if (!isUuid(taskId)) throw notFound('task')
  await untilTaken(database, place, taskId)
  const cancelled = await database.transaction(async (transaction) => {
    const [row] = await transaction.query<CancelledRow>(cancelWithin(place), [taskId, idsOf(place)])
    if (row === undefined) return null
    const costNanoUsd = await closeHold(transaction, options, row)
    if (row.webhook_url !== null) await addJob(transaction, 'webhook')
    if (row.handed_to !== null) await addJob(transaction, 'cancel', { payload: { taskId } })
    return taskFromRow({ ...row, cancel_cost_nano_usd: costNanoUsd })
  })
  if (cancelled !== null) return cancelled
  const { status } = await reader.read(place, taskId)
  throw new AppError('task_not_cancellable', `The task is ${status} and cannot be cancelled any more.`)
}

const SUBMIT_MS_MAX = 3_000
const SUBMIT_LOOK_MS = 50

/** Waits for a running submit, because only then it is known whether the provider accepted the work. */
async function untilTaken(database: Database, place: Place, taskId: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < SUBMIT_MS_MAX; waitedMs += SUBMIT_LOOK_MS) {
    const submitting = await database.query(
      `SELECT id FROM tasks WHERE id = $1 AND ${isWithin(place, '$2')} AND status = 'processing'
         AND submitting_to IS NOT NULL AND job IS NULL`,
      [taskId, idsOf(place)],
    )
    if (submitting.length === 0) return
    await delay(SUBMIT_LOOK_MS)
  }
}

/** Closes the hold and returns the charged amount. */
async function closeHold(
  transaction: Queryable,
  { ledger, writer, isCancelBilled }: CancelOptions,
  row: CancelledRow,
): Promise<NanoUsd> {
  if (!row.is_held || ledger === null) return 0n
  if (row.handed_to === null || row.hold_nano_usd === 0n || !isCancelBilled(row.handed_to, row.type)) {
    await ledger.releaseHold(transaction, holdKeyOf(row.id))
    return 0n
  }
  const task = {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    environment: row.environment,
    requestId: row.request_id,
    type: row.type,
    model: row.model,
    createdAtMs: row.created_at.getTime(),
    labels: row.labels,
    priceVersion: row.price_version,
  }
  const charge = {
    chargedNanoUsd: row.hold_nano_usd,
    provider: row.handed_to,
    outcome: 'disconnected' as const,
    counted: row.held_counted,
    latencyMs: row.latency_ms,
    writer,
  }
  await ledger.settleHolds(transaction, [settleOrderOf(task, charge)])
  await transaction.query('UPDATE tasks SET cancel_cost_nano_usd = $2 WHERE id = $1', [
    row.id,
    row.hold_nano_usd,
  ])
  return row.hold_nano_usd
}

interface CancelledRow extends TaskRow {
  readonly account_id: string
  readonly key_id: string
  readonly environment: Environment
  readonly request_id: string
  readonly model: string
  readonly labels: string[] | null
  readonly price_version: string | null
  readonly held_counted: string | null
  readonly is_held: boolean
  readonly webhook_url: string | null
  /** The provider that has the work, or may have it. */
  readonly handed_to: string | null
  readonly latency_ms: number
}

const cancelWithin = (place: Place): string => `
  WITH tasks AS (
    UPDATE tasks SET status = 'cancelled', worker_id = NULL, completed_at = now(), updated_at = now(),
      leaving_worker_id = CASE WHEN type = 'response' AND started_at IS NOT NULL THEN coalesce(worker_id, '${NOBODY}') END
    WHERE id = $1 AND ${isWithin(place, '$2')} AND status IN ('pending', 'processing')
    RETURNING *
  ), deliveries AS (${INSERT_DELIVERIES})
  SELECT ${TASK_COLUMNS}, account_id, key_id, environment, request_id, model, labels, price_version, held_counted, is_held, webhook_url,
    coalesce(job ->> 'provider', submitting_to ->> 'provider') AS handed_to,
    (extract(epoch FROM completed_at - created_at) * 1000)::int AS latency_ms FROM tasks`
