import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { isRecord } from '../kernel/is-record.ts'
import type { Logger } from '../kernel/logger.ts'
import type { TaskPerformer, TaskQueue } from '../modules/tasks/tasks.ts'
import type { Borrower } from '../storage/borrowing/borrower.ts'
import { LeasedWork } from '../storage/leased-work/leased-work.ts'
import { repeat } from '../storage/leased-work/repeat.ts'
import { messageOf } from '../storage/storage-error.ts'
import { runJobs } from './run-jobs.ts'
import { RunningTask } from './running-task.ts'

/** Claims and performs tasks, and does periodic work. */
export interface Worker {
  isRunning(): boolean
  /** Lets running tasks end within the grace period and returns the others to the queue. */
  close(options: { graceMs: number }): Promise<void>
}

/** Claims work of its kind and does it. */
interface Runner {
  start(): void
  /** Called when work may be waiting. */
  wake(): void
  close(options: { graceMs: number }): Promise<void>
}

export interface WorkerOptions {
  readonly connectionString: string
  readonly queue: TaskQueue
  readonly performer: TaskPerformer
  /** Work on what is not a task: comparison runs, batches. */
  readonly runners?: readonly Runner[]
  /** The identity of this process, under which tasks are claimed. */
  readonly borrower: Pick<Borrower, 'id' | 'onLost'>
  /** Maximum concurrent tasks of this process. */
  readonly concurrency: number
  /** Delivers the webhooks that are due. */
  readonly deliverWebhooks: () => Promise<void>
  /** Periodic maintenance. */
  readonly sweep: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** Jobs wake the worker. This poll finds tasks whose job was lost, and tasks that waited for a limit. */
const POLL_MS = 1_000
const PROGRESS_MS = 1_000
const STANDING_MS = 5_000
const WEBHOOKS_MS = 15_000
const SWEEP_MS = 300_000

export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { queue, performer, runners = [], logger } = options
  const tasks = leaseTasks(options)
  const unsubscribe = queue.onCancelled((taskId) => {
    for (const task of tasks.items) if (task.claim.task.id === taskId) task.stop('cancelled')
  })
  const jobs = await runJobs({
    connectionString: options.connectionString,
    logger,
    handlers: {
      task: () => tasks.wake(),
      webhook: () => options.deliverWebhooks(),
      cancel: async (payload) => {
        if (!isRecord(payload) || typeof payload['taskId'] !== 'string') return
        const task = await queue.readCancelled(payload['taskId'])
        if (task !== null) await performer.cancelJob(task)
      },
      compare: () => {
        for (const runner of runners) runner.wake()
      },
    },
  })
  const onFailure = (error: unknown) =>
    logger.warn({ reason: messageOf(error) }, 'a worker could not look after its tasks')
  const stopRepeating = [
    repeat({ pauseMs: PROGRESS_MS, work: () => writeProgress(tasks.items, queue), onFailure }),
    repeat({ pauseMs: STANDING_MS, work: () => chargeLeft(options), onFailure }),
    repeat({ pauseMs: WEBHOOKS_MS, work: () => options.deliverWebhooks(), onFailure }),
    repeat({ pauseMs: SWEEP_MS, work: () => options.sweep(), onFailure }),
  ]
  tasks.start()
  for (const runner of runners) runner.start()

  return {
    isRunning: () => jobs.isRunning(),
    close: async ({ graceMs }) => {
      const stopped = Promise.all(stopRepeating.map((stop) => stop()))
      await Promise.all([
        // A sweep goes on where it was in another process: nobody waits for a long one.
        Promise.race([stopped, delay(graceMs, undefined, { ref: false })]),
        jobs.stop(),
        tasks.close({ graceMs }),
        ...runners.map((runner) => runner.close({ graceMs })),
      ])
      unsubscribe()
    },
  }
}

function leaseTasks(options: WorkerOptions): LeasedWork<RunningTask> {
  const { queue, borrower, concurrency, logger } = options
  return new LeasedWork({
    name: 'tasks',
    claim: async (countMax) => (await queue.claim(countMax)).map((claim) => new RunningTask(claim, options)),
    concurrency,
    pollMs: POLL_MS,
    renewal: {
      everyMs: STANDING_MS,
      // Finds claims that another worker has taken over, and cancellations whose message was lost.
      findLost: async (tasks) => {
        const standing = await queue.findStanding(tasks.map(({ claim }) => claim))
        return tasks.filter(({ claim }) => !standing.has(claim.task.id))
      },
    },
    borrower,
    handBack: (tasks) => queue.handBack(tasks.map(({ claim }) => claim)),
    logger,
  })
}

async function writeProgress(running: readonly RunningTask[], queue: TaskQueue): Promise<void> {
  const reports = running.flatMap((task) => {
    const progress = task.takeProgress()
    return progress === null ? [] : [{ claim: task.claim, progress }]
  })
  if (reports.length > 0) await queue.writeProgress(reports)
}

/** Charges cancelled tasks whose worker died before it did. */
async function chargeLeft({ queue, performer, logger }: WorkerOptions): Promise<void> {
  for (const task of await queue.takeLeft()) {
    try {
      await performer.chargeLeft?.(task)
      await queue.endLeft(task.id)
    } catch (error) {
      logger.warn({ reason: messageOf(error), taskId: task.id }, 'a cancelled task is charged later')
      await queue.returnLeft(task.id)
    }
  }
}
