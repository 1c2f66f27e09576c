import type { Logger } from '../../../kernel/logger.ts'
import type { Borrower } from '../../../storage/borrowing/borrower.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { claimRun, findStandingRuns, handBackStrays } from './claim-run.ts'
import { createLiveSender } from '../live/live-sender.ts'
import { RunExecution, type ExecutionOptions } from './run-execution.ts'

/** Claims runs for this process and works on them. */
export interface Runner {
  /** Looks for waiting runs. */
  wake(): void
  /** Stops runs that were cancelled or taken over, and returns claimed runs that this process does not work on. */
  look(): Promise<void>
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

export function createRunner(options: RunnerOptions): Runner {
  const { database, borrower, messageBus, logger } = options
  const live = createLiveSender(options)
  const running = new Map<RunExecution, Promise<void>>()
  let claiming: Promise<void> | null = null
  let isWanted = false
  let isClosing = false
  borrower.onLost(() => {
    for (const execution of running.keys()) execution.stop('lost')
  })
  const unsubscribe = messageBus.subscribe(CANCELLED_TOPIC, (runId) => {
    for (const execution of running.keys())
      if (execution.claimed.run.id === runId) execution.stop('cancelled')
    if (isWanted) wake()
  })

  // Cancelled runs only wait for vendors, and must not keep others from being claimed.
  const isFull = (): boolean =>
    running
      .keys()
      .filter(({ isLeaving }) => !isLeaving)
      .toArray().length >= RUNS_AT_ONCE

  const wake = (): void => {
    isWanted = true
    if (claiming !== null || isClosing || isFull()) return
    claiming = claim().finally(() => {
      claiming = null
      if (isWanted && !isFull() && !isClosing) wake()
    })
  }

  const claim = async (): Promise<void> => {
    isWanted = false
    try {
      const claimed = await claimRun(database, borrower.id)
      if (claimed === null) return
      start(new RunExecution(claimed, { ...options, live }))
      // There may be more runs.
      isWanted = true
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'runs could not be claimed')
    }
  }

  const start = (execution: RunExecution): void => {
    const performing = execution.perform().finally(() => {
      running.delete(execution)
      if (isWanted) wake()
    })
    running.set(execution, performing)
  }

  return {
    wake,
    look: async () => {
      const executions = [...running.keys()]
      const runIds = executions.map(({ claimed }) => claimed.run.id)
      await handBackStrays(database, borrower.id, runIds)
      if (executions.length === 0) return
      const standing = await findStandingRuns(
        database,
        executions.map(({ claimed }) => claimed.claim),
      )
      for (const execution of executions)
        if (!standing.has(execution.claimed.run.id)) execution.stop('cancelled')
    },
    close: async ({ graceMs }) => {
      isClosing = true
      unsubscribe()
      await claiming
      for (const execution of running.keys()) execution.stop('stopping')
      const { promise: isOver, resolve: onOver } = Promise.withResolvers<void>()
      const timer = setTimeout(() => {
        for (const execution of running.keys()) execution.cut()
        onOver()
      }, graceMs)
      const staying = running.entries().filter(([{ isLeaving }]) => !isLeaving)
      await Promise.all(staying.map(([, performing]) => performing))
      // What cancelled runs still read ends with the drains of this process.
      await Promise.race([Promise.all(running.values()), isOver])
      clearTimeout(timer)
      live.close()
    },
  }
}
