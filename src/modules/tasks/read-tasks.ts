import { requestIdOf } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Reader } from '../keys/keys.ts'
import type { Task, TaskFilter } from './task.ts'
import { TASK_COLUMNS, taskFromRow, type TaskRow } from './task-row.ts'

const filterOf = (
  place: Place,
): string => `${isWithin(place, '$1')} AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR type = $3)
  AND ($4::text IS NULL OR requested_model = $4 OR model = $4) AND ($5::uuid IS NULL OR key_id = $5)`

/** Returns tasks, newest first. */
export async function listTasks(
  queryable: Queryable,
  reader: Reader,
  { status, type, model }: TaskFilter,
  { limit, afterId }: PageRequest,
): Promise<Page<Task>> {
  const filter = [idsOf(reader), status ?? null, type ?? null, model ?? null, reader.ownKeyId]
  const matches = filterOf(reader)
  const [rows, [count]] = await Promise.all([
    queryable.query<TaskRow>(
      `SELECT ${TASK_COLUMNS} FROM tasks WHERE ${matches} AND id < $6 ORDER BY id DESC LIMIT $7`,
      [...filter, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM tasks WHERE ${matches}`, filter),
  ])
  return {
    items: rows.slice(0, limit).map(taskFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

/** The task that a request has made, for the request log. */
export interface TaskOfRequest {
  readonly id: string
  readonly type: string
  readonly status: Task['status']
  /** The try that runs, or that was the last. From 1. */
  readonly attempt: number
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

/** Returns null for a request that has made no task, or one of another account or project. */
export async function findTaskOfRequest(
  queryable: Queryable,
  place: Place,
  requestUuid: string,
): Promise<TaskOfRequest | null> {
  const [task] = await queryable.query<TaskOfRequest>(
    `SELECT id, type, status, attempt, started_at AS "startedAt", completed_at AS "completedAt"
     FROM tasks WHERE request_id = $1 AND ${isWithin(place, '$2')}`,
    [requestIdOf(requestUuid), idsOf(place)],
  )
  return task ?? null
}

/** Counts the tasks of all accounts. */
export async function countTasks(queryable: Queryable): Promise<{ pending: number; processing: number }> {
  const [row] = await queryable.query<{ pending: number; processing: number }>(
    `SELECT (SELECT count(*)::int FROM tasks WHERE status = 'pending') AS pending,
       (SELECT count(*)::int FROM tasks WHERE status = 'processing') AS processing`,
  )
  return { pending: row?.pending ?? 0, processing: row?.processing ?? 0 }
}
