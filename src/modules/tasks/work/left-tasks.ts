import type { Database } from '../../../storage/database.ts'
import { CLAIMED_COLUMNS, claimedFromRow, type ClaimRow } from './claim-tasks.ts'
import type { ClaimedTask } from './task-performer.ts'

/** Stands for the worker of a task that was cancelled after its worker had died. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

const TAKEN_MAX = 10

/** Takes over cancelled tasks whose worker died before it had charged what they cost. */
export async function takeLeftTasks(database: Database, workerId: string): Promise<ClaimedTask[]> {
  const rows = await database.query<ClaimRow>(TAKE, [workerId, TAKEN_MAX])
  return rows.map(claimedFromRow)
}

const TAKE = `
  UPDATE tasks SET leaving_worker_id = $1 FROM (
    SELECT id FROM tasks WHERE leaving_worker_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM borrowers WHERE borrowers.id = tasks.leaving_worker_id AND closed_at IS NULL)
    LIMIT $2 FOR UPDATE SKIP LOCKED
  ) AS left_behind
  WHERE tasks.id = left_behind.id RETURNING ${CLAIMED_COLUMNS}`

/** Stores that a cancelled task has been charged. */
export async function endLeftTask(database: Database, taskId: string, workerId: string): Promise<void> {
  await database.query('UPDATE tasks SET leaving_worker_id = NULL WHERE id = $1 AND leaving_worker_id = $2', [
    taskId,
    workerId,
  ])
}

/** Leaves a cancelled task that could not be charged to the next look. */
export async function returnLeftTask(database: Database, taskId: string, workerId: string): Promise<void> {
  await database.query(`UPDATE tasks SET leaving_worker_id = $3 WHERE id = $1 AND leaving_worker_id = $2`, [
    taskId,
    workerId,
    NOBODY,
  ])
}
