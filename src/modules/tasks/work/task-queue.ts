import { Batches } from '../../../kernel/batches.ts'
import type { Borrower } from '../../../storage/borrowing/borrower.ts'
import type { Database } from '../../../storage/database.ts'
import type { UncoveredCost } from '../../ledger/ledger.ts'
import { claimTasks, readCancelledTask, type Claim, type TaskLimits } from './claim-tasks.ts'
import type { TaskLedger } from '../create-tasks.ts'
import { finishTasks, isAboveHold, type ChargedTask, type TaskEnd } from './finish-tasks.ts'
import { endLeftTask, returnLeftTask, takeLeftTasks } from './left-tasks.ts'
import { postponeTask, retryTask, returnTasks } from './hand-back-tasks.ts'
import { findStanding, noteTasks, writeProgress, type ProgressReport, type TaskNote } from './note-tasks.ts'
import type { TaskChanges } from '../task-changes.ts'
import type { ClaimedTask } from './task-performer.ts'

/** The task operations of workers. Writes under a lost claim have no effect. */
export interface TaskQueue {
  /** Claims the next tasks for this process. */
  claim(countMax: number): Promise<Claim[]>
  /** Resolves when the note is durable. False if another worker has the task now, or it was cancelled. */
  note(note: TaskNote): Promise<boolean>
  writeProgress(reports: readonly ProgressReport[]): Promise<void>
  /** Returns true if this call finished the task. */
  finish(end: TaskEnd): Promise<boolean>
  retry(claim: Claim, pause: { pauseMs: number }): Promise<void>
  /** Like `retry`, but no attempt is counted. */
  postpone(claim: Claim, pause: { pauseMs: number }): Promise<void>
  /** Returns the tasks of a stopping worker to the queue. */
  handBack(claims: readonly Claim[]): Promise<void>
  findStanding(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  readCancelled(taskId: string): Promise<ClaimedTask | null>
  onCancelled(handler: (taskId: string) => void): () => void
  /** Takes over cancelled tasks whose worker died before it had charged what they cost. */
  takeLeft(): Promise<ClaimedTask[]>
  /** Stores that this process has charged a cancelled task. */
  endLeft(taskId: string): Promise<void>
  /** Leaves a task that could not be charged to the next look. */
  returnLeft(taskId: string): Promise<void>
}

export interface TaskQueueOptions {
  readonly database: Database
  /** Null if the gateway runs without billing. */
  readonly ledger: TaskLedger | null
  readonly borrower: Pick<Borrower, 'id' | 'writer'>
  readonly limits: TaskLimits
  readonly retentionMs: number
  readonly changes: TaskChanges
  /** Called if a task cost more than its account had. */
  readonly onUncovered: (uncovered: UncoveredCost) => void
  /** Called when a task was charged. */
  readonly onCharged: (charged: ChargedTask) => void
}

const BATCH_MAX = 50

export function createTaskQueue(options: TaskQueueOptions): TaskQueue {
  const { database, borrower, changes } = options
  const notes = new Batches<TaskNote, boolean>((batch) => noteTasks(database, batch), BATCH_MAX)
  const ends = new Batches<TaskEnd, boolean>((batch) => finishBatch(options, batch), BATCH_MAX)
  return {
    claim: async (countMax) => {
      const claims = await claimTasks(database, { workerId: borrower.id, countMax, limits: options.limits })
      changes.announce(claims.map(({ task }) => task.id))
      return claims
    },
    note: (note) => notes.add(note),
    writeProgress: (reports) => writeProgress(database, reports),
    finish: async (end) => {
      if (isAboveHold(end)) return finishAboveHold(options, end)
      // If the batch fails, finish the task alone, so that only a task that cannot be finished fails.
      return ends.add(end).catch(async () => (await finishBatch(options, [end]))[0] ?? false)
    },
    retry: async (claim, pause) => {
      await retryTask(database, claim, pause)
      changes.announce([claim.task.id])
    },
    postpone: async (claim, pause) => {
      await postponeTask(database, claim, pause)
      changes.announce([claim.task.id])
    },
    handBack: async (claims) => {
      await returnTasks(database, claims)
      changes.announce(claims.map(({ task }) => task.id))
    },
    findStanding: (claims) => findStanding(database, claims),
    readCancelled: (taskId) => readCancelledTask(database, taskId),
    onCancelled: (handler) => changes.onCancelled(handler),
    takeLeft: () => takeLeftTasks(database, borrower.id),
    endLeft: (taskId) => endLeftTask(database, taskId, borrower.id),
    returnLeft: (taskId) => returnLeftTask(database, taskId, borrower.id),
  }
}

/** Recalls credit that is lent to other processes before it charges above the hold. */
async function finishAboveHold(options: TaskQueueOptions, end: TaskEnd): Promise<boolean> {
  // If the recall fails, less of the cost is covered.
  const { accountId, isHeld } = end.claim.task
  if (isHeld) await options.ledger?.recall(accountId).catch(() => {})
  const [isEnd = false] = await finishBatch(options, [end])
  return isEnd
}

async function finishBatch(options: TaskQueueOptions, batch: readonly TaskEnd[]): Promise<boolean[]> {
  const { database, ledger, borrower, retentionMs, changes, onUncovered, onCharged } = options
  const finishing = { database, ledger, writer: borrower.writer, retentionMs, onUncovered, onCharged }
  const finished = await finishTasks(finishing, batch)
  changes.announce(batch.filter((_, index) => finished[index]).map(({ claim }) => claim.task.id))
  return finished
}
