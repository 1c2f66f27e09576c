import { notFound } from '../../kernel/app-error.ts'
import { Batches } from '../../kernel/batches.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { isRowWithin, type Place } from '../../storage/place.ts'
import type { Task } from './task.ts'
import { TASK_COLUMNS, taskFromRow, type TaskRow } from './task-row.ts'

const BATCH_MAX = 50

/** Reads single tasks. Concurrent reads share one query, because many clients read at once when tasks change together. */
export class TaskReader {
  readonly #batches: Batches<string, FoundRow | null>

  constructor(queryable: Queryable) {
    this.#batches = new Batches((ids) => readRows(queryable, ids), BATCH_MAX)
  }

  /** Returns the state at the time of this call or later. Throws `not_found` also for a task of another account or project. */
  async read(place: Place, taskId: string): Promise<Task> {
    const row = isUuid(taskId) ? await this.#batches.add(taskId.toLowerCase()) : null
    if (row === null || !isRowWithin(place, { accountId: row.account_id, projectId: row.project_id }))
      throw notFound('task')
    return taskFromRow(row)
  }
}

type FoundRow = TaskRow & { readonly account_id: string; readonly project_id: string | null }

async function readRows(queryable: Queryable, ids: readonly string[]): Promise<(FoundRow | null)[]> {
  const rows = await queryable.query<FoundRow>(
    `SELECT tasks.account_id, tasks.project_id, ${TASK_COLUMNS} FROM tasks WHERE id = ANY ($1::uuid[])`,
    [`{${ids.join(',')}}`],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => byId.get(id) ?? null)
}
