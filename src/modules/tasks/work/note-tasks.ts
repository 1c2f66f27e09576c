import { toStorableJson } from '../../../kernel/storable-text.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Claim } from './claim-tasks.ts'
import type { StoredJob, SubmitTarget } from './task-performer.ts'
import { GUESS_IN_SQL } from '../task-row.ts'

/** What a worker stores about a task while it works on it. */
export interface TaskNote {
  readonly claim: Claim
  readonly submittingTo?: SubmitTarget
  readonly job?: StoredJob
  /** Whether the provider that it was submitted to refused it. */
  readonly isRefused?: true
}

/** Returns for each note whether the worker still has the task. A job is stored in any case, so that it can be cancelled. */
export async function noteTasks(queryable: Queryable, notes: readonly TaskNote[]): Promise<boolean[]> {
  const rows = await queryable.query<{ id: string; is_held: boolean }>(NOTE, [
    toStorableJson(
      notes.map(({ claim, submittingTo, job, isRefused = false }) => ({
        id: claim.task.id,
        worker_id: claim.workerId,
        submitting_to: submittingTo ?? null,
        job: job ?? null,
        is_refused: isRefused,
        provider: (job ?? submittingTo)?.provider ?? null,
      })),
    ),
  ])
  const held = new Set(rows.filter(({ is_held: isHeld }) => isHeld).map(({ id }) => id))
  return notes.map(({ claim }) => held.has(claim.task.id))
}

const NOTE = `
  UPDATE tasks SET job = coalesce(note.job, tasks.job), submitting_to = CASE
      WHEN note.is_refused THEN NULL ELSE coalesce(note.submitting_to, tasks.submitting_to) END,
    provider = coalesce(note.provider, tasks.provider)
  FROM jsonb_to_recordset($1::jsonb) AS note (id uuid, worker_id uuid, submitting_to jsonb, job jsonb, is_refused boolean,
    provider text)
  WHERE tasks.id = note.id AND (tasks.worker_id = note.worker_id AND tasks.status = 'processing'
    OR tasks.status = 'cancelled' AND note.job IS NOT NULL)
  RETURNING tasks.id, tasks.status = 'processing' AS is_held`

export interface ProgressReport {
  readonly claim: Claim
  /** 0 to 100. */
  readonly progress: number
}

/** Stores the progress. It never decreases, and never falls below the estimate that was shown before. */
export async function writeProgress(queryable: Queryable, reports: readonly ProgressReport[]): Promise<void> {
  await queryable.query(
    `UPDATE tasks SET updated_at = now(), is_progress_known = true, progress = greatest(tasks.progress, report.progress,
       CASE WHEN is_progress_known THEN 0 ELSE ${GUESS_IN_SQL} END)
     FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS report (id, worker, progress)
     WHERE tasks.id = report.id AND worker_id = report.worker AND status = 'processing'`,
    [
      reports.map(({ claim }) => claim.task.id),
      reports.map(({ claim }) => claim.workerId),
      reports.map(({ progress }) => progress),
    ],
  )
}

/** Returns the task ids of the claims that are still valid. */
export async function findStanding(
  queryable: Queryable,
  claims: readonly Claim[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ id: string }>(
    `SELECT tasks.id FROM tasks, unnest($1::uuid[], $2::uuid[]) AS held (id, worker)
     WHERE tasks.id = held.id AND worker_id = held.worker AND status = 'processing'`,
    [claims.map(({ task }) => task.id), claims.map(({ workerId }) => workerId)],
  )
  return new Set(rows.map(({ id }) => id))
}
