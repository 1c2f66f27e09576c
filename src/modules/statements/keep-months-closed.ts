import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { closeMonths, type QueueStatementWebhook } from './close-months.ts'
import type { StatementOperator } from './statement.ts'

/** What there is to do is found by two rows. */
const INTERVAL_MS = 10_000
/** A gateway that has just started has other things to do. */
const FIRST_MS = 2_000

interface KeepOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly operator: StatementOperator
  readonly queueWebhook: QueueStatementWebhook
}

/** Closes months in the background, in every process. Returns how to stop it. */
export function keepMonthsClosed(options: KeepOptions): () => Promise<void> {
  const { clock, logger } = options
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  const schedule = (delayMs: number): void => {
    if (isStopped) return
    // Random, so that processes that started together do not do this together.
    timer = setTimeout(run, delayMs * (0.5 + Math.random())).unref()
  }
  const close = async (): Promise<void> => {
    const made = await closeMonths({ ...options, nowMs: clock.nowMs(), isStopped: () => isStopped })
    if (made > 0) logger.info({ statements: made }, 'months were closed')
  }
  const run = (): void => {
    running = close()
      .catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'a month could not be closed yet'))
      .finally(() => schedule(INTERVAL_MS))
  }
  schedule(FIRST_MS)
  return async () => {
    isStopped = true
    if (timer) clearTimeout(timer)
    await running
  }
}
