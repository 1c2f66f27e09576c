import { Batches } from '../../kernel/batches.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { Database } from '../../storage/database.ts'
import type { UncoveredCost } from '../ledger/ledger.ts'
import { claimTasks, readCancelledTask, type Claim, type TaskLimits } from './claim-tasks.ts'
import type { TaskLedger } from './create-tasks.ts'
import { finishTasks, isAboveHold, type TaskEnd } from './finish-tasks.ts'
import { postponeTask, retryTask, returnTasks } from './hand-back-tasks.ts'
import { findStanding, noteTasks, writeProgress, type ProgressReport, type TaskNote } from './note-tasks.ts'
import type { TaskChanges } from './task-changes.ts'
import type { ClaimedTask } from './task-performer.ts'

/** The tasks as workers see them. What is written for a claim that does not stand any more changes nothing. */
export interface TaskQueue {
  /** What is next, in the name of this process. */
  claim(countMax: number): Promise<Claim[]>
  /** Resolves when it is durable; false when another has the task now, or it was cancelled. */
  note(note: TaskNote): Promise<boolean>
  writeProgress(reports: readonly ProgressReport[]): Promise<void>
  /** True when this was the task's end. */
  finish(end: TaskEnd): Promise<boolean>
  retry(claim: Claim, pause: { pauseMs: number }): Promise<void>
  /** As `retry`, but no try is counted. */
  postpone(claim: Claim, pause: { pauseMs: number }): Promise<void>
  /** Of a worker that stops. */
  handBack(claims: readonly Claim[]): Promise<void>
  findStanding(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  readCancelled(taskId: string): Promise<ClaimedTask | null>
  onCancelled(handler: (taskId: string) => void): () => void
}

export interface TaskQueueOptions {
  readonly database: Database
  /** Null for a gateway that charges nobody. */
  readonly ledger: TaskLedger | null
  readonly borrower: Pick<Borrower, 'id' | 'writer'>
  readonly limits: TaskLimits
  readonly retentionMs: number
  readonly changes: TaskChanges
  /** A task cost more than its account had. */
  readonly onUncovered: (uncovered: UncoveredCost) => void
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
      // Alone, only the one that cannot be ended so fails.
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
  }
}

/** What the account still has may be lent to processes that do not use it. */
async function finishAboveHold(options: TaskQueueOptions, end: TaskEnd): Promise<boolean> {
  // Without it, less of the cost is covered.
  const { accountId, isHeld } = end.claim.task
  if (isHeld) await options.ledger?.recall(accountId).catch(() => {})
  const [isEnd = false] = await finishBatch(options, [end])
  return isEnd
}

async function finishBatch(options: TaskQueueOptions, batch: readonly TaskEnd[]): Promise<boolean[]> {
  const { database, ledger, borrower, retentionMs, changes, onUncovered } = options
  const finishing = { database, ledger, writer: borrower.writer, retentionMs, onUncovered }
  const finished = await finishTasks(finishing, batch)
  changes.announce(batch.filter((_, index) => finished[index]).map(({ claim }) => claim.task.id))
  return finished
}
