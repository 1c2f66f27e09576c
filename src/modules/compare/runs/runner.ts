import type { Logger } from '../../../kernel/logger.ts'
import type { Borrower } from '../../../storage/borrowing/borrower.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import { LeasedWork } from '../../../storage/leased-work/leased-work.ts'
import { repeat } from '../../../storage/leased-work/repeat.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { claimRun, findStandingRuns, handBackStrays } from './claim-run.ts'
import { createLiveSender } from '../live/live-sender.ts'
import type { ExecutionOptions } from './execution-options.ts'
import { RunExecution } from './run-execution.ts'

/** Claims runs for this process and works on them. */
export interface Runner {
  /** Starts to look for waiting runs regularly. */
  start(): void
  /** Looks for waiting runs now. */
  wake(): void
  /** Running cells may finish within the grace period. The runs continue in another process. */
  close(options: { graceMs: number }): Promise<void>
}

export interface RunnerOptions extends Omit<ExecutionOptions, 'live'> {
  readonly borrower: Pick<Borrower, 'id' | 'onLost'>
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish'>
  readonly logger: Logger
}

/** Announces a cancelled run to all processes. */
export const CANCELLED_TOPIC = 'compare.cancelled'
/** Runs of one process. Most of them wait for models or for the rates of their account, and an account has two at most. */
const RUNS_AT_ONCE = 32
const POLL_MS = 1_000
/** Short, because a run whose cancellation message was lost keeps spending money until the next check. */
const STANDING_MS = 2_000

export function createRunner(options: RunnerOptions): Runner {
  const { database, borrower, messageBus, logger } = options
  const live = createLiveSender(options)
  const runs = new LeasedWork<RunExecution>({
    name: 'runs',
    claim: async () => {
      const claimed = await claimRun(database, borrower.id)
      return claimed === null ? [] : [new RunExecution(claimed, { ...options, live })]
    },
    concurrency: RUNS_AT_ONCE,
    claimedAtOnceMax: 1,
    pollMs: POLL_MS,
    renewal: {
      everyMs: STANDING_MS,
      findLost: async (executions) => {
        const claims = executions.map(({ claimed }) => claimed.claim)
        const standing = await findStandingRuns(database, claims)
        return executions.filter(({ claimed }) => !standing.has(claimed.run.id))
      },
    },
    borrower,
    logger,
  })
  const unsubscribe = messageBus.subscribe(CANCELLED_TOPIC, (runId) => {
    const cancelled = runs.items.filter(({ claimed }) => claimed.run.id === runId)
    for (const execution of cancelled) execution.stop('cancelled')
    // A cancelled run takes no room.
    if (cancelled.length > 0) runs.wake()
  })
  let stopReturning = async (): Promise<void> => {}

  return {
    wake: () => runs.wake(),
    start: () => {
      runs.start()
      stopReturning = repeat({
        pauseMs: STANDING_MS,
        work: () =>
          handBackStrays(
            database,
            borrower.id,
            runs.items.map(({ claimed }) => claimed.run.id),
          ),
        onFailure: (error) =>
          logger.warn({ reason: messageOf(error) }, 'runs that nobody works on could not be handed back'),
      })
    },
    close: async ({ graceMs }) => {
      void stopReturning()
      unsubscribe()
      await runs.close({ graceMs })
      live.close()
    },
  }
}
