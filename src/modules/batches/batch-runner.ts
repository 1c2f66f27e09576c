import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import { LeasedWork } from '../../storage/leased-work/leased-work.ts'
import { repeat } from '../../storage/leased-work/repeat.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { CHANGED_TOPIC } from './batch.ts'
import { HandedRoom } from './handed/handed-room.ts'
import { BatchExecution } from './batch-execution.ts'
import type { ExecutionOptions } from './execution-options.ts'
import { claimBatch, handBackStrays, isAccountWaiting, readStanding } from './claim-batch.ts'
import type { InteractiveLoad } from './pace/interactive-load.ts'
import { LinePace } from './pace/line-pace.ts'
import { pickToLeave } from './share-places.ts'

/** Claims batches for this process and works on them. */
export interface BatchRunner {
  /** Starts to look for waiting batches regularly. */
  start(): void
  /** Looks for waiting batches now. */
  wake(): void
  /** Running lines may end within the grace period. The batches go on in another process. */
  close(options: { graceMs: number }): Promise<void>
}

interface BatchRunnerOptions extends Omit<ExecutionOptions, 'pace'> {
  /** For which batches make way. */
  readonly interactiveLoad: InteractiveLoad
  readonly borrower: Pick<Borrower, 'id' | 'onLost'>
  readonly messageBus: Pick<MessageBus, 'subscribe'>
}

/** Batches of one process. Most of them wait for models, or for the rates of their keys. */
const BATCHES_AT_ONCE = 16
const POLL_MS = 1_000
const STANDING_MS = 2_000

export function createBatchRunner(options: BatchRunnerOptions): BatchRunner {
  const { database, borrower, messageBus, logger } = options
  const room = new HandedRoom()
  const pace = new LinePace(options.interactiveLoad)
  const batches = new LeasedWork<BatchExecution>({
    name: 'batches',
    claim: async () => {
      const claimed = await claimBatch(database, borrower.id)
      return claimed === null ? [] : [new BatchExecution(claimed, { ...options, pace }, room)]
    },
    concurrency: BATCHES_AT_ONCE,
    claimedAtOnceMax: 1,
    pollMs: POLL_MS,
    renewal: {
      everyMs: STANDING_MS,
      findLost: async (executions) => {
        const standing = await readStanding(
          database,
          executions.map(({ claimed }) => claimed.claim),
        )
        for (const execution of executions)
          if (standing.get(execution.claimed.batch.id) === 'cancelling') execution.cancel()
        return executions.filter(({ claimed }) => !standing.has(claimed.batch.id))
      },
    },
    borrower,
    logger,
  })
  const unsubscribe = messageBus.subscribe(CHANGED_TOPIC, (message) => {
    const [batchId, change] = message.split(' ')
    if (change === 'cancelled')
      for (const execution of batches.items) if (execution.claimed.batch.id === batchId) execution.cancel()
    batches.wake()
  })
  let stopReturning = async (): Promise<void> => {}

  return {
    wake: () => batches.wake(),
    start: () => {
      batches.start()
      stopReturning = repeat({
        pauseMs: STANDING_MS,
        work: async () => {
          await handBackStrays(
            database,
            borrower.id,
            batches.items.map(({ claimed }) => claimed.batch.id),
          )
          if (batches.items.length >= BATCHES_AT_ONCE && (await isAccountWaiting(database)))
            pickToLeave(batches.items, performance.now())?.windDown()
        },
        onFailure: (error) => logger.warn({ reason: messageOf(error) }, 'batches could not be handed back'),
      })
    },
    close: async ({ graceMs }) => {
      void stopReturning()
      unsubscribe()
      await batches.close({ graceMs })
    },
  }
}
