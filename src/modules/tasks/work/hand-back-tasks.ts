import type { Database, Queryable } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import type { Claim } from './claim-tasks.ts'

/** The number of attempts after errors that may be temporary. */
export const ATTEMPTS_MAX = 3
/** The death of a worker is normally not caused by the task, unless very many workers die with it. */
const INTERRUPTIONS_MAX = 20

/** Returns the tasks of a dead worker to the queue. Called for every process whose lease expires. */
export async function reclaimTasks(transaction: Queryable, borrowerId: string): Promise<void> {
  const rows = await transaction.query(
    `UPDATE tasks SET ${BACK_AFTER_DEATH} WHERE worker_id = $1 AND status = 'processing' RETURNING id`,
    [borrowerId],
  )
  if (rows.length > 0) await addJob(transaction, 'task', { count: rows.length })
}

const BACK = `status = 'pending', worker_id = NULL, updated_at = now()`
const BACK_AFTER_DEATH = `${BACK}, interruptions = least(interruptions + 1, ${INTERRUPTIONS_MAX}),
  is_exhausted = is_exhausted OR interruptions + 1 >= ${INTERRUPTIONS_MAX}`
const BACK_AFTER_FAILURE = `${BACK}, attempt = least(attempt + 1, ${ATTEMPTS_MAX}),
  is_exhausted = attempt >= ${ATTEMPTS_MAX}`

/** Returns the tasks of a stopping worker to the queue. No attempt is counted. */
export async function returnTasks(database: Database, claims: readonly Claim[]): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(
      `UPDATE tasks SET ${BACK} FROM unnest($1::uuid[], $2::uuid[]) AS held (id, worker)
       WHERE tasks.id = held.id AND worker_id = held.worker AND status = 'processing' RETURNING tasks.id`,
      [claims.map(({ task }) => task.id), claims.map(({ workerId }) => workerId)],
    )
    if (rows.length > 0) await addJob(transaction, 'task', { count: rows.length })
  })
}

interface Pause {
  readonly pauseMs: number
}

/** Returns the task to the queue after an error that may be temporary. */
export function retryTask(database: Database, claim: Claim, pause: Pause): Promise<void> {
  return handBackFor(database, BACK_AFTER_FAILURE, claim, pause)
}

/** Returns a task that may not begin yet to the queue, so that others can run meanwhile. No attempt is counted. */
export function postponeTask(database: Database, claim: Claim, pause: Pause): Promise<void> {
  return handBackFor(database, BACK, claim, pause)
}

async function handBackFor(
  database: Database,
  back: string,
  { task, workerId }: Claim,
  { pauseMs }: Pause,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ not_before: Date }>(
      `UPDATE tasks SET ${back}, not_before = now() + $3 * interval '1 millisecond'
       WHERE id = $1 AND worker_id = $2 AND status = 'processing' RETURNING not_before`,
      [task.id, workerId, pauseMs],
    )
    if (row !== undefined) await addJob(transaction, 'task', { runAt: row.not_before })
  })
}
