import { setTimeout as delay } from 'node:timers/promises'
import { Logger as JobLogger, run, type Runner } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from '../kernel/logger.ts'
import { JOB_SCHEMA, openJobPool, type JobName } from '../storage/job-queue.ts'
import { messageOf } from '../storage/storage-error.ts'

type JobHandler = (payload: unknown) => void | Promise<void>

interface RunJobsOptions {
  readonly connectionString: string
  readonly handlers: Readonly<Record<JobName, JobHandler>>
  readonly logger: Logger
}

export interface JobRun {
  isRunning(): boolean
  stop(): Promise<void>
}

/** Jobs are cheap to handle: two connections fetch and complete them in batches, and one listens. */
const CONNECTIONS_MAX = 3
const TICKETS_AT_ONCE = 16
const TICKETS_FETCHED_MAX = 64
/** Poll interval for jobs whose notification was lost, and for jobs that are scheduled for later. */
const POLL_MS = 1_000
const RESTART_PAUSE_MS = 500
const RESTART_PAUSE_MS_MAX = 5_000
const STOP_MS_MAX = 5_000

/** Passes jobs to their handlers until it is stopped. Survives restarts of the database. */
export async function runJobs(options: RunJobsOptions): Promise<JobRun> {
  const { logger } = options
  const pool = openJobPool(options.connectionString, CONNECTIONS_MAX)
  const stopping = new AbortController()
  let runner: Runner | null = await start(pool, options)

  const keepRunning = async (): Promise<void> => {
    for (let pauseMs = RESTART_PAUSE_MS; !stopping.signal.aborted;) {
      try {
        runner ??= await start(pool, options)
        pauseMs = RESTART_PAUSE_MS
        await runner.promise
      } catch (error) {
        logger.warn({ reason: messageOf(error) }, 'the job queue stopped and is started again')
      }
      runner = null
      if (stopping.signal.aborted) return
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS_MAX)
    }
  }
  const running = keepRunning()

  return {
    isRunning: () => runner !== null,
    stop: async () => {
      stopping.abort()
      const stopped = Promise.resolve(runner?.stop())
        .catch(() => {})
        .then(() => running)
        .then(() => pool.end())
      // A slow webhook delivery is repeated by another process.
      await Promise.race([stopped, delay(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}

function start(pool: Pool, { handlers, logger }: RunJobsOptions): Promise<Runner> {
  const safely =
    (handler: JobHandler): JobHandler =>
    async (payload) => {
      try {
        await handler(payload)
      } catch (error) {
        // Do not retry the job: its work is still in the tables, and the next poll finds it.
        logger.warn({ reason: messageOf(error) }, 'a ticket could not be handled')
      }
    }
  return run({
    pgPool: pool,
    noHandleSignals: true,
    taskList: {
      task: safely(handlers.task),
      webhook: safely(handlers.webhook),
      cancel: safely(handlers.cancel),
      compare: safely(handlers.compare),
    },
    preset: {
      worker: {
        schema: JOB_SCHEMA,
        concurrentJobs: TICKETS_AT_ONCE,
        pollInterval: POLL_MS,
        localQueue: { size: TICKETS_FETCHED_MAX },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger: toJobLogger(logger),
      },
    },
  })
}

/** Logs only the library's warnings and errors, not its messages about each job. */
function toJobLogger(logger: Logger): JobLogger {
  return new JobLogger(() => (level, message, meta) => {
    // Ignore the warning that the pool is smaller than the concurrency: our handlers do not use its connections.
    if (meta?.['max'] === CONNECTIONS_MAX && meta['concurrency'] === TICKETS_AT_ONCE) return
    if (level === 'error' || level === 'warning')
      logger.warn({ reason: message }, 'the job queue has trouble')
  })
}
