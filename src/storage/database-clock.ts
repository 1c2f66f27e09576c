import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Queryable } from './database.ts'

/**
 * The database's time without a round trip. All processes compare stored times with `now()`, so they must not use the clock of
 * their own machine, which may be wrong.
 */
export interface DatabaseClock extends Clock {
  close(): void
}

export interface DatabaseClockOptions {
  readonly database: Queryable
  /** The clock of this machine. */
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs?: number
}

const INTERVAL_MS = 5_000
/** Difference above which a warning is logged. */
const DIFFERENCE_MS_MAX = 60_000

const READ_TIME = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms'

/** Creates the clock. Reads the database's time once before it returns, and then every few seconds. */
export async function createDatabaseClock(options: DatabaseClockOptions): Promise<DatabaseClock> {
  const { database, clock, logger, intervalMs = INTERVAL_MS } = options
  let offsetMs = clock.nowMs() - clock.monotonicMs()
  let isFarOff = false

  const nowMs = (): number => Math.floor(clock.monotonicMs() + offsetMs)

  const noteDifference = (): void => {
    const differenceMs = clock.nowMs() - nowMs()
    if (Math.abs(differenceMs) > DIFFERENCE_MS_MAX === isFarOff) return
    isFarOff = !isFarOff
    if (isFarOff)
      logger.warn(
        { differenceMs },
        'the clocks of this machine and of the database differ: what is stored goes by the database',
      )
  }

  const read = async (): Promise<void> => {
    const sentMs = clock.monotonicMs()
    const [row] = await database.query<{ now_ms: number }>(READ_TIME)
    const receivedMs = clock.monotonicMs()
    if (row === undefined) throw new Error('the database did not tell the time')
    // The server read its time between request and answer. Keep the offset if it is consistent with that.
    const leastMs = row.now_ms - receivedMs
    const mostMs = row.now_ms - sentMs
    if (offsetMs < leastMs || offsetMs > mostMs) offsetMs = (leastMs + mostMs) / 2
    noteDifference()
  }

  await read()
  let isReading = false
  const timer = setInterval(() => {
    if (isReading) return
    isReading = true
    read()
      // Keep the last offset. Other components report that the database is unavailable.
      .catch(() => {})
      .finally(() => {
        isReading = false
      })
  }, intervalMs).unref()

  return { nowMs, monotonicMs: () => clock.monotonicMs(), close: () => clearInterval(timer) }
}
