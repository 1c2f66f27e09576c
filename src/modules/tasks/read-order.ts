import { notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { TaskOrder, TaskType } from './task.ts'

/** What a task was created with. */
export interface StoredOrder extends Pick<TaskOrder, 'type' | 'webhookUrl' | 'metadata' | 'requestedModel'> {
  /** Null after the result has expired. */
  readonly work: unknown
}

interface OrderRow {
  readonly type: TaskType
  readonly requested_model: string
  readonly work: unknown
  readonly webhook_url: string | null
  readonly metadata: Record<string, unknown> | null
}

export async function readOrder(queryable: Queryable, place: Place, taskId: string): Promise<StoredOrder> {
  const [row] = await queryable.query<OrderRow>(
    `SELECT type, requested_model, work, webhook_url, metadata FROM tasks WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [taskId, idsOf(place)],
  )
  if (row === undefined) throw notFound('task')
  return {
    type: row.type,
    requestedModel: row.requested_model,
    work: row.work,
    webhookUrl: row.webhook_url,
    metadata: row.metadata,
  }
}
