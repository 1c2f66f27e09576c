import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Database } from '../../storage/database.ts'
import { repeat } from '../../storage/leased-work/repeat.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { dropLeaves } from './drop-leaves.ts'
import { makeDueReceipts } from './make-due-receipts.ts'

const PAUSE_MS = 600_000
/** A gateway that has just started has other things to do. */
const FIRST_MS = 60_000
/** Rests as long as it worked, so that it takes half of a core at most. */
const REST_MS_MAX = 1_000
/** Advisory lock of the process that makes receipts. */
const LOCK_ID = 7_275_929_047

export interface KeepReceiptsOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly clock: Clock
  readonly logger: Logger
  /** Since when requests are kept. */
  readonly keptSinceMs: (nowMs: number) => number
}

class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Makes receipts in the background, in one process at a time. Returns how to stop it. */
export function keepReceipts(options: KeepReceiptsOptions): () => Promise<void> {
  const { database, clock, logger } = options
  const closing = new AbortController()
  const make = async (): Promise<void> => {
    const lock = await database.keepConnection()
    let isHeld = false
    try {
      const [row] = await lock.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [LOCK_ID])
      isHeld = row?.held === true
      if (!isHeld) return
      const rest = async (workedMs: number): Promise<void> => {
        if (closing.signal.aborted || lock.isLost) throw new Stopped()
        await delay(Math.min(workedMs, REST_MS_MAX), undefined, { signal: closing.signal, ref: false })
      }
      const nowMs = clock.nowMs()
      const made = await makeDueReceipts({ ...options, nowMs, rest })
      await dropLeaves(database, options.keptSinceMs(nowMs), rest)
      if (made > 0) logger.info({ receipts: made }, 'receipts were made')
      await lock.query('SELECT pg_advisory_unlock($1)', [LOCK_ID])
      isHeld = false
    } finally {
      // A connection that still has the lock is closed, which ends it.
      lock.release(isHeld)
    }
  }
  const stop = repeat({
    pauseMs: PAUSE_MS,
    firstMs: FIRST_MS,
    work: make,
    onFailure: (error) => {
      if (!closing.signal.aborted)
        logger.warn({ reason: messageOf(error) }, 'receipts could not be made yet; trying again')
    },
  })
  return async () => {
    closing.abort()
    await stop()
  }
}
