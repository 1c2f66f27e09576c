import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { HoldClosed, listExpiredHolds, releaseHold } from './stored-hold.ts'
import { expireLots } from './move-credit.ts'

const SWEEP_MS = 15_000

/** Periodically releases expired holds and writes off expired credit. Any process does it for all. */
export function sweepLedger({ database, logger }: { database: Database; logger: Logger }): () => void {
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  const schedule = () => {
    if (isStopped) return
    // Random, so that processes that started together do not sweep together.
    timer = setTimeout(run, SWEEP_MS * (0.5 + Math.random())).unref()
  }
  const run = () => {
    sweepOnce(database)
      .catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'the ledger could not be swept'))
      .finally(schedule)
  }
  schedule()
  return () => {
    isStopped = true
    if (timer) clearTimeout(timer)
  }
}

export async function sweepOnce(database: Database): Promise<void> {
  for (const key of await listExpiredHolds(database)) {
    await database.transaction((transaction) => releaseHold(transaction, key).catch(ignoreClosed))
  }
  for (let isMore = true; isMore;) {
    isMore = (await database.transaction(expireLots)).isMore
  }
}

// Its owner closed it just before: nothing is left to do.
function ignoreClosed(error: unknown): void {
  if (!(error instanceof HoldClosed)) throw error
}
