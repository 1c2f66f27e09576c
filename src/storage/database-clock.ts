import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Queryable } from './database.ts'

/**
 * The database's time without a round trip. What is stored is compared with `now()` by all processes, so a machine
 * whose clock is wrong must not write or judge by its own.
 */
export interface DatabaseClock extends Clock {
  close(): void
}

export interface DatabaseClockOptions {
  readonly database: Queryable
  /** Of this machine. */
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs?: number
}

const INTERVAL_MS = 5_000
/** Beyond it somebody should look at the machine's clock. */
const DIFFERENCE_MS_MAX = 60_000

const READ_TIME = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms'

/** Reads the database's clock once before it returns, and again every few seconds. */
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
    // The time was read at some moment between the two: an offset that fits is left alone.
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
      // Time goes on as it did; that the database is away is told by others.
      .catch(() => {})
      .finally(() => {
        isReading = false
      })
  }, intervalMs).unref()

  return { nowMs, monotonicMs: () => clock.monotonicMs(), close: () => clearInterval(timer) }
}
