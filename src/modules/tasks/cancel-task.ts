import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database } from '../../storage/database.ts'
import { addJob } from '../../storage/job-queue.ts'
import type { TaskLedger } from './create-tasks.ts'
import { holdKeyOf } from './new-task.ts'
import type { Task } from './task.ts'
import type { TaskReader } from './task-reader.ts'
import { TASK_COLUMNS, taskFromRow, type TaskRow } from './task-row.ts'
import { INSERT_DELIVERIES } from './webhook-delivery.ts'

interface CancelOptions {
  readonly database: Database
  readonly ledger: TaskLedger | null
  readonly reader: TaskReader
}

/** Ends it, whoever works on it, and frees what was held, in one transaction. */
export async function cancelTask(
  { database, ledger, reader }: CancelOptions,
  accountId: string,
  taskId: string,
): Promise<Task> {
  if (!isUuid(taskId)) throw notFound('task')
  const cancelled = await database.transaction(async (transaction) => {
    const [row] = await transaction.query<CancelledRow>(CANCEL, [taskId, accountId])
    if (row === undefined) return null
    if (row.is_held && ledger !== null) await ledger.releaseHold(transaction, holdKeyOf(taskId))
    if (row.webhook_url !== null) await addJob(transaction, 'webhook')
    if (row.has_job) await addJob(transaction, 'cancel', { payload: { taskId } })
    return taskFromRow(row)
  })
  if (cancelled !== null) return cancelled
  const { status } = await reader.read(accountId, taskId)
  throw new AppError('task_not_cancellable', `The task is ${status} and cannot be cancelled any more.`)
}

interface CancelledRow extends TaskRow {
  readonly is_held: boolean
  readonly webhook_url: string | null
  readonly has_job: boolean
}

const CANCEL = `
  WITH tasks AS (
    UPDATE tasks SET status = 'cancelled', worker_id = NULL, completed_at = now(), updated_at = now()
    WHERE id = $1 AND account_id = $2 AND status IN ('pending', 'processing')
    RETURNING *
  ), deliveries AS (${INSERT_DELIVERIES})
  SELECT ${TASK_COLUMNS}, is_held, webhook_url, (job IS NOT NULL OR submitting_to IS NOT NULL) AS has_job FROM tasks`
