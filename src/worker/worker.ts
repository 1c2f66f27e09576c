import type { Clock } from '../kernel/clock.ts'
import { isRecord } from '../kernel/is-record.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Runner } from '../modules/compare/compare.ts'
import type { TaskPerformer, TaskQueue } from '../modules/tasks/tasks.ts'
import type { Borrower } from '../storage/borrowing/borrower.ts'
import { messageOf } from '../storage/storage-error.ts'
import { Dispatcher } from './dispatcher.ts'
import { runJobs } from './run-jobs.ts'

/** Claims and performs tasks, and does periodic work. */
export interface Worker {
  isRunning(): boolean
  /** Lets running tasks end within the grace period and returns the others to the queue. */
  close(options: { graceMs: number }): Promise<void>
}

export interface WorkerOptions {
  readonly connectionString: string
  readonly queue: TaskQueue
  readonly performer: TaskPerformer
  /** Works on comparison runs, if there are any. */
  readonly runner?: Runner
  /** The identity of this process, under which tasks are claimed. */
  readonly borrower: Pick<Borrower, 'id' | 'onLost'>
  readonly concurrency: number
  /** Delivers the webhooks that are due. */
  readonly deliverWebhooks: () => Promise<void>
  /** Periodic maintenance. */
  readonly sweep: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** Jobs wake the dispatcher. This poll finds tasks whose job was lost, and tasks that waited for a limit. */
const LOOK_MS = 1_000
const PROGRESS_MS = 1_000
const STANDING_MS = 5_000
/** Short, because a run whose cancellation message was lost keeps spending money until the next check. */
const RUNS_MS = 2_000
const WEBHOOKS_MS = 15_000
const SWEEP_MS = 300_000

export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { queue, performer, runner, borrower, logger } = options
  const dispatcher = new Dispatcher(options)
  const unsubscribe = queue.onCancelled((taskId) => dispatcher.stopTask(taskId, 'cancelled'))
  borrower.onLost(() => {
    for (const task of dispatcher.running) task.stop('lost')
  })
  const jobs = await runJobs({
    connectionString: options.connectionString,
    logger,
    handlers: {
      task: () => dispatcher.wake(),
      webhook: () => options.deliverWebhooks(),
      cancel: async (payload) => {
        if (!isRecord(payload) || typeof payload['taskId'] !== 'string') return
        const task = await queue.readCancelled(payload['taskId'])
        if (task !== null) await performer.cancelJob(task)
      },
      compare: () => runner?.wake(),
    },
  })
  const wakeAll = () => {
    dispatcher.wake()
    runner?.wake()
  }
  const stopTicking = [
    tick(LOOK_MS, async () => wakeAll(), logger),
    tick(PROGRESS_MS, () => writeProgress(dispatcher, queue), logger),
    tick(STANDING_MS, () => stopLost(dispatcher, queue), logger),
    tick(STANDING_MS, () => chargeLeft(options), logger),
    ...(runner ? [tick(RUNS_MS, () => runner.look(), logger)] : []),
    tick(WEBHOOKS_MS, () => options.deliverWebhooks(), logger),
    tick(SWEEP_MS, () => options.sweep(), logger),
  ]
  wakeAll()

  return {
    isRunning: () => jobs.isRunning(),
    close: async ({ graceMs }) => {
      for (const stop of stopTicking) stop()
      await jobs.stop()
      await Promise.all([dispatcher.stopClaiming(graceMs), runner?.close({ graceMs })])
      const left = dispatcher.running
      for (const task of left) task.stop('stopping')
      unsubscribe()
      if (left.length === 0) return
      await queue
        .handBack(left.map(({ claim }) => claim))
        .catch((error: unknown) =>
          logger.warn({ reason: messageOf(error) }, 'tasks could not be handed back'),
        )
    },
  }
}

async function writeProgress(dispatcher: Dispatcher, queue: TaskQueue): Promise<void> {
  const reports = dispatcher.running.flatMap((task) => {
    const progress = task.takeProgress()
    return progress === null ? [] : [{ claim: task.claim, progress }]
  })
  if (reports.length > 0) await queue.writeProgress(reports)
}

/** Stops tasks whose claim another worker has taken over, and tasks whose cancellation message was lost. */
async function stopLost(dispatcher: Dispatcher, queue: TaskQueue): Promise<void> {
  const running = dispatcher.running
  if (running.length === 0) return
  const standing = await queue.findStanding(running.map(({ claim }) => claim))
  for (const task of running) {
    const { id } = task.claim.task
    if (standing.has(id)) continue
    task.stop((await queue.readCancelled(id)) === null ? 'lost' : 'cancelled')
  }
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

/** Repeats the work with a pause after each run. Returns a function that stops it. */
function tick(intervalMs: number, work: () => Promise<void>, logger: Logger): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout
  const schedule = () => {
    if (!isStopped) timer = setTimeout(run, intervalMs).unref()
  }
  const run = () => {
    work()
      .catch((error: unknown) =>
        logger.warn({ reason: messageOf(error) }, 'a worker could not look after its tasks'),
      )
      .finally(schedule)
  }
  schedule()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
